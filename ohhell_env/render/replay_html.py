"""A match as one HTML page: everything it shows comes from replaying the record here and is embedded as JSON.

The page's script knows no rules: it draws positions. Page, style and script stand in ``render/page``; nothing is loaded
from elsewhere, and the page's policy forbids it.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
import zlib
from collections import Counter
from collections.abc import Iterable, Sequence
from importlib.resources import files
from typing import Any

from ohhell_env.kernel.state import BID, BLIND, HAND_OVER, MATCH_OVER, PASS_OR_NIL, PLAY
from ohhell_env.records.replay import Replay
from ohhell_env.records.review import Option, Review
from ohhell_env.render.scene import scene_of, sorted_cards
from ohhell_env.rules.cards import SUIT_NAMES, SUIT_SYMBOLS, CardSet
from ohhell_env.rules.description import describe
from ohhell_env.table.actions import deed, short_text
from ohhell_env.table.game import TABLE_VIEWER, Game, Viewer

_SPEAKING = (BID, BLIND, PASS_OR_NIL)
RED_SUITS = "♦♥"
YOU = "you"  # the name of the person who played: "you bid", where others bid


def replay_page(replay: Replay, title: str, names: Sequence[str] | None = None, review: Review | None = None) -> str:
    """The page of a match.

    Args:
        replay: the match.
        title: what the page is called, for example the record's file name.
        names: a name for each seat; ``player_0`` and so on by default. Any text: it is escaped.
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
    # One file, so the shared module's exports become plain functions in front of the page's own script.
    modules = (
        page.joinpath("pieces.js").read_text(encoding="utf-8"),
        page.joinpath("replay.js").read_text(encoding="utf-8"),
    )
    script = re.sub(r"(?m)^export ", "", modules[0]) + modules[1]
    parts = {
        "title": html.escape(f"Oh Hell! {title}"),
        "script_hash": base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
        "style": "".join(page.joinpath(name).read_text(encoding="utf-8") for name in ("pieces.css", "replay.css")),
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
        positions[-1]["status"] = f"The match is over: {scene_of(replay.end, None, names).result()}"
    card_set = replay.rules.deck.card_set
    return {
        "title": title,
        "rules": describe(replay.rules),
        "names": names,
        "you": names.index(YOU) if YOU in names else None,
        "cards": {card: _card(card, card_set) for card in sorted(set(replay.rules.deck.cards))},
        "hands": hands,
        "positions": positions,
        "sights": sights.known,
        "policy": review.policy,
        "search": review.search,
        "decisions": {
            position: _decision(replay.game(position), replay.chosen(position), options)
            for position, options in review.decisions.items()
        },
        "mistakes": [
            {
                "position": mistake.position,
                "seat": mistake.seat,
                "where": _where(replay.game(mistake.position)),
                "chosen": _action(replay.game(mistake.position), mistake.chosen),
                "best": _action(replay.game(mistake.position), mistake.best),
                "loss": mistake.loss,
                "error": mistake.error,
            }
            for mistake in review.mistakes(replay)
        ],
    }


class _Sights:
    """Who sees what, each different case once.

    ``hands[viewer]`` are the seats whose cards the viewer sees, ``sealed[viewer]`` those whose bid is made and hidden,
    ``blind[viewer]`` those whose blind bid is. The viewers are the seats, and last the spectators, who see no hands.
    """

    def __init__(self) -> None:
        self.known: list[dict[str, list[list[int]]]] = []

    def number(self, game: Game) -> int:
        seats = range(game.players)
        viewers: tuple[Viewer, ...] = (*seats, TABLE_VIEWER)
        hidden = [
            [[seat for seat, bid in enumerate(visible(viewer)) if bid == "hidden"] for viewer in viewers]
            for visible in (game.visible_bids, game.visible_first_bids)
        ]
        hands = [[seat for seat in seats if game.sees_cards(viewer, seat)] for viewer in viewers]
        sight = {"hands": hands, "sealed": hidden[0], "blind": hidden[1]}
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
        "special": dealt.special,
        "deals": dealt.deals,
        "dealer": dealt.dealer,
        "dealt": [sorted_cards(cards, dealt.rules.deck.card_set) for cards in dealt.dealt],
        "tricks": [
            {"plays": trick.plays, "winner": trick.winner, "named": _suit_name(trick.named)} for trick in last.tricks
        ],
        "start": start,
        "end": end,
        "trump": _trump(last),
        "bids": last.bids,
        "taken": last.taken,
        "made": [None if bid is None else bid == taken for bid, taken in zip(last.bids, last.taken, strict=True)],
        "points": last.points if over else None,
        "totals": last.scores if over else None,
    }


