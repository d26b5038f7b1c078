"""Observations read back: as facts in plain Python, and as text."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ohhell_env.kernel.state import NO_TRUMP
from ohhell_env.observation import wide as wide_form
from ohhell_env.observation.sections import MAX_SUM_GAP, MIN_NEED, SCORE_GAPS, Section
from ohhell_env.observation.standard import LAYOUT, OBSERVATION_SIZE, SECTIONS, WIDE_LAYOUT
from ohhell_env.rules.cards import NUM_SUITS, RANKS, STANDARD, SUIT_NAMES, SUIT_SYMBOLS, CardSet, card_id
from ohhell_env.rules.limits import MIN_PLAYERS, WIDE_MIN_PLAYERS
from ohhell_env.rules.ramps import SPECIALS


def decode(observation: NDArray[np.int8]) -> dict[str, Any]:
    """An observation's facts in plain Python, by section name.

    Card sections become lists of card numbers, one-hot rows a number or None, per-seat sections a list with one entry
    for each player, relative seats first to last. A bid is a number, ``"hidden"`` or None (not yet). ``trump`` is a
    suit 0..3 or None. ``score_gap`` holds for each other seat the (lowest, highest) gap in points that the bits allow.
    The array's length says which layout it has.

    Raises:
        ValueError: if the array is not an observation of either layout.
    """
    vector = np.asarray(observation)
    wide = vector.shape == (wide_form.OBSERVATION_SIZE,)
    if not (wide or vector.shape == (OBSERVATION_SIZE,)) or not np.isin(vector, (0, 1)).all():
        raise ValueError(
            f"an observation is {OBSERVATION_SIZE} zeros and ones ({wide_form.OBSERVATION_SIZE} at tables of "
            f"the wide form); got shape {vector.shape}"
        )
    sections, layout = (wide_form.SECTIONS, WIDE_LAYOUT) if wide else (SECTIONS, LAYOUT)
    parts = {s.name: vector[layout[s.name]].reshape(s.shape) for s in sections}
    players = _one(parts["players"], "players")
    if players is None:
        raise ValueError("section 'players' is empty: this is not an observation")
    players += WIDE_MIN_PLAYERS if wide else MIN_PLAYERS
    facts: dict[str, Any] = {"players": players}
    for section in sections:
        if section.name not in facts:
            decoder = (_WIDE_DECODERS if wide else _DECODERS)[section.name]
            facts[section.name] = decoder(parts[section.name][: _rows(section, players)], section.name)
    facts["hand_size"] += 1
    return facts


def _rows(section: Section, players: int) -> int:
    per_seat = len(section.shape) == 2
    return players - (section.name in ("score_gap", "others", "others_twice")) if per_seat else section.shape[0]


def _one(row: NDArray[np.int8], name: str) -> int | None:
    ones = np.flatnonzero(row)
    if len(ones) > 1:
        raise ValueError(f"section {name!r} has {len(ones)} ones where it may have one")
    return int(ones[0]) if len(ones) else None


def _many(row: NDArray[np.int8], name: str) -> list[int]:
    return [int(k) for k in np.flatnonzero(row)]


def _each(decoder: Callable[[NDArray[np.int8], str], Any]) -> Callable[[NDArray[np.int8], str], list[Any]]:
    return lambda rows, name: [decoder(row, name) for row in rows]


def _trick_card(row: NDArray[np.int8], name: str) -> int | None:
    suit, rank = _one(row[:NUM_SUITS], name), _one(row[NUM_SUITS:], name)
    return None if suit is None or rank is None else card_id(suit, rank)


def _bid(row: NDArray[np.int8], name: str) -> int | str | None:
    bid = _one(row, name)  # the last two classes of a row are "hidden" and "not yet"
    return {len(row) - 2: "hidden", len(row) - 1: None}.get(bid, bid) if bid is not None else None


def _shifted(by: int) -> Callable[[NDArray[np.int8], str], int | None]:
    def decoder(row: NDArray[np.int8], name: str) -> int | None:
        index = _one(row, name)
        return None if index is None else index + by

    return decoder


def _gap(row: NDArray[np.int8], name: str) -> tuple[float, float]:
    reached = int(row.sum())
    below = SCORE_GAPS[reached] if reached < len(SCORE_GAPS) else np.inf
    return (SCORE_GAPS[reached - 1] if reached else -np.inf), below


def _suit(row: NDArray[np.int8], name: str) -> int | None:
    suit = _one(row, name)
    return None if suit == NO_TRUMP else suit


def _wide_trump(row: NDArray[np.int8], name: str) -> int | str | None:
    return "not yet known" if row[NUM_SUITS + 1] else _suit(row, name)


def _choices(words: Sequence[str]) -> Callable[[NDArray[np.int8], str], list[str]]:
    return lambda row, name: [words[k] for k in _many(row, name)]


def _count(row: NDArray[np.int8], name: str) -> int:
    return int(row.sum())


def _wide_table(row: NDArray[np.int8], name: str) -> dict[str, Any]:
    facts: dict[str, Any] = dict(zip(wide_form.FLAGS, map(bool, row), strict=False))
    at = len(wide_form.FLAGS)
    for option, values in wide_form.CHOICES.items():
        facts[option] = values[_one(row[at : at + len(values)], name) or 0]
        at += len(values)
    return facts


_Decoder = Callable[[NDArray[np.int8], str], Any]
_DECODERS: dict[str, _Decoder] = {
    "hand": _many,
    "unseen": _many,
    "played": _each(_many),
    "turned": _one,
    "trump": _suit,
    "trick": _each(_trick_card),
    "leader": _one,
    "led_suit": _one,
    "winning": _one,
    "voids": _each(_many),
    "bids": _each(_bid),
    "taken": _each(_one),
    "need": _each(_shifted(MIN_NEED)),
    "bid_sum": _shifted(-MAX_SUM_GAP),
    "forbidden": _one,
    "turn": _one,
    "dealer": _one,
    "hand_size": _one,
    "tricks_left": _one,
    "hands_left": _count,
    "score_gap": _each(_gap),
    "phase": lambda row, name: ("bid", "play", "hand over", "match over")[_one(row, name) or 0],
    "table": lambda row, name: dict(zip(("sealed", "hook", "turn_up"), map(bool, row), strict=True)),
}
_WIDE_DECODERS: dict[str, _Decoder] = _DECODERS | {
    "hand_twice": _many,
    "slots": _many,
    "unseen_twice": _many,
    "played_twice": _each(_many),
    "others": _each(_many),
    "others_twice": _each(_many),
    "turned": _one,
    "shown": _one,
    "trump": _wide_trump,
    "trick": _each(_one),
    "worth": _shifted(1),
    "first_bids": _each(_bid),
    "pledges": _each(lambda row, name: next(iter(_choices(wide_form.PLEDGES)(row, name)), None)),
    "rounds": _one,
    "forbidden": _many,
    "special": _choices(tuple(SPECIALS)),
    "deals": _count,
    "broken": lambda row, name: bool(row[0]),
    "phase": lambda row, name: wide_form.PHASES[_one(row, name) or 0],
    "deck": _many,
    "pairs": _many,
    "table": _wide_table,
}


def observation_text(observation: NDArray[np.int8], card_set: CardSet = STANDARD) -> str:
    """An observation as a person would read it, seats as you, left 1, left 2, ...

    Args:
        observation: of either layout.
        card_set: what the cards are called, ``rules.deck.card_set``.
    """
    facts = decode(observation)
    names = ["you", *(f"left {k}" for k in range(1, facts["players"]))]

    def cards(held: list[int], twice: Sequence[int] = ()) -> str:
        return " ".join(card_set.symbol(card) for card in sorted([*held, *twice], reverse=True)) or "-"

    if "hand_twice" in facts:
        return "\n".join(_wide_lines(facts, names, card_set, cards))
    trump = "none" if facts["trump"] is None else SUIT_NAMES[facts["trump"]]
    if facts["turned"] is not None:
        trump += f" ({RANKS[facts['turned']]}{SUIT_SYMBOLS[facts['trump']]} turned up)"
    lines = [
        f"{facts['players']} players, hand of {facts['hand_size']}, {facts['tricks_left']} tricks left, "
        f"{facts['hands_left']} hands to follow; {facts['phase']}",
        f"trump {trump}; dealer {names[facts['dealer']]}; "
        + ("nobody to act" if facts["turn"] is None else f"to act {names[facts['turn']]}"),
        f"hand    {cards(facts['hand'])}",
        f"unseen  {cards(facts['unseen'])}",
    ]
    if facts["forbidden"] is not None:
        lines.append(f"forbidden bid {facts['forbidden']}")
    if facts["bid_sum"] is not None:
        lines.append(f"bids minus tricks {facts['bid_sum']:+d}")
    for seat, name in enumerate(names):
        bid = {None: "-"}.get(facts["bids"][seat], facts["bids"][seat])
        line = f"{name:7} bid {bid}, taken {facts['taken'][seat]}"
        if facts["need"][seat] is not None:
            line += f", needs {facts['need'][seat]}"
        lines.append(line + _played_text(facts, seat, card_set, cards))
    return "\n".join(lines)


def _played_text(facts: dict[str, Any], seat: int, card_set: CardSet, cards: Callable[..., str]) -> str:
    """What a seat has on the table, what is known of its hand, and how far the viewer leads it."""
    text = ""
    if facts["trick"][seat] is not None:
        text += f", in the trick {card_set.symbol(facts['trick'][seat])}"
        text += " (winning)" if facts["winning"] == seat else ""
    if facts["played"][seat]:
        text += (
            f", played {cards(facts['played'][seat], facts['played_twice'][seat] if 'played_twice' in facts else ())}"
        )
    if facts["voids"][seat]:
        text += ", void in " + ", ".join(SUIT_NAMES[suit] for suit in facts["voids"][seat])
    if seat:
        if "others" in facts and facts["others"][seat - 1]:
            text += f", holds {cards(facts['others'][seat - 1], facts['others_twice'][seat - 1])}"
        low, high = facts["score_gap"][seat - 1]
        text += f", you lead by {low:g} to under {high:g}"
    return text


def _wide_lines(facts: dict[str, Any], names: list[str], card_set: CardSet, cards: Callable[..., str]) -> Iterator[str]:
    special = "".join(f", {word}" for word in facts["special"])
    yield (
        f"{facts['players']} players, hand of {facts['hand_size']}{special}, {facts['tricks_left']} tricks left, "
        f"{facts['hands_left']} hands to follow; {facts['phase']}"
    )
    trump = {None: "none"}.get(facts["trump"], facts["trump"])
    trump = SUIT_NAMES[trump] if isinstance(trump, int) else trump
    for key, word in (("turned", "turned up"), ("shown", "shown")):
        if facts[key] is not None:
            trump += f" ({card_set.symbol(facts[key])} {word})"
    actor = "nobody to act" if facts["turn"] is None else f"to act {names[facts['turn']]}"
    worth = f"; the trick counts for {facts['worth']}" if facts["worth"] > 1 else ""
    yield f"trump {trump}; dealer {names[facts['dealer']]}; {actor}{worth}"
    yield f"hand    {cards(facts['hand'], facts['hand_twice'])}"
    yield f"unseen  {cards(facts['unseen'], facts['unseen_twice'])}"
    if facts["forbidden"]:
        yield f"forbidden bids {' '.join(map(str, facts['forbidden']))}"
    if facts["bid_sum"] is not None:
        yield f"bids minus tricks {facts['bid_sum']:+d}"
    for seat, name in enumerate(names):
        bid = {None: "-"}.get(facts["bids"][seat], facts["bids"][seat])
        line = f"{name:7} bid {bid}, taken {facts['taken'][seat]}"
        if facts["pledges"][seat] is not None:
            line += f", {facts['pledges'][seat]}"
        if facts["first_bids"][seat] is not None:
            line += f", first bid {facts['first_bids'][seat]}"
        yield line + _played_text(facts, seat, card_set, cards)


def layout_table(wide: bool = False) -> str:
    """A layout as a Markdown table, as docs/observation.md shows it."""
    lines = ["| section | entries | shape | a one means |", "| --- | --- | --- | --- |"]
    for section in wide_form.SECTIONS if wide else SECTIONS:
        at = (WIDE_LAYOUT if wide else LAYOUT)[section.name]
        shape = " x ".join(map(str, section.shape))
        lines.append(f"| `{section.name}` | {at.start}..{at.stop - 1} | {shape} | {section.meaning} |")
    return "\n".join(lines)
