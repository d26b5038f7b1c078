"""The rules in force: shuffle, deal, legal, apply, score, next hand. Each rule is here once, compiled.

Every function takes a `GAME` record and its `TABLE` record and changes the game in place. Nothing here checks its
arguments: callers ask `is_legal` first. These are the base rules; where tables of the wide form differ,
`by_form` puts functions of `wide_bidding` and `wide_play` in place of those of `standard`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ohhell_env.kernel import standard, wide_bidding, wide_play
from ohhell_env.kernel.jit import (
    ONE,
    Int,
    below,
    by_form,
    jit,
    left_of,
    lowest,
    next_state,
    nth_bit,
    popcount,
    seed_of,
    stream_of,
)
from ohhell_env.kernel.state import BID, HAND_OVER, MATCH_OVER, NO_TRUMP, NONE, PLAY, STANDARD_FORM

# Actions of the standard form: 0..51 play that card, 52 + b bid b. Those of the wide form: see `state.WIDE_FORM`.
FIRST_BID = STANDARD_FORM.first_bid
NUM_ACTIONS = STANDARD_FORM.num_actions

# What a reward is: the hand's points, the points minus the table's mean, or the share of the match's win. All three are
# better when higher: where the lowest total wins, points count negative.
POINTS, ZERO_SUM, WIN = range(3)
REWARDS = {"points": POINTS, "zero_sum": ZERO_SUM, "win": WIN}

SUCCESS = 10.0  # what a cooperative hand is worth to every seat when all bids are made: as much as in binary scoring

# Numbers of the random streams of a match's seed: of its deals, of random play, and for the seed of the next match.
DEALS, ROLLOUTS = range(2)
NEXT_MATCH = 2**62 + 1

Game = Any  # a record of state.GAME or WIDE_GAME
Table = Any  # a record of state.TABLE or WIDE_TABLE


# --- What depends on the form of the game's record ------------------------------------------------------------------

seats = by_form(standard.seats, wide_bidding.seats)
cards = by_form(standard.cards, wide_bidding.cards)
suit_of = by_form(standard.suit_of, wide_bidding.suit_of)
suit_cards = by_form(standard.suit_cards, wide_bidding.suit_cards)
takes = by_form(standard.takes, wide_bidding.beats)
receive = by_form(standard.receive, wide_bidding.receive)
clear_copies = by_form(standard.clear_copies, wide_bidding.clear_copies)
sort_hands = by_form(standard.sort_hands, wide_bidding.sort_hands)
part_with = by_form(standard.part_with, wide_bidding.part_with)
start_ramp = by_form(standard.start_ramp, wide_bidding.start_ramp)
choose_hand = by_form(standard.choose_hand, wide_bidding.choose_hand)
open_hand = by_form(standard.open_hand, wide_bidding.open_hand)
is_last_bidder = by_form(standard.is_last_bidder, wide_bidding.is_last_bidder)
bids_open = by_form(standard.bids_open, wide_bidding.bids_open)
note_call = by_form(standard.note_call, wide_bidding.note_call)
next_to_bid = by_form(standard.next_to_bid, wide_bidding.next_to_bid)
other_options = by_form(standard.other_options, wide_bidding.other_options)
first_action = by_form(standard.first_action, wide_bidding.first_action)
note_first_action = by_form(standard.note_first_action, wide_bidding.note_first_action)
leads = by_form(standard.leads, wide_play.leads)
follows = by_form(standard.follows, wide_play.follows)
options_of = by_form(standard.options_of, wide_play.options_of)
card_behind = by_form(standard.card_behind, wide_play.card_behind)
is_incomplete = by_form(standard.is_incomplete, wide_play.is_incomplete)
award_trick = by_form(standard.award_trick, wide_play.award_trick)
bid_points = by_form(standard.bid_points, wide_play.bid_points)
hand_points = by_form(standard.hand_points, wide_play.hand_points)
is_last_hand = by_form(standard.is_last_hand, wide_play.is_last_hand)
move_on = by_form(standard.move_on, wide_play.move_on)
is_lost = by_form(standard.is_lost, wide_play.is_lost)
is_cooperative = by_form(standard.is_cooperative, wide_play.is_cooperative)
seen_hand = by_form(standard.seen_hand, wide_play.seen_hand)
seen_twice = by_form(standard.seen_twice, wide_play.seen_twice)
unseen_copies = by_form(standard.unseen_copies, wide_play.unseen_copies)
own_bid_value = by_form(standard.bid_value, wide_play.bid_value)


# --- A match -------------------------------------------------------------------------------------------------------


@jit
def start_match(game: Game, table: Table, decks: Any, seed: Int, dealer: Int) -> None:
    """A new match from a seed: no scores, ``dealer`` deals the first hand; NONE: drawn, as by cutting."""
    game["seed"] = seed
    game["stream"] = stream_of(seed, DEALS)
    if table["first_dealer"] == NONE:  # drawn even where it is given, so that the deals do not depend on it
        game["stream"] = next_state(game["stream"])
        dealer = below(game["stream"], table["players"]) if dealer == NONE else dealer
    game["hand"] = 0
    game["dealer"] = dealer
    for seat in range(seats(game)):
        game["scores"][seat] = 0.0
        game["made"][seat] = 0
        game["missed"][seat] = 0
        game["over"][seat] = 0
        game["under"][seat] = 0
    start_ramp(game, table)
    start_hand(game, table, decks)


@jit
def start_next_match(game: Game, table: Table, decks: Any) -> None:
    """The match after this one, however far this one got: see `next_seed`."""
    start_match(game, table, decks, next_seed(game["seed"]), table["first_dealer"])


@jit
def next_seed(seed: Int) -> Int:
    """The seed of the match after that of a seed. It depends on the seed alone, so match m of a seed is always one."""
    return seed_of(stream_of(seed, NEXT_MATCH))


@jit
def start_hand(game: Game, table: Table, decks: Any) -> None:
    """Shuffle and deal the next hand."""
    choose_hand(game, table)
    shuffle(game, table, decks)
    deal(game, table)


@jit
def shuffle(game: Game, table: Table, decks: Any) -> None:
    """Put the cards that this hand needs in their order: by chance, or as ``decks[hand]`` gives them (NONE: not).

    The stream moves on by the same number of draws either way, so later hands do not depend on what was given.
    """
    deck = game["deck"]
    size = table["deck_size"]
    for k in range(size):
        deck[k] = table["deck"][k]
    stream = game["stream"]
    needed = game["hand_size"] * table["players"] + 1  # the deal and the card turned up
    for k in range(min(needed, size - 1)):
        stream = next_state(stream)
        j = k + below(stream, size - k)
        card = deck[j]
        deck[j] = deck[k]
        deck[k] = card
    game["stream"] = stream
    if game["hand"] < decks.shape[0] and decks[game["hand"], 0] != NONE:
        for k in range(size):
            deck[k] = decks[game["hand"], k]


@jit
def deal(game: Game, table: Table) -> None:
    """Deal the deck as it lies, one card at a time from left of the dealer, and turn the next card up."""
    players = table["players"]
    for seat in range(seats(game)):
        game["hands"][seat] = 0
        game["played"][seat] = 0
        game["bids"][seat] = NONE
        game["taken"][seat] = 0
        game["voids"][seat] = 0
        clear_copies(game, seat)
    for k in range(cards(game)):
        game["plays"][k] = NONE
    receiver = game["dealer"]
    for k in range(game["hand_size"] * players):
        receiver = left_of(receiver, players)
        receive(game, receiver, game["deck"][k])
    sort_hands(game, table)
    game["turned"] = NONE
    game["trump"] = NO_TRUMP
    game["num_plays"] = 0
    clear_trick(game)
    game["leader"] = left_of(game["dealer"], players)
    game["player"] = game["leader"]
    game["phase"] = BID
    open_hand(game, table)
    set_legal(game, table)


@jit
def clear_trick(game: Game) -> None:
    """Nothing led yet."""
    game["in_trick"] = 0
    game["led_suit"] = NONE
    game["winning"] = NONE
    game["best"] = NONE


# --- What is allowed -----------------------------------------------------------------------------------------------


@jit
def set_legal(game: Game, table: Table) -> None:
    """Renew the options of the seat to act."""
    note_first_action(game, table)
    if game["phase"] == BID:
        game["legal"] = legal_bids(game, table)
    elif game["phase"] == PLAY:
        game["legal"] = legal_cards(game, table)
    else:
        game["legal"] = other_options(game, table)


@jit
def forbidden_bid(game: Game, table: Table) -> Int:
    """The hook: the bid that would make the sum fit, for the last to bid; NONE where there is none."""
    if game["phase"] != BID or not table["hook"] or not is_last_bidder(game, table):
        return NONE
    rest = np.int64(game["hand_size"])
    for seat in range(table["players"]):
        if seat != game["player"]:
            rest -= game["bids"][seat]
    return rest if rest >= 0 else NONE


@jit
def legal_bids(game: Game, table: Table) -> Int:
    """Bit b for each bid b that the seat to act may make."""
    legal = bids_open(game, table, (ONE << (game["hand_size"] + 1)) - 1)
    forbidden = forbidden_bid(game, table)
    return legal if forbidden == NONE else legal & ~(ONE << forbidden)


@jit
def legal_cards(game: Game, table: Table) -> Int:
    """Bit c for each card c that the seat to act may play: follow suit if you can."""
    hand = game["hands"][game["player"]]
    if game["led_suit"] == NONE:
        return options_of(game, table, leads(game, table, hand))
    following = hand & suit_cards(game, table, game["led_suit"])
    return options_of(game, table, follows(game, table, hand, following))


@jit
def is_legal(game: Game, action: Int) -> bool:
    """Whether the seat to act may take this action; any whole number may be asked about."""
    option = action - first_action(game)
    return bool(option >= 0 and option < 63 and (game["legal"] >> option) & 1 == 1)


@jit
def action_of(game: Game, option: Int) -> Int:
    """The action behind a bit of ``game["legal"]``."""
    return option + first_action(game)


# --- Moves ---------------------------------------------------------------------------------------------------------


@jit
def apply(game: Game, table: Table, action: Int) -> None:
    """Take a legal action. The last card of a hand scores it and leaves the game in HAND_OVER."""
    if game["phase"] == BID:
        make_bid(game, table, action - first_action(game))
    else:
        decide(game, table, action - first_action(game))


@jit
def make_bid(game: Game, table: Table, bid: Int) -> None:
    """Bid for the seat to act; after the last bid the first lead is due."""
    game["bids"][game["player"]] = bid
    note_call(game, bid)
    next_to_bid(game, table)
    set_legal(game, table)


@jit
def play_card(game: Game, table: Table, option: Int) -> None:
    """Play a card for the seat to act; a full trick goes to its winner, who leads the next."""
    seat = game["player"]
    players = table["players"]
    card = card_behind(game, table, option)
    part_with(game, seat, card)
    game["plays"][game["num_plays"]] = card
    game["num_plays"] += 1
    game["in_trick"] += 1
    suit = suit_of(game, table, card)
    if game["in_trick"] == 1:
        game["led_suit"] = suit
        game["winning"] = seat
        game["best"] = card
    else:  # random play makes these two unpredictable: selections, not branches
        game["voids"][seat] |= np.int64(suit != game["led_suit"]) << game["led_suit"]
        wins = takes(game, table, card, game["best"])
        game["winning"] = seat if wins else game["winning"]
        game["best"] = card if wins else game["best"]
    if is_incomplete(game, table, suit):
        set_legal(game, table)
        return
    if game["in_trick"] < players:
        game["player"] = left_of(seat, players)
    else:
        award_trick(game, table)
        game["player"] = game["leader"]
        clear_trick(game)
        if game["num_plays"] == game["hand_size"] * players:
            score_hand(game, table)
            return
    game["legal"] = legal_cards(game, table)


@jit
def _decide(game: Game, table: Table, option: Int) -> None:
    play_card(game, table, option)


@jit
def _decide_wide(game: Game, table: Table, option: Int) -> None:
    if game["phase"] == PLAY:
        play_card(game, table, option)
    else:
        wide_bidding.decide(game, table, option)
        set_legal(game, table)


decide = by_form(_decide, _decide_wide)


# --- The end of a hand and of a match --------------------------------------------------------------------------------


@jit
def score_hand(game: Game, table: Table) -> None:
    """Add each seat's points for (hand size, bid, taken); the hand is over."""
    for seat in range(table["players"]):
        game["scores"][seat] += hand_points(game, table, seat)
        if game["bids"][seat] != NONE:
            note_bid(game, seat)
    game["phase"] = HAND_OVER
    game["player"] = NONE
    game["legal"] = 0


