"""What a record tells of its hand, read by plain Python: positions, cards dealt, tricks taken, all that was said.

Records of one form keep some of it in fields that those of the other lack. Callers need not ask which form it is.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ohhell_env.kernel import standard, wide_play
from ohhell_env.kernel.jit import by_form
from ohhell_env.kernel.state import BID, NONE
from ohhell_env.rules.cards import cards_of

Game = Any  # a record of state.GAME or WIDE_GAME
Table = Any  # a record of state.TABLE or WIDE_TABLE

# Fields that only some records have, at what they are in every game of the others.
_ONE = {"trump_known": 1, "shown": NONE, "special": 0, "worth": 1, "deals": 1}
_MANY = {"pledges": NONE, "first_bids": NONE, "named": NONE, "held_twice": 0}  # one for each seat, or each trick


def option_field(game: Game, name: str) -> Any:
    """A field that only some records have; of the others what it always is there: a number, or an array of it."""
    if name in game.dtype.names:
        return game[name]
    return _ONE[name] if name in _ONE else np.full(len(game["plays"]), _MANY[name])


def keeps_calls(game: Game) -> bool:
    """Whether a record keeps all that was said in its hand, in order: not where each seat says its bid and no more."""
    return "calls" in game.dtype.names


def _received(game: Game, table: Table, seat: int) -> list[int]:
    """The cards that a seat was dealt, in the order dealt."""
    players = int(table["players"])
    first = (seat - int(game["dealer"]) - 1) % players
    return [int(card) for card in game["deck"][: int(game["hand_size"]) * players][first::players]]


def _cards_dealt(game: Game, table: Table, seat: int) -> list[int]:
    return list(cards_of(game["hands"][seat] | game["played"][seat]))  # a view has no deck, but knows these


def _wide_cards_dealt(game: Game, table: Table, seat: int) -> list[int]:
    return sorted(_received(game, table, seat))


def _slots(game: Game, table: Table, seat: int) -> list[tuple[int, int]]:
    held = set(cards_of(game["hands"][seat]))
    return [(slot, card) for slot, card in enumerate(_received(game, table, seat)) if card in held]


def _wide_slots(game: Game, table: Table, seat: int) -> list[tuple[int, int]]:
    return [(slot, int(wide_play.slot_card(game, table, seat, slot))) for slot in cards_of(game["slots"][seat])]


def _trick_winner(game: Game, table: Table, number: int, leader: int) -> int:
    players = int(table["players"])
    cards = [int(card) for card in game["plays"][number * players : (number + 1) * players]]
    best = 0
    for k in range(1, players):
        if standard.beats(cards[k], cards[best], int(game["trump"])):
            best = k
    return (leader + best) % players


def _wide_trick_winner(game: Game, table: Table, number: int, leader: int) -> int:
    return int(game["winners"][number])


def _sees_cards(game: Game, table: Table, viewer: int, seat: int) -> bool:
    return viewer == seat


def _is_bidding(game: Game, table: Table) -> bool:
    return bool(game["phase"] == BID)


def _calls(game: Game, table: Table) -> list[int]:
    players = int(table["players"])
    bids = [int(game["bids"][(int(game["dealer"]) + k) % players]) for k in range(1, players + 1)]
    return [bid for bid in bids if bid != NONE]


def _wide_calls(game: Game, table: Table) -> list[int]:
    return [int(option) for option in game["calls"][: game["num_calls"]]]


cards_dealt = by_form(_cards_dealt, _wide_cards_dealt)  # the cards that a seat was dealt, ascending
slots_held = by_form(_slots, _wide_slots)  # (position in the order dealt, card) of each card that a seat still holds
trick_winner = by_form(_trick_winner, _wide_trick_winner)  # who took a finished trick, by its leader; NONE: nobody
calls_made = by_form(_calls, _wide_calls)  # the options taken before the play, in order
sees_cards = by_form(_sees_cards, wide_play.sees_cards)  # whether a seat may see the cards that a seat holds
is_bidding = by_form(_is_bidding, wide_play.is_bidding)  # whether bids are still being made, so that sealed ones hide
