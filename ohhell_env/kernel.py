"""The rules in force: shuffle, deal, legal, apply, score, next hand. Each rule stands here once, compiled.

Every function takes a `GAME` record and its `TABLE` record and changes the game in place. Nothing here checks its
arguments: callers ask `is_legal` first. The rules are those of seed 000; `Rules` says which seed an option is from.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ohhell_env.cards import NUM_CARDS, NUM_RANKS
from ohhell_env.jit import ONE, Int, below, jit, next_state, nth_bit, popcount, seed_of, store_4, store_64, stream_of
from ohhell_env.limits import MAX_PLAYERS, NUM_BIDS
from ohhell_env.state import BID, HAND_OVER, MATCH_OVER, NO_TRUMP, NONE, PLAY

# Actions: 0..51 play that card, 52 + b bid b.
FIRST_BID = NUM_CARDS
NUM_ACTIONS = NUM_CARDS + NUM_BIDS

# What a reward is: the hand's points, the points less the table's mean, or the share of the match's win.
POINTS, ZERO_SUM, WIN = range(3)
REWARDS = {"points": POINTS, "zero_sum": ZERO_SUM, "win": WIN}

DEALS, PLAYOUTS = range(2)  # numbers of a game's random streams

SUIT = (ONE << NUM_RANKS) - 1  # the clubs' bits; suit s is SUIT << (13 * s)

Game = Any  # a record of state.GAME
Table = Any  # a record of state.TABLE


@jit
def suit_mask(suit: Int) -> Int:
    """Bit mask of a suit's thirteen cards."""
    return SUIT << (NUM_RANKS * np.int64(suit))


@jit
def left_of(seat: Int, players: Int) -> Int:
    """The next seat clockwise."""
    return seat + 1 if seat + 1 < players else 0


@jit
def start_match(game: Game, table: Table, decks: Any, seed: Int, dealer: Int) -> None:
    """A new match from a seed: no scores, ``dealer`` deals the first hand."""
    game["seed"] = seed
    game["stream"] = stream_of(seed, DEALS)
    game["hand"] = 0
    game["dealer"] = dealer
    for seat in range(MAX_PLAYERS):
        game["scores"][seat] = 0.0
    shuffle(game, table, decks)
    deal(game, table)


@jit
def start_next_match(game: Game, table: Table, decks: Any) -> None:
    """A new match whose seed comes from the stream of the one before."""
    stream = next_state(game["stream"])
    start_match(game, table, decks, seed_of(stream), table["first_dealer"])


@jit
def shuffle(game: Game, table: Table, decks: Any) -> None:
    """Put the cards that this hand needs in their order: by chance, or as ``decks[hand]`` gives them.

    The stream moves on by the same number of draws either way, so later hands do not depend on what was given.
    """
    deck = game["deck"]
    size = table["deck_size"]
    for k in range(size):
        deck[k] = table["deck"][k]
    stream = game["stream"]
    needed = table["hand_sizes"][game["hand"]] * table["players"] + 1  # the deal and the card turned up
    for k in range(min(needed, size - 1)):
        stream = next_state(stream)
        j = k + below(stream, size - k)
        card = deck[j]
        deck[j] = deck[k]
        deck[k] = card
    game["stream"] = stream
    if game["hand"] < decks.shape[0]:
        for k in range(size):
            deck[k] = decks[game["hand"], k]


