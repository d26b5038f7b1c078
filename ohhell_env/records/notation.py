"""The record of a match as text, JSON lines: written from a game's finished hands, read back by playing it again.

The first line names the rules and the seed. Each hand's line has the cards of each seat in the order received, the card
turned up, the rest of the stock, the bids in the order made, the tricks in the order played, and what came of it. A
finished match ends with its result. A record holds all cards: it is the whole table's, not one seat's.

At tables of the wide form the bids hold everything said before the play, in order: a bid as a number, "pass", "nil",
"blind 3", and the trump named as "hearts" or "no trump"; a hand in which a joker led without trump also says, trick by
trick, which suit was named. A hand dealt again is another line with the same number.

Where decks were uploaded for hands still to come, the last line of an unfinished match lists them: ``next_decks``,
the next hand's first, each in the order dealt; an empty list where an upload went back to the shuffle.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from ohhell_env.files import write_whole
from ohhell_env.kernel import rulebook
from ohhell_env.kernel.state import (
    BLIND,
    HAND_OVER,
    MATCH_OVER,
    NAME_SUIT,
    NAME_TRUMP,
    PASS_OR_NIL,
    PLAY,
    WIDE_FIRST_SUIT,
    WIDE_PASS,
    check_seed,
    compile_rules,
    form_of,
    later_decks,
    parse_decks,
)
from ohhell_env.rules.cards import SUIT_NAMES, CardSet, card_name, parse_card, parse_cards
from ohhell_env.rules.ramps import DRAWN, RANDOM
from ohhell_env.rules.rules import Rules
from ohhell_env.table.game import Game, illegal_action_text

FORMAT = "ohhell"
VERSION = 1
_HAND_KEYS = ("hand", "size", "dealer", "deal", "turned", "stock", "bids", "tricks")
_CLAIMS = ("taken", "points", "totals")  # what a finished hand's line says came of it
_NAMED = "named"  # suits named for jokers, where there are any
_NEXT_DECKS = "next_decks"  # uploaded for the hands to come
_SUIT_WORDS = (*SUIT_NAMES, "no trump")
Value = TypeVar("Value")
Watch = Callable[[NDArray[np.void], int | None], None]


class RecordError(ValueError):
    """A record is damaged or holds an illegal move; the message says on which line and at which move."""


class CutOffError(RecordError):
    """A record's last line is cut short, as by a copy that was broken off.

    Attributes:
        finished: how many hands are whole before it.
    """

    def __init__(self, lines: list[str]) -> None:
        text = lines[-1]
        hand = re.match(r'\{"hand": (\d+),', text)
        where = f"hand {hand[1]}" if hand else "the result" if text.startswith('{"res') else "a line"
        super().__init__(f"line {len(lines)}: the record ends in the middle of {where}")
        self.finished = sum('"totals": ' in line for line in lines[1:-1])


def write_record(game: Game, next_decks: Sequence[Sequence[int]] | None = None) -> str:
    """A match as text, as far as it has been played; from a game whose finished hands were kept.

    Args:
        game: the table as it stands.
        next_decks: decks of card numbers, in the order dealt, that were uploaded for the hands to come; None: those
            hands are dealt as the rules say.
    """
    hands = game.hands_so_far
    if hands[0].hand_number != 1:
        raise ValueError(f"the finished hands before hand {game.hand_number} were not kept; record an AEC environment")
    lines: list[dict[str, Any]] = [
        {"record": FORMAT, "version": VERSION, "rules": game.rules.to_json(), "seed": game.seed},
        *(_hand_line(hand) for hand in hands),
    ]
    if game.phase == MATCH_OVER:
        lines.append({"result": {"totals": game.scores, "win_shares": game.win_shares}})
    elif next_decks is not None:
        lines.append({_NEXT_DECKS: [_names(deck, game.rules.deck.card_set) for deck in next_decks]})
    return "".join(json.dumps(line) + "\n" for line in lines)


def save_record(game: Game, path: str | Path, next_decks: Sequence[Sequence[int]] | None = None) -> None:
    """Write a match's record to a file, whole or not at all; see `write_record`."""
    write_whole(path, write_record(game, next_decks))


