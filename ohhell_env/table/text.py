"""A table as text: what a card player would write down, for one seat's eyes or for everybody's."""

from __future__ import annotations

from collections.abc import Iterable

from ohhell_env.kernel.state import HAND_OVER, MATCH_OVER, NAME_SUIT, PLAY
from ohhell_env.rules.cards import JOKERS, STANDARD, SUIT_NAMES, SUIT_SYMBOLS, CardSet
from ohhell_env.table.actions import deed
from ohhell_env.table.game import Game, Viewer


def hand_text(cards: Iterable[int], card_set: CardSet = STANDARD) -> str:
    """A hand by suits, spades first, high cards first: ``♠ A K 4  ♦ T 2``; jokers before all."""
    by_suit: dict[int, list[int]] = {}
    for card in sorted(cards, key=lambda one: (card_set.suit(one), card_set.strength(one, True)), reverse=True):
        by_suit.setdefault(card_set.suit(card), []).append(card)
    return "  ".join(
        " ".join(card_set.symbol(card) for card in held)
        if suit == JOKERS
        else f"{SUIT_SYMBOLS[suit]} {' '.join(card_set.rank_name(card) for card in held)}"
        for suit, held in by_suit.items()
    )


def table_text(game: Game, viewer: Viewer = None, totals: bool = True) -> str:
    """The table as a card player would write it down; with a viewer, only what that seat sees.

    Hidden hands show as a count, and sealed bids as ``?``.

    Args:
        game: the table.
        viewer: a seat; "table", which sees no cards but those played; None sees everything.
        totals: whether the match's totals are shown (online table, "Hide player points").

    Raises:
        ValueError: if ``viewer`` is none of these.
    """
    game.check_viewer(viewer)
    bids, firsts = game.visible_bids(viewer), game.visible_first_bids(viewer)
    card_set = game.rules.deck.card_set
    lines = [_headline(game), ""]
    shown = [_shown(game, viewer, seat, card_set) for seat in range(game.players)]
    for seat in range(game.players):
        marks = ("D" if seat == game.dealer else " ") + (">" if seat == game.player else " ")
        contract = _contract(bids[seat], game.taken[seat], game.pledges[seat], firsts[seat])
        total = f"{game.scores[seat]:6g}" if totals else f"{'-':>6}"
        lines.append(f"{marks} player_{seat}  {total}  {contract:22}  {shown[seat]}".rstrip())
    tricks = game.tricks
    if tricks:
        winner = "nobody" if tricks[-1].winner is None else f"player_{tricks[-1].winner}"
        lines += ["", f"last trick  {_plays_text(tricks[-1].plays, card_set)}  taken by {winner}"]
    if game.phase in (PLAY, NAME_SUIT):
        named = "" if game.named_suit is None else f"  ({SUIT_NAMES[game.named_suit]} named)"
        worth = f"  (counts for {game.worth})" if game.worth > 1 else ""
        trick = _plays_text(game.trick, card_set) or f"player_{game.player} leads"
        lines += ["", f"trick {len(tricks) + 1:<5} {trick}{named}{worth}"]
    elif game.phase in (HAND_OVER, MATCH_OVER):
        lines += ["", "points      " + "  ".join(f"{seat}:{points:+g}" for seat, points in enumerate(game.points))]
    return "\n".join(lines)


def _shown(game: Game, viewer: Viewer, seat: int, card_set: CardSet) -> str:
    """A seat's hand as the viewer sees it; hidden cards as a count."""
    hand = game.hands[seat]
    if game.sees_cards(viewer, seat):
        if game.rules.own_cards == "hidden" and hand:
            return "  ".join(f"{slot + 1}:{card_set.symbol(card)}" for slot, card in game.slots(seat))
        return hand_text(hand, card_set)
    return f"{len(hand)} card{'s' * (len(hand) != 1)}"


def _plays_text(plays: Iterable[tuple[int, int]], card_set: CardSet) -> str:
    return "  ".join(f"{seat}:{card_set.symbol(card)}" for seat, card in plays)


def _contract(bid: int | str | None, taken: int, pledge: str | None, first: int | str | None) -> str:
    said = "" if pledge in (None, "pass") else f", {pledge}"
    if bid is None:
        if pledge == "blind":
            return f"blind {'?' if first == 'hidden' else first}, to bid"
        return "passed, to bid" if pledge == "pass" else "to bid" if first is None else f"to bid, not {first} again"
    if bid == "hidden":
        return "bid ?" + said
    return f"bid {bid:>2}  taken {taken:>2}{said}"


def _headline(game: Game) -> str:
    card_set = game.rules.deck.card_set
    if not game.trump_known:
        trump = "trump not yet known"
    elif game.trump is None:
        trump = "no trump"
    else:
        trump = f"trump {SUIT_NAMES[game.trump]}"
    if game.turned is not None:
        trump += f" ({card_set.symbol(game.turned)} turned)"
    elif game.shown is not None:
        trump += f" ({card_set.symbol(game.shown)} shown)"
    if game.player is None:
        state = "hand over" if game.phase == HAND_OVER else _result_text(game)
    else:
        state = f"player_{game.player} {deed(game.phase, leads=False)}"
    if game.phase == PLAY:
        state += f"; {sum(bid for bid in game.bids if bid is not None)} bid for {game.hand_size} tricks"
    size = f"{game.hand_size} card{'s' * (game.hand_size != 1)}" + (f" {game.special}" if game.special else "")
    again = f" dealt {game.deals} times" if game.deals > 1 else ""
    return f"hand {game.hand_number} of {game.num_hands}{again}, {size}, {trump}: {state}"


def _result_text(game: Game) -> str:
    winners = [f"player_{seat}" for seat, share in enumerate(game.win_shares) if share]
    if not winners:
        return "match over, lost by all"
    return f"match over, {' and '.join(winners)} {'wins' if len(winners) == 1 else 'share the win'}"
