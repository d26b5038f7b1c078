"""A table as text: what a card player would write down, for one seat's eyes or for everybody's."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from ohhell_env.cards import RANKS, SUIT_NAMES, SUIT_SYMBOLS, card_symbol, rank_of, suit_of
from ohhell_env.state import BID, HAND_OVER, MATCH_OVER, PLAY

if TYPE_CHECKING:
    from ohhell_env.game import Game


def hand_text(cards: Iterable[int]) -> str:
    """A hand by suits, spades first, high cards first: ``♠ A K 4  ♦ T 2``."""
    by_suit: dict[int, list[int]] = {}
    for card in sorted(cards, reverse=True):
        by_suit.setdefault(suit_of(card), []).append(card)
    return "  ".join(
        f"{SUIT_SYMBOLS[suit]} {' '.join(RANKS[rank_of(card)] for card in held)}" for suit, held in by_suit.items()
    )


def table_text(game: Game, viewer: int | None = None) -> str:
    """The whole table; with a viewer, other hands show as a count and sealed bids as ``?``."""
    bids = game.visible_bids(viewer)
    lines = [_headline(game), ""]
    width = max(len(hand_text(hand)) for hand in game.hands)
    for seat in range(game.players):
        marks = ("D" if seat == game.dealer else " ") + (">" if seat == game.player else " ")
        hand = game.hands[seat]
        shown = hand_text(hand) if viewer in (None, seat) else f"{len(hand)} card{'s' * (len(hand) != 1)}"
        lines.append(
            f"{marks} player_{seat}  {game.scores[seat]:6g}  {_contract(bids[seat], game.taken[seat]):22}  "
            f"{shown:{width}}".rstrip()
        )
    tricks = game.tricks
    if tricks:
        lines += ["", f"last trick  {_plays_text(tricks[-1].plays)}  taken by player_{tricks[-1].winner}"]
    if game.phase == PLAY:
        lines += ["", f"trick {len(tricks) + 1:<5} {_plays_text(game.trick) or f'player_{game.player} leads'}"]
    elif game.phase in (HAND_OVER, MATCH_OVER):
        lines += ["", "points      " + "  ".join(f"{seat}:{points:+g}" for seat, points in enumerate(game.points))]
    return "\n".join(lines)


def _plays_text(plays: Iterable[tuple[int, int]]) -> str:
    return "  ".join(f"{seat}:{card_symbol(card)}" for seat, card in plays)


def _contract(bid: int | str | None, taken: int) -> str:
    if bid is None:
        return "to bid"
    if bid == "hidden":
        return "bid ?"
    return f"bid {bid:>2}  taken {taken:>2}"


def _headline(game: Game) -> str:
    if game.trump is None:
        trump = "no trump"
    else:
        trump = f"trump {SUIT_NAMES[game.trump]}" + (
            f" ({card_symbol(game.turned)} turned)" if game.turned is not None else ""
        )
    if game.phase == BID:
        state = f"player_{game.player} bids"
    elif game.phase == PLAY:
        bids = sum(bid for bid in game.bids if bid is not None)
        state = f"player_{game.player} plays; {bids} bid for {game.hand_size} tricks"
    else:
        state = "hand over" if game.phase == HAND_OVER else _result_text(game)
    size = f"{game.hand_size} card{'s' * (game.hand_size != 1)}"
    return f"hand {game.hand_number} of {game.num_hands}, {size}, {trump}: {state}"


def _result_text(game: Game) -> str:
    winners = [f"player_{seat}" for seat, share in enumerate(game.win_shares) if share]
    return f"match over, {' and '.join(winners)} {'wins' if len(winners) == 1 else 'share the win'}"