def load_record(path: str | Path, watch: Watch | None = None, finished: bool = False) -> Game:
    """Read a file written by `save_record`; see `read_record`."""
    return read_record(_text(path), watch, finished)


def load_unfinished(path: str | Path) -> tuple[Game, tuple[tuple[int, ...], ...] | None]:
    """As `load_record`, for a match that goes on: the game, and the uploaded decks as `write_record` takes them."""
    replay = _read(_text(path), None, False)
    return replay.game, replay.next_decks


def read_record(text: str, watch: Watch | None = None, finished: bool = False) -> Game:
    """Play a record again and return the table as it stood at the record's end, with its finished hands.

    Args:
        text: the record.
        watch: called after each deal, with None, and after each move, with its action; before that with a copy of the
            game as it then stands, a (1,) array of `ohhell_env.kernel.state.GAME`.
        finished: read the finished hands only; a last line that is cut short, or a hand that is not over, is left out.

    Raises:
        CutOffError: if the last line is cut short, and ``finished`` is not asked for.
        RecordError: if a line is damaged, a move is not legal, or a result is not what the rules make of the moves.
    """
    return _read(text, watch, finished).game


def _text(path: str | Path) -> str:
    data = Path(path).read_bytes()
    return _checked(1, "text", lambda: data.decode("utf-8"))


def _read(text: str, watch: Watch | None, finished: bool) -> _Replay:
    """The match of a record, played again."""
    lines = text.splitlines()
    if cut_off := _cut_off(text, lines):
        if not finished:
            raise cut_off
        lines.pop()
    elif finished:
        _leave_out_unfinished(lines)
    if not lines:
        raise RecordError("line 1: the record is empty")
    head = _parse(1, lines[0])
    if head.get("record") != FORMAT or head.get("version") != VERSION:
        raise RecordError(f"line 1: not a record of format {FORMAT!r}, version {VERSION}")
    _check_keys(1, head, ("record", "version", "rules", "seed"))
    rules = _checked(1, "rules", lambda: _rules(head["rules"]))
    replay = _Replay(rules, _checked(1, "seed", lambda: check_seed(head["seed"])), watch)
    for number, line in enumerate(lines[1:], start=2):
        data = _parse(number, line)
        if replay.next_decks is not None:
            raise RecordError(f"line {number}: {_NEXT_DECKS} must be the last line")
        if _NEXT_DECKS in data:
            _check_keys(number, data, (_NEXT_DECKS,))
            replay.take_next_decks(number, data[_NEXT_DECKS])
        elif "result" in data:
            _check_keys(number, data, ("result",))
            replay.check_result(number, data["result"])
        else:
            replay.hand(number, data)
    if replay.game.phase == MATCH_OVER and not replay.ended and not finished:
        raise RecordError(f"line {len(lines)}: the match is over, but its result is missing")
    return replay


def _leave_out_unfinished(lines: list[str]) -> None:
    """Remove what follows the last finished hand."""
    for key in (_NEXT_DECKS, "hand"):
        if len(lines) > 1:
            last = _parse(len(lines), lines[-1])
            if key in last and "totals" not in last:
                lines.pop()


def _cut_off(text: str, lines: list[str]) -> CutOffError | None:
    """The error to raise where the last line is the beginning of a line: no line break ends it, and it is no JSON."""
    if not lines or text.endswith("\n"):
        return None
    try:
        json.loads(lines[-1])
    except RecursionError:  # a nest of brackets: damaged otherwise
        return None
    except ValueError:
        return CutOffError(lines)
    return None


