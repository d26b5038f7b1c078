"""Actions as text."""

from __future__ import annotations

from ohhell_env.kernel.state import (
    BID,
    BLIND,
    NAME_SUIT,
    NAME_TRUMP,
    PASS_OR_NIL,
    WIDE_FIRST_SLOT,
    WIDE_FIRST_SUIT,
    WIDE_PASS,
    Form,
    form_of,
)
from ohhell_env.rules.cards import SUIT_NAMES
from ohhell_env.rules.rules import Rules


def action_text(action: int, rules: Rules | None = None, form: Form | None = None) -> str:
    """An action as text: ``play TD``, ``bid 3``; at tables of the wide form also ``pass``, ``name hearts``, ...

    Args:
        action: any whole number.
        rules: the table's; those of the default game without.
        form: of the simulator, where it is not the rules' own.
    """
    rules = rules or Rules()
    form = form or form_of((rules,))
    card_set = rules.deck.card_set
    if 0 <= action < min(form.first_bid, len(card_set)):
        return f"play {card_set.names[action]}"
    if form.first_bid <= action < form.first_bid + form.num_bids:
        return f"bid {action - form.first_bid}"
    if WIDE_PASS <= action < form.num_actions:
        if action == WIDE_PASS:
            return "pass"
        if action < WIDE_FIRST_SLOT:
            return f"name {(*SUIT_NAMES, 'no trump')[action - WIDE_FIRST_SUIT]}"
        return f"play card {action - WIDE_FIRST_SLOT + 1} of the hand"
    return f"{action} (no action: actions are 0..{form.num_actions - 1})"


# What the seat to act does in each phase, as one says of "you" and of others; in play it leads or plays.
_DEEDS = {
    BID: ("bid", "bids"),
    BLIND: ("bid blind or pass", "bids blind or passes"),
    PASS_OR_NIL: ("pass or go nil", "passes or goes nil"),
    NAME_TRUMP: ("name trump", "names trump"),
    NAME_SUIT: ("name the joker's suit", "names the joker's suit"),
}


def deed(phase: int, leads: bool, you: bool = False) -> str:
    """What the seat to act does in a phase of `ohhell_env.kernel.state`: "bids", "leads"; of you: "bid", "lead"."""
    return _DEEDS.get(phase, ("lead", "leads") if leads else ("play", "plays"))[not you]


def short_text(words: str) -> str:
    """The short form of an action's text: ``TD``, ``3``, ``hearts``, ``pass``; for ``play card 3 of the hand`` 3."""
    short = words.partition(" ")[2] or words
    return short.split()[1] if short.startswith("card ") and short.endswith("hand") else short
