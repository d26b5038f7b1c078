"""A match as one HTML page: all it shows is worked out here, by playing the record again, and embedded as JSON.

The page's script knows no rules: it draws positions. Page, style and script stand in ``render/page``; nothing is loaded
from anywhere, and the browser is told to refuse it.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
import zlib
from collections import Counter
from collections.abc import Iterable, Sequence
from importlib.resources import files
from typing import Any

from ohhell_env.cards import SUIT_SYMBOLS, card_symbol, parse_card
from ohhell_env.game import Game, HandDealt, action_text
from ohhell_env.replay import Replay
from ohhell_env.review import Option, Review
from ohhell_env.state import BID, HAND_OVER, MATCH_OVER, PLAY

RED_SUITS = "♦♥"


def replay_page(replay: Replay, title: str, names: Sequence[str] | None = None, review: Review | None = None) -> str:
    """The page of a match.

    Args:
        replay: the match.
        title: what the page is called, for example the record's file name.
        names: a name for each seat; ``player_0`` and so on by default. Any text: it is shown as it is, never run.
        review: what a checkpoint and the search think of the decisions.

    Raises:
        ValueError: if there is not one name for each seat.
    """
    data = replay_data(replay, title, names, review or Review())
    # Escaped, so that no text can end the element that holds it; ASCII, so that bytes and characters are the same.
    text = json.dumps(data, separators=(",", ":"))
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    page = files("ohhell_env.render").joinpath("page")
    script = page.joinpath("replay.js").read_text(encoding="utf-8")
    parts = {
        "title": html.escape(f"Oh Hell! {title}"),
        "script_hash": base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
        "style": page.joinpath("replay.css").read_text(encoding="utf-8"),
        "script": script,
        "checksum": str(zlib.crc32(text.encode())),
        "data": text,
    }
    pieces = page.joinpath("replay.html").read_text(encoding="utf-8").split("{{")
    return pieces[0] + "".join(parts[name] + rest for name, rest in (piece.split("}}", 1) for piece in pieces[1:]))


def replay_data(replay: Replay, title: str, names: Sequence[str] | None, review: Review) -> dict[str, Any]:
    """All that the page shows, as JSON data. Positions are numbered as in `Replay`, seats and hands from 0."""
    players = replay.rules.players
    names = [f"player_{seat}" for seat in range(players)] if names is None else list(names)
    if len(names) != players:
        raise ValueError(f"{len(names)} names for {players} seats; give one for each")
    starts = [position for position, action in enumerate(replay.actions) if action is None]
    hands, positions, sights = [], [], _Sights()
    for number, (start, end) in enumerate(zip(starts, [*starts[1:], len(replay)], strict=True)):
        hand = _hand(replay.game(start), replay.game(end - 1), start, end - 1)
        hands.append(hand)
        for position in range(start, end):
            before = replay.game(position - 1) if position > start else None
            one = _position(replay.game(position), before, replay.actions[position], hand["dealt"], names, sights)
            positions.append({"hand": number, **one})
    if replay.end.phase == MATCH_OVER:
        winners = [name for name, share in zip(names, replay.end.win_shares, strict=True) if share]
        verb = "wins" if len(winners) == 1 else "share the win of"
        positions[-1]["status"] = f"{' and '.join(winners)} {verb} the match"
    cards = {card for hand in hands for held in (*hand["dealt"], [hand["turned"]]) for card in held} - {None}
    return {
        "title": title,
        "rules": replay.rules.describe(),
        "names": names,
        "cards": {card: _card(card) for card in sorted(cards)},
        "hands": hands,
        "positions": positions,
        "sights": sights.known,
        "policy": review.policy,
        "search": review.search,
        "decisions": {
            position: _decision(replay.chosen(position), options) for position, options in review.decisions.items()
        },
        "mistakes": [
            {
                "position": mistake.position,
                "seat": mistake.seat,
                "where": _where(replay.game(mistake.position)),
                "chosen": _action(mistake.chosen),
                "best": _action(mistake.best),
                "loss": mistake.loss,
                "error": mistake.error,
            }
            for mistake in review.mistakes(replay)
        ],
    }


class _Sights:
    """Who sees what, each different case once.

    ``hands[viewer]`` are the seats whose cards the viewer sees, ``sealed[viewer]`` those whose bid is made and hidden.
    """

    def __init__(self) -> None:
        self.known: list[dict[str, list[list[int]]]] = []

    def number(self, game: Game) -> int:
        hands, sealed = [], []
        for viewer in range(game.players):
            dealt = next(event for event in game.events(viewer) if isinstance(event, HandDealt))
            hands.append([seat for seat, cards in enumerate(dealt.cards) if cards is not None])
            sealed.append([seat for seat, bid in enumerate(game.visible_bids(viewer)) if bid == "hidden"])
        sight = {"hands": hands, "sealed": sealed}
        if sight not in self.known:
            self.known.append(sight)
        return self.known.index(sight)


def _hand(dealt: Game, last: Game, start: int, end: int) -> dict[str, Any]:
    """What stays through a hand, and what came of it; ``last`` is its last position in the record."""
    over = last.phase in (HAND_OVER, MATCH_OVER)
    return {
        "number": dealt.hand_number,
        "of": dealt.num_hands,
        "size": dealt.hand_size,
        "dealer": dealt.dealer,
        "turned": dealt.turned,
        "dealt": [sorted(cards, reverse=True) for cards in dealt.dealt],
        "tricks": [{"plays": trick.plays, "winner": trick.winner} for trick in last.tricks],
        "start": start,
        "end": end,
        "trump": _trump(last),
        "bids": last.bids,
        "taken": last.taken,
        "made": [bid == taken for bid, taken in zip(last.bids, last.taken, strict=True)],
        "points": last.points if over else None,
        "totals": last.scores if over else None,
    }


def _position(
    game: Game, before: Game | None, action: int | None, dealt: list[list[int]], names: Sequence[str], sights: _Sights
) -> dict[str, Any]:
    return {
        "move": None if action is None or before is None else {"seat": before.player, **_action(action)},
        "player": game.player,
        "status": _status(game, names),
        "trump": _trump(game),
        "bids": game.bids,
        "bid_sum": sum(bid or 0 for bid in game.bids) if game.phase != BID else None,
        "taken": game.taken,
        "need": [None if bid is None else bid - taken for bid, taken in zip(game.bids, game.taken, strict=True)],
        "scores": game.scores,
        "held": [_held(cards, held) for cards, held in zip(dealt, game.hands, strict=True)],
        "trick": game.trick,
        "tricks": len(game.tricks),
        "sight": sights.number(game),
    }


def _held(dealt: Iterable[int], held: Iterable[int]) -> str:
    """For each card dealt 1 if it is still held, else 0; of two alike the first goes first."""
    left = Counter(held)
    gone = Counter(dealt) - left
    flags = ""
    for card in dealt:
        flags += "0" if gone[card] > 0 else "1"
        gone[card] -= 1
    return flags


def _status(game: Game, names: Sequence[str]) -> str:
    if game.player is None:
        return "The hand is over"
    what = {BID: "to bid", PLAY: "to play" if game.trick else "to lead"}.get(game.phase, "to decide")
    return f"{names[game.player]} {what}"


def _where(game: Game) -> str:
    trick = f", trick {len(game.tricks) + 1}" if game.phase == PLAY else ""
    return f"Hand {game.hand_number}{trick}"


def _trump(game: Game) -> dict[str, Any] | None:
    if game.trump is None:
        return None
    suit = SUIT_SYMBOLS[game.trump]
    return {"suit": suit, "red": suit in RED_SUITS}


def _card(card: int) -> dict[str, Any]:
    """A card's rank and suit as they stand on it; a card without a suit has its name for a rank."""
    name = card_symbol(card)
    suit = name[-1] if name[-1] in SUIT_SYMBOLS else ""
    rank = name.removesuffix(suit).replace("T", "10") if suit else name
    return {"rank": rank, "suit": suit, "red": suit in RED_SUITS and suit != ""}


def _action(action: int) -> dict[str, Any]:
    """An action in words, with the card where one is played."""
    words = action_text(action)
    verb, _, what = words.partition(" ")
    return {"text": words, "card": parse_card(what) if verb == "play" else None}


def _decision(chosen: int | None, options: Sequence[Option]) -> list[dict[str, Any]]:
    return [{**option._asdict(), **_action(option.action), "chosen": option.action == chosen} for option in options]
