"""A damaged or illegal record is refused with the line, the move and the reason; whatever is read is what it says."""

import copy
import json
import re
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from aec_play import SHORT, play, started

from ohhell_env import Rules
from ohhell_env.records.notation import RecordError, read_record, write_record
from ohhell_env.rules.cards import card_name


def sample() -> list[Any]:
    """The record of a finished match, two hands of two cards and one, as the lines' data."""
    env = started(Rules(ramp=(2, 1), players=3))
    play(env, 5)
    return [json.loads(line) for line in write_record(env.game).splitlines()]


def text_of(lines: list[Any]) -> str:
    return "".join(json.dumps(line) + "\n" for line in lines)


def set_to(line: int, key: str, value: Any) -> Callable[[list[Any]], None]:
    def damage(lines: list[Any]) -> None:
        lines[line - 1][key] = value

    return damage


def without(line: int, key: str) -> Callable[[list[Any]], None]:
    def damage(lines: list[Any]) -> None:
        del lines[line - 1][key]

    return damage


def swap_lines(lines: list[Any]) -> None:
    lines[1], lines[2] = lines[2], lines[1]


def rule(key: str, value: Any) -> Callable[[list[Any]], None]:
    def damage(lines: list[Any]) -> None:
        lines[0]["rules"][key] = value

    return damage


def swap_cards(lines: list[Any]) -> None:
    """A card of each of two hands changes place, so that one seat plays what it no longer holds."""
    one, other = (hand.split() for hand in lines[1]["deal"][:2])
    one[0], other[0] = other[0], one[0]
    lines[1]["deal"][:2] = [" ".join(one), " ".join(other)]


def duplicate_card(lines: list[Any]) -> None:
    card = lines[1]["deal"][0].split()[0]
    lines[1]["deal"][0] = f"{card} {card}"


def foreign_card(lines: list[Any]) -> None:
    lines[1]["deal"][0] = "1X " + lines[1]["deal"][0].split()[1]


def changed(key: str, place: int, value: Any, line: int = 2) -> Callable[[list[Any]], None]:
    def damage(lines: list[Any]) -> None:
        lines[line - 1][key][place] = value

    return damage


def hooked(lines: list[Any]) -> None:
    """The dealer, last to bid, makes the bids fit."""
    lines[1]["bids"] = [1, 0, 1]


def swap_plays(lines: list[Any]) -> None:
    first, second, third = lines[1]["tricks"][0].split()
    lines[1]["tricks"][0] = f"{second} {first} {third}"


def extra(key: str, value: Any) -> Callable[[list[Any]], None]:
    def damage(lines: list[Any]) -> None:
        lines[1][key].append(value)

    return damage


def unfinished(**last: Any) -> Callable[[list[Any]], None]:
    """The match stands after its first hand, and another line follows."""

    def damage(lines: list[Any]) -> None:
        lines[2:] = [last]

    return damage