def _position(
    game: Game, before: Game | None, action: int | None, dealt: list[list[int]], names: Sequence[str], sights: _Sights
) -> dict[str, Any]:
    return {
        "move": None if action is None or before is None else _move(before, action, game, names),
        "player": game.player,
        "status": _status(game, names),
        "trump": _trump(game),
        "turned": game.turned,
        "shown": game.shown,
        "bids": game.bids,
        "pledges": game.pledges,
        "first_bids": game.visible_first_bids(None),
        "bid_sum": sum(bid or 0 for bid in game.bids)
        if game.phase not in _SPEAKING and None not in game.bids
        else None,
        "taken": game.taken,
        "need": [None if bid is None else bid - taken for bid, taken in zip(game.bids, game.taken, strict=True)],
        "scores": game.scores,
        "held": [_held(cards, held) for cards, held in zip(dealt, game.hands, strict=True)],
        "backs": [_backs(game, seat) for seat in range(game.players)],
        "trick": game.trick,
        "named": _suit_name(game.named_suit),
        "worth": game.worth,
        "tricks": len(game.tricks),
        "sight": sights.number(game),
    }


def _move(before: Game, action: int, after: Game, names: Sequence[str]) -> dict[str, Any]:
    """An action as text, as it is told of its seat, and as it is told to those who may not know the bid."""
    text = before.action_text(action)
    what = short_text(text)
    card = None
    if before.phase == PLAY:
        card = (after.trick or after.tricks[-1].plays)[-1][1]
    you = before.player is not None and names[before.player] == YOU
    s, es = ("", "") if you else ("s", "es")
    told = {"pass": f"pass{es}", "nil": f"go{es} nil"}.get(text, f"{text.partition(' ')[0]}{s} {what}")
    if before.phase == BLIND and text != "pass":
        told = f"bid{s} blind {what}"
    sealed = before.phase in (BID, BLIND) and text != "pass" and after.sealed
    return {
        "seat": before.player,
        "text": text,
        "card": card,
        "told": told,
        "veiled": f"bid{s}{' blind' * (before.phase == BLIND)}, sealed" if sealed else told,
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


def _backs(game: Game, seat: int) -> list[int | None]:
    """A hand as whoever does not see it may: for each card its position from 1 where that counts, else None."""
    hidden = game.rules.own_cards == "hidden"
    return [slot + 1 if hidden else None for slot, _ in game.slots(seat)]


def _status(game: Game, names: Sequence[str]) -> str:
    if game.player is None:
        return "The hand is over: a bid was missed, so nobody scores" if game.failed else "The hand is over"
    return f"{names[game.player]} to {deed(game.phase, not game.trick, you=True)}"


def _where(game: Game) -> str:
    trick = f", trick {len(game.tricks) + 1}" if game.phase == PLAY else ""
    return f"Hand {game.hand_number}{trick}"


def _trump(game: Game) -> dict[str, Any]:
    if not game.trump_known:
        return {"text": "trump not yet known", "suit": "?", "red": False}
    if game.trump is None:
        return {"text": "no trump", "suit": "–", "red": False}
    suit = SUIT_SYMBOLS[game.trump]
    return {"text": f"trump {suit}", "suit": suit, "red": suit in RED_SUITS}


def _suit_name(suit: int | None) -> str | None:
    return None if suit is None else SUIT_NAMES[suit]


def _card(card: int, card_set: CardSet) -> dict[str, Any]:
    """A card's rank and suit as they stand on it; a card without a suit has its name for a rank."""
    name = card_set.symbol(card)
    suit = name[-1] if name[-1] in SUIT_SYMBOLS else ""
    rank = name.removesuffix(suit).replace("T", "10") if suit else name
    return {"rank": rank, "suit": suit, "red": suit in RED_SUITS and suit != ""}


def _action(game: Game, action: int) -> dict[str, Any]:
    """An action as text, with the card where one is played by name."""
    text = game.action_text(action)
    named = game.phase == PLAY and action < game.form.first_bid and short_text(text) in game.rules.deck.card_set.names
    return {"text": text, "card": action if named else None}


def _decision(game: Game, chosen: int | None, options: Sequence[Option]) -> list[dict[str, Any]]:
    return [{**one._asdict(), **_action(game, one.action), "chosen": one.action == chosen} for one in options]