class _Replay:
    """A match played again, line by line."""

    def __init__(self, rules: Rules, seed: int, watch: Watch | None) -> None:
        self.rules = rules
        self.seed = seed
        self.watch = watch or (lambda games, action: None)
        self.form = form_of((rules,))
        self.games: NDArray[np.void] = np.zeros(1, dtype=self.form.game)
        self.tables = compile_rules((rules,), self.form)
        self.past: list[NDArray[np.void]] = []
        self.started = self.ended = False
        self.next_decks: tuple[tuple[int, ...], ...] | None = None

    @property
    def game(self) -> Game:
        return Game(self.games[0], self.rules, self.past)

    def hand(self, line: int, data: dict[str, Any]) -> None:
        """Deal and play one hand."""
        _check_keys(line, data, _HAND_KEYS, (*_CLAIMS, _NAMED))
        record, table = self.games[0], self.tables[0]
        if self.started and record["phase"] != HAND_OVER and record["phase"] != MATCH_OVER:
            raise RecordError(f"line {line}: another hand begins, but hand {self.game.hand_number} is not finished")
        number = self.game.hand_number + (not self.game.failed) if self.started else 1
        if record["phase"] == MATCH_OVER:
            raise RecordError(f"line {line}: a hand after the match's last, number {self.rules.num_hands}")
        if not _same(data.get("hand"), number):
            raise RecordError(f"line {line}: hand is {data.get('hand')!r}, but must be {number}")
        size = self._size(line, data, number)
        deck = _checked(line, "deal", lambda: self._deck(data, size))
        decks = np.zeros((number, deck.shape[1]), dtype=np.int8)
        decks[number - 1] = deck[0]
        if self.started:
            rulebook.deal_on(record, table, decks)
        else:
            rulebook.start_match(record, table, decks, self.seed, data["dealer"])
            self.started = True
        for key, value in (("dealer", self.game.dealer), ("size", self.game.hand_size)):
            if data.get(key) != value:
                raise RecordError(f"line {line}: {key} is {data.get(key)!r}, but must be {value!r}")
        self.watch(self.games.copy(), None)
        self._moves(line, data)

    def _size(self, line: int, data: dict[str, Any], number: int) -> int:
        """The hand's size; where chance decides it, one that may come, which the deal then checks."""
        size, peak = data.get("size"), self.rules.peak
        if self.rules.ramp in (RANDOM, DRAWN):
            if isinstance(size, bool) or not isinstance(size, int) or not 1 <= size <= peak:
                raise RecordError(f"line {line}: size is {size!r}, but must be from 1 to {peak}")
            return size
        wanted = self.rules.hand_sizes[number - 1]
        if not _same(size, wanted):
            raise RecordError(f"line {line}: size is {size!r}, but must be {wanted}")
        return wanted

    def _deck(self, data: dict[str, Any], size: int) -> NDArray[np.int8]:
        players, card_set = self.rules.players, self.rules.deck.card_set
        hands = [parse_cards(hand, card_set) for hand in data["deal"]]
        if len(hands) != players or any(len(hand) != size for hand in hands):
            raise ValueError(f"{players} hands of {size} cards are needed")
        dealer = _whole(data["dealer"])
        if not 0 <= dealer < players:
            raise ValueError(f"dealer {dealer} is not a seat")
        order = [hands[(dealer + 1 + k) % players][trick] for trick in range(size) for k in range(players)]
        if data["turned"] is not None:
            order.append(parse_card(data["turned"], card_set))
        return parse_decks([order + parse_cards(data["stock"], card_set)], (self.rules,))

    def _moves(self, line: int, data: dict[str, Any]) -> None:
        record, table = self.games[0], self.tables[0]
        card_set = self.rules.deck.card_set
        calls = _checked(line, "bids", lambda: list(data["bids"]))
        cards = _checked(
            line, "tricks", lambda: [card for trick in data["tricks"] for card in parse_cards(trick, card_set)]
        )
        named = _checked(line, _NAMED, lambda: list(data.get(_NAMED, ())))
        said = played = 0
        while True:
            trick = int(record["num_plays"]) // self.rules.players
            if record["phase"] == NAME_SUIT and trick < len(named):
                what = f"trick {trick + 1}'s suit"
                action = _checked(line, what, partial(_suit_action, named[trick]))
            elif said < len(calls):
                action = _checked(line, "bids", partial(self._call, calls[said]))
                said += 1
                what = f"bid {said}"
            elif played < len(cards):
                card = cards[played]
                played += 1
                what = f"card {played}"
                action = self.game.play_action(card) if record["phase"] == PLAY else card
            else:
                break
            if not rulebook.is_legal(record, action):
                raise RecordError(f"line {line}, {what}: {illegal_action_text(self.game, action)}")
            rulebook.apply(record, table, action)
            self.watch(self.games.copy(), action)
        for key, value, wanted in (
            ("turned", data["turned"], _name(self.game.turned, card_set)),
            (_NAMED, named, _named(self.game)),
        ):
            if value != wanted:
                raise RecordError(f"line {line}: {key} is {value!r}, but must be {wanted!r}")
        game = self.game
        tricks = _tricks(game)
        if data["tricks"] != tricks:
            raise RecordError(f"line {line}: tricks are {data['tricks']!r}, but must be written as {tricks}")
        if record["phase"] != HAND_OVER:
            if claims := [key for key in _CLAIMS if key in data]:
                raise RecordError(f"line {line}: {claims[0]} is given, but hand {game.hand_number} is not finished")
            return
        self.past.append(self.games.copy()[0])
        for key, value in (("taken", game.taken), ("points", game.points), ("totals", game.scores)):
            if not _same(data.get(key), list(value)):
                raise RecordError(f"line {line}: {key} is {data.get(key)!r}, but the cards played give {list(value)}")
        if rulebook.is_last_hand(record, table):
            rulebook.deal_on(record, table, np.zeros((0, 1), dtype=np.int8))

    def _call(self, word: Any) -> int:
        """The action behind what a record says before the play."""
        phase = self.game.phase
        if phase == NAME_TRUMP:
            return _suit_action(word)
        if phase in (BLIND, PASS_OR_NIL) and word == "pass":
            return WIDE_PASS
        if phase == PASS_OR_NIL and word == "nil":
            return self.form.first_bid
        if phase == BLIND and isinstance(word, str) and word.startswith("blind "):
            return self.form.first_bid + int(word.removeprefix("blind "))
        bid = _whole(word)
        if phase in (BLIND, PASS_OR_NIL) or not 0 <= bid < self.form.num_bids:
            raise ValueError(f"{word!r} is not allowed here")
        return self.form.first_bid + bid

    def take_next_decks(self, line: int, decks: Any) -> None:
        """Decks that were uploaded for the hands to come."""
        if not self.started or self.game.phase == MATCH_OVER:
            raise RecordError(f"line {line}: {_NEXT_DECKS} stand behind the hands of a match that is not over")
        number = int(self.games[0]["hand"]) + 1
        before: NDArray[np.int8] = np.zeros((0, self.form.cards), dtype=np.int8)
        later = _checked(line, _NEXT_DECKS, lambda: later_decks(before, decks, self.rules, number))
        size = len(self.rules.deck)
        self.next_decks = tuple(tuple(deck[:size]) for deck in later[number:].tolist())

    def check_result(self, line: int, result: Any) -> None:
        """The last line must say what the match's cards say."""
        game = self.game
        if self.ended:
            raise RecordError(f"line {line}: a second result")
        self.ended = True
        if game.phase != MATCH_OVER:
            raise RecordError(
                f"line {line}: a result, but hand {game.hand_number} of {game.num_hands} is the last played"
            )
        wanted = {"totals": list(game.scores), "win_shares": list(game.win_shares)}
        if not _same(result, wanted):
            raise RecordError(f"line {line}: the result is {result!r}, but the cards played give {wanted}")