WHOLE = " ".join(card_name(card) for card in range(52))
DAMAGE: dict[str, tuple[Callable[[list[Any]], None], str]] = {
    "another format": (set_to(1, "record", "chess"), r"line 1: not a record of format 'ohhell', version 1"),
    "another version": (set_to(1, "version", 2), r"line 1: not a record of format 'ohhell', version 1"),
    "no format": (without(1, "record"), r"line 1: not a record"),
    "no rules": (without(1, "rules"), r"line 1: rules: 'rules' is missing"),
    "no seed": (without(1, "seed"), r"line 1: seed: 'seed' is missing"),
    "negative seed": (set_to(1, "seed", -1), r"line 1: seed: seed=-1 is not allowed"),
    "seed in words": (set_to(1, "seed", "seven"), r"line 1: seed: seed='seven' is not allowed"),
    "rules of no kind": (set_to(1, "rules", 5), r"line 1: rules: "),
    "unknown option": (rule("jokers", 2), r"line 1: rules: unknown options \['jokers'\]; known are \['attempts'"),
    "too many players": (rule("players", 11), r"line 1: rules: players=11 is not allowed"),
    "unknown scoring": (rule("scoring", "golf"), r"line 1: rules: scoring='golf' is not known"),
    "scoring table too short": (rule("scoring", {"2": [[0]], "1": [[0, 0], [0, 0]]}), r"line 1: rules: scoring table"),
    "scoring table lacks a size": (rule("scoring", {"1": [[0, 0], [0, 0]]}), r"line 1: rules: scoring\(bid=0.*failed"),
    "other players": (rule("players", 4), r"line 2: deal: 4 hands of 2 cards are needed"),
    "other ramp": (rule("ramp", [3, 1]), r"line 2: size is 2, but must be 3"),
    "other scoring": (rule("scoring", "basic"), r"line 2: points is .*, but the cards played give"),
    "no trump after all": (rule("trump", "none"), r"line 2: turned is '..', but must be None"),
    "decks before a hand": (lambda lines: lines.insert(1, {"next_decks": []}), "line 2: next_decks stand behind"),
    "decks after the end": (lambda lines: lines.insert(3, {"next_decks": []}), "line 4: next_decks stand behind"),
    "decks and more": (unfinished(next_decks=[WHOLE], more=1), "line 3: more is not known; known are next_decks"),
    "a deck cut short": (unfinished(next_decks=[WHOLE[3:]]), r"line 3: next_decks: deals\[0\] is not a whole deck"),
    "decks of no kind": (unfinished(next_decks=7), "line 3: next_decks: deals=7 is not a list of decks"),
    "a hand after the decks": (
        lambda lines: lines.insert(2, {"next_decks": []}),
        "line 4: next_decks must be the last",
    ),
    "hands out of order": (swap_lines, r"line 2: hand is 2, but must be 1"),
    "wrong number": (set_to(2, "hand", 3), r"line 2: hand is 3, but must be 1"),
    "wrong size": (set_to(2, "size", 3), r"line 2: size is 3, but must be 2"),
    "no size": (without(2, "size"), r"line 2: size is None, but must be 2"),
    "dealer who is no seat": (set_to(2, "dealer", 3), r"line 2: deal: dealer 3 is not a seat"),
    "wrong second dealer": (set_to(3, "dealer", 0), r"line 3: dealer is 0, but must be 1"),
    "no dealer": (without(2, "dealer"), r"line 2: deal: 'dealer' is missing"),
    "no deal": (without(2, "deal"), r"line 2: deal: 'deal' is missing"),
    "deal of no kind": (set_to(2, "deal", 5), r"line 2: deal: "),
    "too few hands": (lambda lines: lines[1]["deal"].pop(), r"line 2: deal: 3 hands of 2 cards are needed"),
    "a hand too long": (changed("deal", 0, "2C 3C 4C"), r"line 2: deal: 3 hands of 2 cards are needed"),
    "cards swapped": (swap_cards, r"line 2, (card \d: action \d+ \(play ..\)|deal).*is not legal"),
    "card twice": (
        duplicate_card,
        r"line 2: deal: deals\[0\] is not a whole deck of 52 cards.*missing .., repeated ..",
    ),
    "foreign card": (foreign_card, r"line 2: deal: '1X' is not a card; a card is a rank"),
    "another card turned": (set_to(2, "turned", "2C"), r"line 2: deal: .*not a whole deck"),
    "no card turned": (set_to(2, "turned", None), r"line 2: deal: .*not a whole deck"),
    "turned missing": (without(2, "turned"), r"line 2: deal: 'turned' is missing"),
    "stock missing": (without(2, "stock"), r"line 2: deal: 'stock' is missing"),
    "stock short": (set_to(2, "stock", ""), r"line 2: deal: .*not a whole deck of 52 cards: 7 given, missing"),
    "bids missing": (without(2, "bids"), r"line 2: bids: 'bids' is missing"),
    "bids in words": (set_to(2, "bids", ["one", 0, 0]), r"line 2: bids: "),
    "bid too high": (changed("bids", 0, 3), r"line 2, bid 1: action 55 \(bid 3\) is not legal; player_1 bids now"),
    "negative bid": (changed("bids", 0, -1), r"line 2: bids: -1 is not allowed here"),
    "the hook": (hooked, r"line 2, bid 3: action 53 \(bid 1\) is not legal; player_0 bids now, allowed: bid 0, bid 2"),
    "too few bids": (lambda lines: lines[1]["bids"].pop(), r"line 2, card 1: .* is not legal; player_0 bids now"),
    "too many bids": (extra("bids", 1), r"line 2, bid 4: action 53 \(bid 1\) is not legal; player_1 plays now"),
    "tricks missing": (without(2, "tricks"), r"line 2: tricks: 'tricks' is missing"),
    "a trick that is no card": (changed("tricks", 0, "ZZ"), r"line 2: tricks: 'ZZ' is not a card"),
    "play out of turn": (swap_plays, r"line 2, card 1: action \d+ \(play ..\) is not legal; player_1 plays now"),
    "a card too many": (extra("tricks", "2C"), r"line 2, card 7: action 0 \(play 2C\) is not legal"),
    "a trick too few": (lambda lines: lines[1]["tricks"].pop(), r"line 2: taken is given, but hand 1 is not finished"),
    "wrong tricks taken": (set_to(2, "taken", [2, 2, 2]), r"line 2: taken is \[2, 2, 2\], but the cards played give"),
    "taken missing": (without(2, "taken"), r"line 2: taken is None, but the cards played give"),
    "wrong points": (set_to(2, "points", [9, 9, 9]), r"line 2: points is \[9, 9, 9\], but the cards played give"),
    "wrong totals": (set_to(3, "totals", [9, 9, 9]), r"line 3: totals is \[9, 9, 9\], but the cards played give"),
    "wrong result": (
        set_to(4, "result", {"totals": [1, 1, 1]}),
        r"line 4: the result is .*, but the cards played give",
    ),
    "result of no kind": (set_to(4, "result", 5), r"line 4: the result is 5, but the cards played give"),
    "an extra hand": (lambda lines: lines.append(lines[2]), r"line 5: a hand after the match's last, number 2"),
    "the same hand twice": (lambda lines: lines.insert(2, lines[1]), r"line 3: hand is 1, but must be 2"),
    "a hand missing": (lambda lines: lines.pop(1), r"line 2: hand is 2, but must be 1"),
    "result too early": (lambda lines: lines.pop(2), r"line 3: a result, but hand 1 of 2 is the last played"),
    "only a result": (lambda lines: lines.__delitem__(slice(1, 3)), r"line 2: a result, but hand 1 of 2 is the last"),
    "no head": (lambda lines: lines.pop(0), r"line 1: not a record of format 'ohhell', version 1"),
    "a line of no kind": (lambda lines: lines.insert(1, {}), r"line 2: hand is None, but must be 1"),
    "a list for a line": (lambda lines: lines.insert(1, []), r"line 2: '\[\]' is not a JSON object"),
    "a number for a line": (lambda lines: lines.insert(1, 5), r"line 2: '5' is not a JSON object"),
}


