"""Sizes that the game's arrays are laid out for; every other file takes them from here.

Tables come in two forms. The standard form has room for the base rules and their nearest relatives, and is the
fast one. The wide form has room for every other table of the sources.
"""

MIN_PLAYERS = 3
MAX_PLAYERS = 7
MAX_HAND_SIZE = 17  # three players, 52 cards
MAX_HANDS = 128  # the longest ramp a table may have, in either form

MAX_BID = MAX_HAND_SIZE
NUM_BIDS = MAX_BID + 1

WIDE_MIN_PLAYERS = 2
WIDE_MAX_PLAYERS = 10
WIDE_MAX_HAND_SIZE = 26  # two players, 52 cards
WIDE_NUM_BIDS = WIDE_MAX_HAND_SIZE + 1
WIDE_NUM_KINDS = 63  # kinds of card: one bit each of a non-negative int64
WIDE_NUM_CARDS = 104  # cards of a deck, each kind at most twice