@jit
def deal(game: Game, table: Table) -> None:
    """Deal the deck as it lies, one card at a time from left of the dealer, and turn the next card up."""
    players = table["players"]
    size = table["hand_sizes"][game["hand"]]
    for seat in range(MAX_PLAYERS):
        game["hands"][seat] = 0
        game["played"][seat] = 0
        game["bids"][seat] = NONE
        game["taken"][seat] = 0
        game["voids"][seat] = 0
    for k in range(NUM_CARDS):
        game["plays"][k] = NONE
    dealt = size * players
    receiver = game["dealer"]
    for k in range(dealt):
        receiver = left_of(receiver, players)
        game["hands"][receiver] |= ONE << game["deck"][k]
    game["turned"] = NONE
    game["trump"] = NO_TRUMP
    if table["turn_up"] and dealt < table["deck_size"]:
        game["turned"] = game["deck"][dealt]
        game["trump"] = game["turned"] // NUM_RANKS
    game["hand_size"] = size
    game["num_plays"] = 0
    clear_trick(game)
    game["leader"] = left_of(game["dealer"], players)
    game["player"] = game["leader"]
    game["phase"] = BID
    game["legal"] = legal_bids(game, table)


@jit
def clear_trick(game: Game) -> None:
    """Nothing led yet."""
    game["in_trick"] = 0
    game["led_suit"] = NONE
    game["winning"] = NONE
    game["best"] = NONE


@jit
def forbidden_bid(game: Game, table: Table) -> Int:
    """The hook: the bid that would make the sum fit, for the dealer bidding last; NONE where there is none."""
    if game["phase"] != BID or not table["hook"] or game["player"] != game["dealer"]:
        return NONE
    rest = np.int64(game["hand_size"])
    for seat in range(table["players"]):
        if seat != game["dealer"]:
            rest -= game["bids"][seat]
    return rest if rest >= 0 else NONE


@jit
def legal_bids(game: Game, table: Table) -> Int:
    """Bit b for each bid b that the seat to act may make."""
    legal = (ONE << (game["hand_size"] + 1)) - 1
    forbidden = forbidden_bid(game, table)
    return legal if forbidden == NONE else legal & ~(ONE << forbidden)


@jit
def legal_cards(game: Game) -> Int:
    """Bit c for each card c that the seat to act may play: follow suit if you can."""
    hand = game["hands"][game["player"]]
    if game["led_suit"] == NONE:
        return hand
    following = hand & suit_mask(game["led_suit"])
    return following if following else hand


@jit
def is_legal(game: Game, action: Int) -> bool:
    """Whether the seat to act may take this action; any whole number may be asked about."""
    option = action - FIRST_BID if game["phase"] == BID else action
    return bool(option >= 0 and option < 63 and (game["legal"] >> option) & 1 == 1)


@jit
def action_of(game: Game, option: Int) -> Int:
    """The action behind a bit of ``game["legal"]``."""
    return option + FIRST_BID if game["phase"] == BID else option


@jit
def apply(game: Game, table: Table, action: Int) -> None:
    """Take a legal action. The last card of a hand scores it and leaves the game in HAND_OVER."""
    if game["phase"] == BID:
        make_bid(game, table, action - FIRST_BID)
    else:
        play_card(game, table, action)


@jit
def make_bid(game: Game, table: Table, bid: Int) -> None:
    """Bid for the seat to act; after the dealer's bid the first lead is due."""
    seat = game["player"]
    game["bids"][seat] = bid
    game["player"] = left_of(seat, table["players"])
    if seat == game["dealer"]:
        game["phase"] = PLAY
        game["legal"] = legal_cards(game)
    else:
        game["legal"] = legal_bids(game, table)


@jit
def beats(card: Int, best: Int, trump: Int) -> bool:
    """Whether a card played later takes the trick from the card that wins it so far."""
    suit, best_suit = card // NUM_RANKS, best // NUM_RANKS
    return bool(((suit == best_suit) & (card > best)) | ((suit != best_suit) & (suit == trump)))


