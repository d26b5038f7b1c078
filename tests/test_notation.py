"""A record reads back as the very match that it was written from, at every point of it."""

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from aec_play import SHORT, TABLES, over, play, record_of, started

from ohhell_env import Rules, Simulator
from ohhell_env.records.notation import RecordError, load_record, read_record, save_record, write_record
from ohhell_env.rules.scoring import TabulatedScoring
from ohhell_env.table.game import Game
from ohhell_env.table.text import table_text

SCORED = {
    "fractions": Rules(ramp=(2, 1, 2), scoring=lambda bid, taken, hand_size: (bid - taken) / 3 + 0.1),
    "negative": Rules(players=3, ramp=(3,), scoring=lambda bid, taken, hand_size: -abs(bid - taken)),
}


def fields(game: Game) -> dict[str, list[Any]]:
    return record_of(np.array([game._game]))


def assert_reads_back(game: Game) -> None:
    text = write_record(game)
    read = read_record(text)
    assert write_record(read) == text
    assert fields(read) == fields(game), "the deck, the random stream and all"
    assert list(map(fields, read.past_hands)) == list(map(fields, game.past_hands))
    assert read.events() == game.events() and table_text(read) == table_text(game)
    assert read.rules.to_json() == game.rules.to_json()
    assert (read.scores, read.win_shares, read.seed) == (game.scores, game.win_shares, game.seed)


# --- Round trips -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [*SHORT, *SCORED])
def test_a_match_reads_back_as_it_stands_after_every_move(name: str) -> None:
    env = started({**SHORT, **SCORED}[name])
    rng = np.random.default_rng(1)
    assert_reads_back(env.game)
    while not over(env):
        play(env, rng, 1)
        assert_reads_back(env.game)


@pytest.mark.parametrize("name", TABLES)
def test_whole_matches_read_back_and_so_does_any_part(name: str) -> None:
    rng = np.random.default_rng(2)
    env = started(TABLES[name], seed=2**63 - 1)
    while not over(env):
        assert_reads_back(env.game)
        play(env, rng, int(rng.integers(1, 400)))
    assert_reads_back(env.game)


def test_a_match_from_given_decks_and_another_dealer_reads_back() -> None:
    env = started(Rules(ramp=(3, 2, 1)))
    env.reset(seed=1, options={"deals": [range(52), range(51, -1, -1)], "dealer": 2})
    for _ in range(5):
        assert_reads_back(env.game)
        play(env, 1, 9)
    assert read_record(write_record(env.game)).past_hands[0].dealer == 2


def test_the_first_hand_of_a_simulators_game_can_be_written() -> None:
    simulator = Simulator(Rules(ramp=(3, 2)), 5, seed=1)
    simulator.play_random(9)
    for game in map(simulator.__getitem__, range(5)):
        assert_reads_back(game)
    simulator.play_random(9)
    with pytest.raises(ValueError, match="the finished hands before hand 2 were not kept"):
        write_record(simulator[3])


def test_a_record_is_lines_of_json_that_a_person_can_read() -> None:
    env = started(Rules(ramp=(2, 1)))
    env.reset(seed=7, options={"deals": [range(52)]})
    play(env, 3)
    head, first, second, result = map(json.loads, write_record(env.game).splitlines())
    assert head == {"record": "ohhell", "version": 1, "rules": env.rules.to_json(), "seed": 7}
    assert first["deal"] == ["5C 9C", "2C 6C", "3C 7C", "4C 8C"] and first["turned"] == "TC"
    assert first["stock"].startswith("JC QC KC AC 2D") and first["stock"].endswith("AS")
    assert list(first) == [
        *["hand", "size", "dealer", "deal", "turned", "stock", "bids", "tricks", "taken", "points", "totals"]
    ]
    assert first["bids"] == [env.game.past_hands[0].bids[seat] for seat in (1, 2, 3, 0)]
    assert second["totals"] == result["result"]["totals"] == list(env.game.scores)
    assert result["result"]["win_shares"] == list(env.game.win_shares)


def test_a_scoring_without_a_name_is_written_out_and_read_as_its_table() -> None:
    env = started(SCORED["fractions"])
    play(env, 1)
    scoring = read_record(write_record(env.game)).rules.scoring
    assert isinstance(scoring, TabulatedScoring)
    assert scoring(2, 1, 2) == 1 / 3 + 0.1


# --- Files -------------------------------------------------------------------------------------------------------


def test_a_record_is_saved_and_loaded(tmp_path: Path) -> None:
    env = started(Rules(ramp=(2, 1)))
    play(env, 1)
    path = tmp_path / "match.jsonl"
    for given in (path, str(path)):
        save_record(env.game, given)
        assert path.read_text(encoding="utf-8") == write_record(env.game)
        assert fields(load_record(given)) == fields(env.game)
    assert [file.name for file in tmp_path.iterdir()] == ["match.jsonl"]


@pytest.mark.parametrize("crash", ["write", "replace"])
def test_a_crash_while_saving_leaves_the_old_record(tmp_path: Path, monkeypatch: Any, crash: str) -> None:
    env = started(Rules(ramp=(2, 1)))
    path = tmp_path / "match.jsonl"
    save_record(env.game, path)
    old = path.read_text(encoding="utf-8")
    play(env, 1)

    def half_written(self: Path, content: bytes) -> int:
        with self.open("wb") as file:
            file.write(content[: len(content) // 2])
        raise OSError("no space left on device")

    def refused(*arguments: Any) -> None:
        raise OSError("no space left on device")

    with monkeypatch.context() as patch, pytest.raises(OSError, match="no space left"):
        patch.setattr(Path, "write_bytes", half_written) if crash == "write" else patch.setattr(os, "replace", refused)
        save_record(env.game, path)
    assert path.read_text(encoding="utf-8") == old
    save_record(env.game, path)
    assert fields(load_record(path)) == fields(env.game), "what a crash left behind is in nobody's way"


def test_a_file_that_is_no_text_is_refused_as_a_record(tmp_path: Path) -> None:
    path = tmp_path / "match.jsonl"
    path.write_bytes(b'{"record": "\xff\xfe"}\n')
    with pytest.raises(RecordError, match="line 1"):
        load_record(path)
