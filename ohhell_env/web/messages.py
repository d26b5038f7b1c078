"""What a viewer is sent, and what a client may say. A viewer gets its own view of the table and nothing else.

The server sends JSON objects with a ``type``:

- ``table``: the table after something happened. ``events`` are the new ones of `Game.events(viewer)`, in order, each
  with its name, its fields, and its line of text; ``scene`` is `render.scene.scene_of(game, viewer)`, which draws what
  those events have led to. The seat to act also gets its ``choices``, and the reasons why others are ``shut``.
- ``mistakes``: a seat's own mistakes, by the index of the finished hand, as `mistakes.own_mistakes` describes them;
  None for a hand at which the server had no time to look.
- ``hint``: what the search and a policy think of the choices, to the seat that asked.
- ``error``: why a message was refused. Nothing has changed then.

A client says one of: ``act`` (with ``action`` and ``number``, the table's that it answers to), ``next`` (leave the
result), ``hint``, ``back`` (take back), ``speed``, ``name``, ``bot`` (give a deserted seat to a bot), ``return`` (take
the seat back).
"""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

from ohhell_env.kernel.state import BID, PLAY
from ohhell_env.render.scene import Scene, scene_of, sorted_cards
from ohhell_env.render.terminal import choice_text, event_text, short_choice
from ohhell_env.rules.description import describe
from ohhell_env.table.events import Event
from ohhell_env.table.game import Game, news
from ohhell_env.table.refusal import refusal
from ohhell_env.web.table import MAX_NAME, PERSON, Table

MAX_MESSAGE = 1024  # bytes of a client's message
SPEEDS = {"slow": 2.0, "normal": 0.9, "fast": 0.25}  # seconds for which a bot's move is shown
_FIELDS: dict[str, dict[str, type]] = {
    "act": {"action": int, "number": int},
    "next": {},
    "hint": {},
    "back": {},
    "speed": {"speed": str},
    "name": {"name": str},
    "bot": {"seat": int},
    "return": {},
}


class MessageError(ValueError):
    """A client's message that cannot be followed; its text is sent back."""


def read_message(text: str | bytes) -> dict[str, Any]:
    """A client's message, checked.

    Raises:
        MessageError: saying what is wrong with it.
    """
    if isinstance(text, bytes):
        raise MessageError("send text, not bytes")
    if len(text.encode(errors="surrogatepass")) > MAX_MESSAGE:
        raise MessageError(f"a message has at most {MAX_MESSAGE} bytes")
    try:
        message: Any = json.loads(text)
    except (ValueError, RecursionError):
        raise MessageError("that is not JSON") from None
    kind = message.get("type") if isinstance(message, dict) else None
    if not isinstance(kind, str) or kind not in _FIELDS:
        raise MessageError(f"a message is an object whose type is one of {', '.join(_FIELDS)}")
    fields = _FIELDS[kind]
    if set(message) != {"type", *fields}:
        raise MessageError(f"a message {kind!r} has {', '.join(fields) or 'no other'} fields")
    for name, wanted in fields.items():
        if type(message[name]) is not wanted:
            raise MessageError(f"{name} must be {'a whole number' if wanted is int else 'a text'}")
    if kind == "name" and not 0 < len(message["name"].strip()) <= MAX_NAME:
        raise MessageError(f"a name has 1 to {MAX_NAME} characters")
    if kind == "speed" and message["speed"] not in SPEEDS:
        raise MessageError(f"speed must be one of {', '.join(SPEEDS)}")
    return dict(message)


def table_message(
    table: Table, viewer: Any, told: tuple[int, int], extras: dict[str, Any] | None = None
) -> tuple[dict[str, Any], tuple[int, int]]:
    """What a viewer is told of a table, and how far it has then been told (see `table.game.news`).

    Args:
        table: the table.
        viewer: a seat, or "table" for spectators.
        told: how far the viewer has been told.
        extras: what the running table adds: pauses, who is there.
    """
    game = table.game
    seat = viewer if isinstance(viewer, int) else None
    names = table.names(seat)
    events, told = news(game, viewer, told)
    message = {
        "type": "table",
        "number": table.number,
        "you": seat,
        "events": [event_json(event, names, viewer, game) for event in events],
        "scene": scene_json(scene_of(game, viewer, names)),
        "sheet": [hand_json(hand) for hand in game.past_hands],
        "sizes": hand_sizes(game),
        "result": None if not game.past_hands else hand_json(game.past_hands[-1]),
        "unseen": sorted(table.unseen),
        "over": table.over,
        "winners": [seat for seat, share in enumerate(game.win_shares) if share],
        "take_back": seat is not None and table.can_take_back == seat,
        "people": table.people,
        "awaited": sorted(table.awaited),
        "rules": describe(game.rules),
        **choices_json(game, seat, bool(table.unseen or table.awaited)),
        **(extras or {}),
    }
    return message, told