def _hand_line(hand: Game) -> dict[str, Any]:
    card_set = hand.rules.deck.card_set
    order, stock = hand.deal_order
    seats = [(hand.dealer + 1 + k) % hand.players for k in range(hand.players)]
    received = {seat: order[k :: hand.players] for k, seat in enumerate(seats)}
    line: dict[str, Any] = {
        "hand": hand.hand_number,
        "size": hand.hand_size,
        "dealer": hand.dealer,
        "deal": [_names(received[seat], card_set) for seat in range(hand.players)],
        "turned": _name(hand.turned, card_set),
        "stock": _names(stock, card_set),
        "bids": [_word(phase, action, hand) for phase, action in hand.calls],
        "tricks": _tricks(hand),
    }
    if named := _named(hand):
        line[_NAMED] = named
    if hand.phase in (HAND_OVER, MATCH_OVER):
        line |= {"taken": hand.taken, "points": hand.points, "totals": hand.scores}
    return line


def _word(phase: int, action: int, hand: Game) -> int | str:
    """How a record writes what is said before the play."""
    if phase == NAME_TRUMP:
        return _SUIT_WORDS[action - WIDE_FIRST_SUIT]
    if phase in (BLIND, PASS_OR_NIL) and action == WIDE_PASS:
        return "pass"
    bid = action - hand.form.first_bid
    return {BLIND: f"blind {bid}", PASS_OR_NIL: "nil"}.get(phase, bid)