@jit
def play_card(game: Game, table: Table, card: Int) -> None:
    """Play a card for the seat to act; a full trick goes to its winner, who leads the next."""
    seat = game["player"]
    players = table["players"]
    bit = ONE << card
    game["hands"][seat] ^= bit
    game["played"][seat] |= bit
    game["plays"][game["num_plays"]] = card
    game["num_plays"] += 1
    game["in_trick"] += 1
    suit = card // NUM_RANKS
    if game["in_trick"] == 1:
        game["led_suit"] = suit
        game["winning"] = seat
        game["best"] = card
    else:  # random play makes these two unpredictable: selections, not branches
        game["voids"][seat] |= np.int64(suit != game["led_suit"]) << game["led_suit"]
        wins = beats(card, game["best"], game["trump"])
        game["winning"] = seat if wins else game["winning"]
        game["best"] = card if wins else game["best"]
    if game["in_trick"] < players:
        game["player"] = left_of(seat, players)
    else:
        winner = game["winning"]
        game["taken"][winner] += 1
        game["leader"] = winner
        game["player"] = winner
        clear_trick(game)
        if game["num_plays"] == game["hand_size"] * players:
            score_hand(game, table)
            return
    game["legal"] = legal_cards(game)


@jit
def hand_points(game: Game, table: Table, seat: Int) -> Any:
    """Points of a seat for the hand just over."""
    return table["points"][game["hand_size"], game["bids"][seat], game["taken"][seat]]


@jit
def score_hand(game: Game, table: Table) -> None:
    """Add each seat's points for (hand size, bid, taken); the hand is over."""
    for seat in range(table["players"]):
        game["scores"][seat] += hand_points(game, table, seat)
    game["phase"] = HAND_OVER
    game["player"] = NONE
    game["legal"] = 0


@jit
def next_hand(game: Game, table: Table, decks: Any) -> None:
    """After HAND_OVER: the next dealer deals, or the match is over."""
    if game["hand"] + 1 == table["num_hands"]:
        game["phase"] = MATCH_OVER
        return
    game["hand"] += 1
    game["dealer"] = left_of(game["dealer"], table["players"])
    shuffle(game, table, decks)
    deal(game, table)


@jit
def win_share(game: Game, table: Table, seat: Int) -> float:
    """Share of the win for one seat by the totals as they stand: 1/k for each of the k seats on top."""
    on_top = 0
    for other in range(table["players"]):
        if game["scores"][other] > game["scores"][seat]:
            return 0.0
        if game["scores"][other] == game["scores"][seat]:
            on_top += 1
    return 1.0 / on_top


@jit
def write_reward(game: Game, table: Table, kind: Int, reward: Any, row: Int) -> None:
    """Rewards for the hand just over (phase HAND_OVER), of a kind POINTS, ZERO_SUM or WIN: ``reward[row, seat]``."""
    players = table["players"]
    if kind == WIN:
        if game["hand"] + 1 == table["num_hands"]:
            for seat in range(players):
                reward[row, seat] = win_share(game, table, seat)
        return
    mean = 0.0
    if kind == ZERO_SUM:
        for seat in range(players):
            mean += hand_points(game, table, seat)
        mean /= players
    for seat in range(players):
        reward[row, seat] = hand_points(game, table, seat) - mean


@jit
def random_action(game: Game, stream: np.uint64) -> Int:
    """A uniformly random legal action, decided by a state of a random stream."""
    legal = game["legal"]
    return action_of(game, nth_bit(legal, below(stream, popcount(legal))))


@jit
def write_mask(game: Game, mask: Any, row: Int) -> None:
    """``mask[row, action]`` = 1 for each legal action, else 0; all zero when nobody is to act."""
    bidding = game["phase"] == BID
    cards = 0 if bidding else game["legal"]
    bids = game["legal"] if bidding else 0
    store_64(mask, row, 0, cards | (bids << FIRST_BID))
    store_4(mask, row, 64, bids >> 12)
    mask[row, 68] = (bids >> 16) & 1
    mask[row, 69] = (bids >> 17) & 1


def reward_kind(reward: str) -> int:
    """The kernel's number for a kind of reward; `ValueError` naming the known ones otherwise."""
    if reward not in REWARDS:
        raise ValueError(f"reward={reward!r} is not known; use one of {', '.join(map(repr, REWARDS))}")
    return REWARDS[reward]