def choices_json(game: Game, seat: int | None, waits: bool) -> dict[str, Any]:
    """The choices of a seat whose turn it is, and why others are shut; empty for everybody else."""
    if seat is None or game.player != seat or waits:
        return {"choices": [], "shut": [], "hints": False}
    card_set = game.rules.deck.card_set
    choices, shut = [], []
    for action in game.legal_actions:
        words = game.action_text(action)
        card = action if game.phase == PLAY and action < len(card_set) else None
        position = short_choice(words) if game.phase == PLAY and card is None else None
        choices.append(
            {
                "action": action,
                "text": choice_text(words),
                "short": short_choice(words),
                "card": None if card is None else card_set.names[card],
                "position": None if position is None else int(position),
            }
        )
    if game.phase == PLAY and game.sees_cards(seat, seat):
        held = dict.fromkeys(game.hands[seat])
        shut = [{"card": card_set.names[card], "why": why} for card in held if (why := refusal(game, card)) is not None]
    elif game.phase == BID:
        bids = range(game.hand_size + 1)
        shut = [
            {"short": str(bid), "why": why}
            for bid in bids
            if (why := refusal(game, game.form.first_bid + bid)) is not None
        ]
    return {"choices": choices, "shut": shut, "hints": True}


def scene_json(scene: Scene) -> dict[str, Any]:
    """A scene as data, with the texts that the page shows."""
    return {
        **asdict(scene),
        "size_text": scene.size_text,
        "trump_text": scene.trump_text,
        "status": scene.status(),
        "actor": scene.actor,
        "bid_total": scene.bid_total,
        "seats": [{**asdict(seat), "need": seat.need, "bid_text": seat.bid_text} for seat in scene.seats],
    }


def event_json(event: Event, names: list[str], viewer: Any, game: Game) -> dict[str, Any]:
    """An event with its name, its fields and its words; cards by their names."""
    card_set = game.rules.deck.card_set
    fields: dict[str, Any] = {**event._asdict()}
    for name in ("card", "turned"):
        if fields.get(name) is not None:
            fields[name] = card_set.names[fields[name]]
    if "cards" in fields:
        fields["cards"] = [
            None if cards is None else [card_set.names[card] for card in sorted_cards(cards, card_set)]
            for cards in fields["cards"]
        ]
    text = event_text(event, names, viewer, card_set)
    return {"event": type(event).__name__, **fields, "words": "" if text is None else text.plain.strip()}


def hand_json(hand: Game) -> dict[str, Any]:
    """A finished hand, as the score sheet shows it."""
    return {
        "number": hand.hand_number,
        "of": hand.num_hands,
        "size": hand.hand_size,
        "special": hand.special,
        "deals": hand.deals,
        "dealer": hand.dealer,
        "trump": None if hand.trump is None else hand.trump,
        "bids": hand.bids,
        "taken": hand.taken,
        "points": hand.points,
        "totals": hand.scores,
        "failed": hand.failed,
        "last_trick": [[seat, hand.rules.deck.card_set.names[card]] for seat, card in hand.tricks[-1].plays],
        "last_winner": hand.tricks[-1].winner,
    }


def hand_sizes(game: Game) -> list[int]:
    """Cards of the hands that are over, and of this one; what comes is added where the rules say it."""
    sizes = [hand.hand_size for hand in game.hands_so_far]
    return sizes + [0] * max(0, game.num_hands - len(sizes))


def seat_kinds(table: Table) -> list[str]:
    """What sits in each seat: "person" or "bot"."""
    return [PERSON if chair.player == PERSON else "bot" for chair in table.chairs]