def _suit_action(word: Any) -> int:
    if word not in _SUIT_WORDS:
        raise ValueError(f"{word!r} is not a suit; use one of {', '.join(_SUIT_WORDS)}")
    return WIDE_FIRST_SUIT + _SUIT_WORDS.index(word)


def _named(hand: Game) -> list[str | None]:
    """The suits named for jokers, a place for each trick begun; empty where none was."""
    suits = [*(trick.named for trick in hand.tricks), *([hand.named_suit] if hand.trick else [])]
    return [] if all(suit is None for suit in suits) else [None if s is None else _SUIT_WORDS[s] for s in suits]


def _tricks(hand: Game) -> list[str]:
    tricks = [*(trick.plays for trick in hand.tricks), hand.trick]
    return [_names((card for _, card in plays), hand.rules.deck.card_set) for plays in tricks if plays]


def _rules(data: Any) -> Rules:
    rules = Rules.from_json(data)
    needed = {name for name, option in Rules.__dataclass_fields__.items() if not option.metadata.get("late")}
    if missing := sorted(needed - set(data)):
        raise ValueError(f"{', '.join(missing)} is missing")
    return rules


def _whole(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or abs(value) > 10**6:
        raise ValueError(f"{value!r} is not a whole number that is allowed here")
    return value


def _same(value: Any, wanted: Any) -> bool:
    """Equal as JSON: true is not 1, and what is not a number or a list of numbers equals nothing."""
    return json.dumps(value) == json.dumps(wanted) or (
        not isinstance(value, (bool, str)) and isinstance(value, type(wanted)) and value == wanted
    )


def _check_keys(line: int, data: dict[str, Any], needed: tuple[str, ...], allowed: tuple[str, ...] = ()) -> None:
    if unknown := sorted(set(data) - set(needed) - set(allowed)):
        raise RecordError(f"line {line}: {', '.join(unknown)} is not known; known are {', '.join(needed + allowed)}")


def _names(cards: Iterable[int], card_set: CardSet) -> str:
    return " ".join(card_name(card, card_set) for card in cards)


def _name(card: int | None, card_set: CardSet) -> str | None:
    return None if card is None else card_name(card, card_set)


def _parse(line: int, text: str) -> dict[str, Any]:
    data = _checked(line, "JSON", lambda: json.loads(text))
    if not isinstance(data, dict):
        raise RecordError(f"line {line}: {text[:40]!r} is not a JSON object")
    return data


def _checked(line: int, what: str, read: Callable[[], Value]) -> Value:
    """A value read from a line; whatever is wrong with it is reported with the line's number."""
    try:
        return read()
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError) as error:
        missing = f"{error} is missing" if isinstance(error, KeyError) else str(error)
        raise RecordError(f"line {line}: {what}: {missing}") from error
