"""What a person types, as an action of the table."""

from __future__ import annotations

from ohhell_env.kernel.state import BID, PLAY
from ohhell_env.render.terminal import short_choice
from ohhell_env.rules.cards import SUIT_NAMES, SUIT_SYMBOLS
from ohhell_env.table.game import Game
from ohhell_env.table.refusal import bid_refusal, refusal


def read_action(text: str, game: Game) -> int:
    """The legal action that somebody typed: in full (``play TD``), in short (``10d``, ``10♦``), or by its beginning.

    Raises:
        ValueError: if it is none, or not clear which; the message says why, and what is open.
    """
    typed = " ".join(text.lower().split())
    words = game.actions_by_text
    if typed in words:
        return words[typed]
    choices = ", ".join(short_choice(game.action_text(action)) for action in game.legal_actions)
    bid = typed.removeprefix("bid ")
    if game.phase == BID and bid.isdecimal():
        raise ValueError(f"{bid_refusal(game, int(bid))}; choose from: {choices}")
    card = _card(typed, game)
    if card in game.legal_actions:
        return card
    if card is not None and game.phase == PLAY:
        raise ValueError(f"{refusal(game, card)}; choose from: {choices}")
    begun = _begun(typed, game)
    if len(begun) == 1:
        return begun[0]
    if begun and game.phase == PLAY:
        open_now = ", ".join(short_choice(game.action_text(action)) for action in begun)
        raise ValueError(f"which {_SUITS.get(typed, typed.upper().replace('T', '10'))}? {open_now}")
    raise ValueError(f"{text.strip()!r} is not one of the choices; choose from: {choices}")


# How a suit is typed, and what one of its cards is called.
_SUITS = {
    typed: name.removesuffix("s")
    for name, symbol in zip(SUIT_NAMES, SUIT_SYMBOLS, strict=True)
    for typed in (name[0], name, name.removesuffix("s"), symbol)
}


def _card(typed: str, game: Game) -> int | None:
    """The action, legal or not, that plays a card named in full."""
    card_set = game.rules.deck.card_set
    try:
        card = card_set.parse(typed.removeprefix("play "))
    except ValueError:
        return None
    return game.actions_by_text.get(card_set.names[card].lower(), card)


def _begun(typed: str, game: Game) -> list[int]:
    """The legal actions that begin like a text; of a suit, those that play a card of it."""
    named = typed.removeprefix("play ")
    if game.phase == PLAY and named in _SUITS:
        names = game.rules.deck.card_set.names
        letter = _SUITS[named][0].upper()
        return [action for action in game.legal_actions if action < len(names) and names[action][-1] == letter]
    start = typed.replace("10", "t")
    return sorted({action for word, action in game.actions_by_text.items() if start and word.startswith(start)})
