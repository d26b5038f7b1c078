"""Why an action is refused, as text for the person who tried it."""

from __future__ import annotations

from ohhell_env.kernel import rulebook
from ohhell_env.kernel.state import BID, NAME_SUIT, NAME_TRUMP, NONE, PLAY
from ohhell_env.kernel.wide_bidding import MOVE
from ohhell_env.rules.cards import SUIT_NAMES
from ohhell_env.table.game import Game

_BROKEN = {"broken": "trump may not be led before a trump has been played", "not first": "trump may not be led yet"}


def refusal(game: Game, action: int) -> str | None:
    """Why the seat to act may not take an action; None if it may.

    The kernel says what is legal. This says which rule makes it so, and tells nothing that the seat does not see.

    Args:
        game: the table.
        action: any whole number.
    """
    if game.player is None:
        return "nobody is to act"
    if action in game.legal_actions:
        return None
    words = game.action_text(action)
    if game.phase == PLAY:
        return _card_refusal(game, action) if words.startswith("play ") else "it is time to play a card"
    if game.phase == BID:
        return bid_refusal(game, action - game.form.first_bid) if words.startswith("bid ") else "it is time to bid"
    if game.phase == NAME_TRUMP:
        return "it is time to name the trump suit"
    return "it is time to name the joker's suit" if game.phase == NAME_SUIT else "it is time to pass or to bid"


def bid_refusal(game: Game, bid: int) -> str:
    """Why the seat to act may not make a bid that is not legal."""
    seat = game.player or 0
    if not 0 <= bid <= game.hand_size:
        return f"a bid is from 0 to {game.hand_size}"
    before = game.visible_first_bids(seat)[seat]  # the seat's blind bid, or its bid in the round before this one
    if game.rules.cooperative:
        return f"the bids must add up to {game.hand_size}"
    if game.pledges[seat] == "blind" and isinstance(before, int) and abs(bid - before) > MOVE:
        return f"a blind bid may be changed by {MOVE} at most"
    if game.pledges[seat] == "pass" and bid == 0 and game.rules.nil_round:
        return "you passed instead of going nil, so you bid one or more"
    if game.rules.knocking and bid == before:
        return "you may not repeat the bid just shown"
    # What is left is the hook; the others' bids, which may be sealed, are not asked.
    return f"the bids may not add up to {game.hand_size} (the hook)"


def _card_refusal(game: Game, action: int) -> str:
    seat = game.player or 0
    if not game.sees_cards(seat, seat):
        return "that card may not be played now"  # which rule forbids it would tell about the cards
    if action not in game.hands[seat]:
        return "you do not hold it"
    led = int(game._game["led_suit"])
    card_set = game.rules.deck.card_set
    if led == NONE:
        return _BROKEN.get(game.rules.lead_trump, "it may not be led now")
    if any(_suit(game, card) == led for card in game.legal_actions if card < len(card_set)):
        return f"you must follow {SUIT_NAMES[led]}"
    return "you must play a trump"


def _suit(game: Game, card: int) -> int:
    """The suit that a card counts as, in this hand."""
    return int(rulebook.suit_of(game._game, game._table, card))