@pytest.mark.parametrize("name", DAMAGE)
def test_damage_is_refused_with_line_and_reason(name: str) -> None:
    damage, message = DAMAGE[name]
    lines = sample()
    read_record(text_of(lines))
    before = copy.deepcopy(lines)
    damage(lines)
    assert lines != before
    with pytest.raises(RecordError, match=message):
        read_record(text_of(lines))


# Damage that is let through, or that fails with another error than RecordError.
FOUND: dict[str, tuple[Callable[[list[Any]], None], str]] = {
    "bids with fractions": (
        lambda lines: set_to(2, "bids", [b + 0.5 for b in lines[1]["bids"]])(lines),
        r"line 2: bids",
    ),
    "bids in one string": (
        lambda lines: set_to(2, "bids", "".join(map(str, lines[1]["bids"])))(lines),
        r"line 2: bids",
    ),
    "bids in strings": (lambda lines: set_to(2, "bids", list(map(str, lines[1]["bids"])))(lines), r"line 2: bids"),
    "infinite bid": (changed("bids", 0, float("inf")), r"line 2: bids"),
    "bid of thirty digits": (changed("bids", 0, 10**30), r"line 2: bids"),
    "infinite dealer": (set_to(2, "dealer", float("inf")), r"line 2: de"),
    "infinite card": (set_to(2, "deal", [[float("inf")] * 2] * 3), r"line 2: deal"),
    "rules in an empty list": (set_to(1, "rules", []), r"line 1: rules"),
    "rules in an empty string": (set_to(1, "rules", ""), r"line 1: rules"),
    "tricks run together": (
        lambda lines: set_to(2, "tricks", [" ".join(lines[1]["tricks"])])(lines),
        r"line 2: tricks",
    ),
    "no result": (lambda lines: lines.pop(), r"line 3: .*result"),
    "two results": (lambda lines: lines.append(lines[-1]), r"line 5: .*result"),
    "an unknown key": (set_to(2, "claret", 5), r"line 2: .*claret"),
    "an unknown key in the head": (set_to(1, "claret", 5), r"line 1: .*claret"),
    "an option missing": (lambda lines: lines[0]["rules"].pop("hook"), r"line 1: rules: .*hook"),
    "claims for a hand that is not over": (
        lambda lines: (lines.__delitem__(slice(2, None)), lines[1]["tricks"].pop()),
        r"line 2: .*hand 1 is not (over|finished)",
    ),
}