@jit
def note_bid(game: Game, seat: Int) -> None:
    """Add what a seat's bid came to to its record in the match."""
    off = np.int64(game["taken"][seat]) - game["bids"][seat]
    game["made"][seat] += off == 0
    game["missed"][seat] += off != 0
    game["over"][seat] += max(off, 0)
    game["under"][seat] += max(-off, 0)


# --- What a result is worth to a seat: asked by bots, search, reviews, rewards and standings -------------------------


@jit
def direction(table: Table) -> Any:
    """1.0 where the highest total wins, -1.0 where the lowest does: points times this are better when higher."""
    return -1.0 if table["lowest"] else 1.0


@jit
def bid_value(game: Game, table: Table, seat: Int, bid: Int, taken: Int) -> Any:
    """What it would be worth to a seat to end this hand with a bid and so many tricks; higher is better.

    Its points, negated where the lowest total wins. At a cooperative table `SUCCESS` for a bid that is made, else 0.
    """
    if is_cooperative(game, table):
        return SUCCESS if bid == taken else 0.0
    return direction(table) * own_bid_value(game, table, seat, bid, taken)


@jit
def hand_value(game: Game, table: Table, seat: Int) -> Any:
    """What the hand just over (phase HAND_OVER) is worth to a seat; higher is better.

    Its points, negated where the lowest total wins. At a cooperative table `SUCCESS` to all where every bid is made,
    else 0.
    """
    if is_cooperative(game, table):
        return 0.0 if is_lost(game, table) else SUCCESS
    return direction(table) * hand_points(game, table, seat)


