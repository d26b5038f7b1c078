"""Sizes that the game's arrays are laid out for; every other file takes them from here."""

MIN_PLAYERS = 3
MAX_PLAYERS = 7
MAX_HAND_SIZE = 17  # three players, 52 cards
MAX_HANDS = 128  # the longest ramp a table may have

MAX_BID = MAX_HAND_SIZE
NUM_BIDS = MAX_BID + 1