@pytest.mark.parametrize("name", FOUND)
def test_damage_that_slipped_through_is_refused_with_line_and_reason(name: str) -> None:
    damage, message = FOUND[name]
    lines = sample()
    damage(lines)
    with pytest.raises(RecordError, match=message):
        read_record(text_of(lines))


def test_a_card_too_many_is_refused_because_the_hand_is_over() -> None:
    lines = sample()
    lines[1]["tricks"].append("2C")
    with pytest.raises(RecordError, match="the hand is over"):
        read_record(text_of(lines))


def test_a_record_that_ends_with_a_finished_hand_reads_back() -> None:
    text = text_of(sample()[:2])
    game = read_record(text)
    assert write_record(game) == text
    assert sum(type(event).__name__ == "HandDealt" for event in game.events()) == 1


def test_a_nest_of_brackets_is_refused() -> None:
    with pytest.raises(RecordError, match="line 1: JSON"):
        read_record("[" * 100_000)


@pytest.mark.parametrize("text", ["", "\n", "record", "null\n", "{", "[]\n", '"ohhell"\n', "\x00"])
def test_what_is_no_record_is_refused_on_its_first_line(text: str) -> None:
    with pytest.raises(RecordError, match="line 1: "):
        read_record(text)


def test_a_record_cut_anywhere_is_refused_or_the_match_up_to_there() -> None:
    lines = text_of(sample()).splitlines(keepends=True)
    text = "".join(lines)
    whole = {len("".join(lines[:k])) for k in range(1, 5)}
    for end in range(len(text)):
        if end in whole or end + 1 in whole:
            continue  # at the end of a line: a match that went on
        with pytest.raises(RecordError, match=f"line {text[:end].count(chr(10)) + 1}: "):
            read_record(text[:end])


def content(text: str) -> list[Any]:
    """What a record says, however its cards are spelt: 10d, td and TD are one card."""

    def plain(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: plain(one) for key, one in value.items()}
        if isinstance(value, list):
            return [plain(one) for one in value]
        return " ".join(value.upper().replace("10", "T").split()) if isinstance(value, str) else value

    return [plain(json.loads(line)) for line in text.splitlines()]


@pytest.mark.parametrize("decisions", [7, 11, None])
def test_a_record_with_one_character_changed_is_refused_or_read_as_what_it_now_says(decisions: int | None) -> None:
    env = started(Rules(players=3, ramp=(2, 1), deck=SHORT["short deck"].deck))
    play(env, 8, decisions)
    text = write_record(env.game)
    rng = np.random.default_rng(9)
    letters = "0123456789-.eE,: \n\"'[]{}ACDHSTJQKtruefalsn"
    refused = 0
    for at in range(len(text)):
        new = [letters[k] for k in rng.integers(0, len(letters), 4)]
        edits = ["", text[at] * 2, new[0], new[1], new[2] + text[at], new[3] + text[at]]
        for edited in (text[:at] + edit + text[at + 1 :] for edit in edits):
            try:
                game = read_record(edited)
            except RecordError as error:
                refused += 1
                assert re.match(r"line [1-5](, (bid|card) \d+)?: ", str(error))
            else:
                assert content(write_record(game)) == content(edited)
    assert 0.8 < refused / (6 * len(text)) < 1


ODD = [None, True, 5, -1, 1.5, float("inf"), float("nan"), "", "x", "0", "2C", [], [0], ["2C"], {}, {"a": 1}, 10**30]


def places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Every place in a record's data: what holds it, and its key there."""
    keys = value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    for key in keys:
        yield value, key
        yield from places(value[key])


def test_a_record_with_any_one_value_replaced_is_refused_or_read_as_what_it_now_says() -> None:
    lines = sample()
    for holder, key in places(lines):
        value = holder[key]
        for odd in ODD:
            holder[key] = odd
            text = text_of(lines)
            try:
                game = read_record(text)
            except RecordError:
                continue
            assert content(write_record(game)) == content(text)
        holder[key] = value