@jit
def next_hand(game: Game, table: Table, decks: Any) -> None:
    """After HAND_OVER: the next dealer deals, or the match is over."""
    if is_last_hand(game, table):
        game["phase"] = MATCH_OVER
        return
    move_on(game, table)
    game["dealer"] = left_of(game["dealer"], table["players"])
    start_hand(game, table, decks)


@jit
def deal_on(
    game: Game, table: Table, decks: Any, kind: Int = 0, reward: Any = None, row: Int = 0, finished: Any = None
) -> None:
    """After HAND_OVER: deal the next hand, or end the match.

    Before that, the rewards of a kind are written into ``reward[row]`` and the game is copied to ``finished[0]``, where
    these are not None.
    """
    if reward is not None:
        write_reward(game, table, kind, reward, row)
    if finished is not None:
        finished[0] = game
    next_hand(game, table, decks)


@jit
def step(
    game: Game,
    table: Table,
    action: Int,
    decks: Any,
    kind: Int = 0,
    reward: Any = None,
    row: Int = 0,
    finished: Any = None,
) -> bool:
    """Take a legal action, and `deal_on` where it ends the hand; whether it did."""
    apply(game, table, action)
    if game["phase"] != HAND_OVER:
        return False
    deal_on(game, table, decks, kind, reward, row, finished)
    return True


@jit
def win_share(game: Game, table: Table, seat: Int) -> float:
    """Share of the win for one seat by the totals as they stand: 1/k for each of the k seats on top."""
    if is_lost(game, table):
        return 0.0
    sign = direction(table)
    on_top = 0
    for other in range(table["players"]):
        if sign * game["scores"][other] > sign * game["scores"][seat]:
            return 0.0
        if game["scores"][other] == game["scores"][seat]:
            on_top += 1
    return 1.0 / on_top


@jit
def write_reward(game: Game, table: Table, kind: Int, reward: Any, row: Int) -> None:
    """Rewards for the hand just over (phase HAND_OVER), of a kind POINTS, ZERO_SUM or WIN: ``reward[row, seat]``.

    Higher is better in each kind.
    """
    players = table["players"]
    if kind == WIN:
        if is_last_hand(game, table):
            for seat in range(players):
                reward[row, seat] = win_share(game, table, seat)
        return
    sign = direction(table)
    mean = 0.0
    if kind == ZERO_SUM:
        for seat in range(players):
            mean += hand_points(game, table, seat)
        mean /= players
    for seat in range(players):
        reward[row, seat] = sign * (hand_points(game, table, seat) - mean) + 0.0  # no negative zero


# --- For players -----------------------------------------------------------------------------------------------------


@jit
def random_action(game: Game, stream: np.uint64) -> Int:
    """A uniformly random legal action, decided by a state of a random stream."""
    legal = game["legal"]
    return action_of(game, nth_bit(legal, below(stream, popcount(legal))))


@jit
def unseen_cards(game: Game, table: Table, viewer: Int) -> Int:
    """Bit mask of the cards of which a viewer cannot place a copy: not held or seen, played, turned up."""
    once, _twice = unseen_copies(game, table, viewer)
    return once


@jit
def take_forced_actions(game: Game, table: Table) -> Int:
    """Take the forced actions, up to the next real decision or the hand's end; how many they were."""
    forced = 0
    while game["phase"] != HAND_OVER and game["legal"] & (game["legal"] - 1) == 0:
        apply(game, table, action_of(game, lowest(game["legal"])))
        forced += 1
    return forced


write_mask = by_form(standard.write_mask, wide_play.write_mask)


def reward_kind(reward: str) -> int:
    """The kernel's number for a kind of reward; `ValueError` naming the known ones otherwise."""
    if reward not in REWARDS:
        raise ValueError(f"reward={reward!r} is not known; use one of {', '.join(map(repr, REWARDS))}")
    return REWARDS[reward]
