"""Tournaments: mixed tables, ratings, folders that lose nothing that was played."""

from __future__ import annotations

import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import arena_bots
import numpy as np
import pytest
from arena_bots import shown

from ohhell_env.arena import tournament as tournament_command
from ohhell_env.arena.matches import ArenaError
from ohhell_env.arena.standings import Standings, ratings
from ohhell_env.arena.tables import print_standings
from ohhell_env.arena.tournament import line_ups, schedule, tournament
from ohhell_env.bots.policy.bot import META, WEIGHTS


def rated(folder: Path, *contestants: str, **options: Any) -> Standings:
    options = {"players": 3, "hands": "2,4", "deals": 40, "make": arena_bots.make, **options}
    return tournament(contestants or ("random", "lowest", "boaster", "random"), folder, **options)


@pytest.mark.parametrize(("contestants", "players"), [(2, 3), (2, 4), (3, 4), (3, 7), (5, 4), (6, 3), (8, 7)])
def test_tournament_tables_are_mixed_and_everybody_meets_the_others_equally_often(
    contestants: int, players: int
) -> None:
    tables = line_ups(contestants, players)
    assert {len(set(table)) for table in tables} == {min(contestants, players)}
    assert len(set(Counter(k for table in tables for k in table).values())) == 1
    meetings = Counter((a, b) for table in tables for a in set(table) for b in set(table) if a < b)
    assert len(meetings) == contestants * (contestants - 1) // 2
    assert len(set(meetings.values())) == 1


def test_every_deal_of_a_tournament_has_its_table_in_all_rotations() -> None:
    seats = schedule(5, 4, 30, seed=1)
    for deal in seats:
        assert {frozenset(Counter(column).items()) for column in deal.T.tolist()} == {
            frozenset(Counter(deal[0].tolist()).items())
        }
    assert np.array_equal(seats[:10], schedule(5, 4, 10, seed=1))
    assert not np.array_equal(seats, schedule(5, 4, 30, seed=2))


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tournament")
    rated(folder)
    return folder


def standings_in(folder: Path) -> bytes:
    return (folder / "standings.json").read_bytes()


def test_the_better_player_has_the_better_rating(tmp_path: Path) -> None:
    standings = rated(tmp_path, "boaster", "random", "lowest", hands="5,6", deals=60)
    assert standings.players[-1].name == "boaster"
    assert standings.players[0].rating - standings.players[-1].rating > 2 * standings.players[0].deviation
    assert standings.differences["random", "boaster"].low > 0
    assert standings.differences["boaster", "random"].high < 0
    seats = sum(player.matches for player in standings.players)
    assert seats == 60 * 3 * 2 * 3  # deals, rotations, hand sizes, seats
    assert sum(player.above.mean * player.matches for player in standings.players) == pytest.approx(0, abs=1e-9)
    assert sum(player.wins.mean * player.matches for player in standings.players) == pytest.approx(seats / 3)


def test_ratings_follow_the_order_of_each_match() -> None:
    seats = np.tile([[[0, 1, 2]]], (50, 1, 1))
    first, second, third = ratings(seats, np.tile([[[[30.0, 20.0, 10.0]]]], (50, 1, 1, 1)), 3)
    assert first[0] > second[0] > third[0]
    assert max(first[1], second[1], third[1]) < 25 / 3
    level = ratings(seats, np.ones((50, 1, 1, 3)), 3)
    assert len({round(mean, 9) for mean, _ in level}) == 1


def test_a_torn_line_is_dropped_and_its_deal_played_again(finished: Path, tmp_path: Path) -> None:
    folder = tmp_path / "torn"
    shutil.copytree(finished, folder)
    lines = (folder / "results.jsonl").read_bytes().splitlines(keepends=True)
    (folder / "results.jsonl").write_bytes(b"".join(lines[:23]) + lines[23][:50])
    (folder / "standings.json").unlink()
    told: list[tuple[int, str]] = []
    played: list[int] = []
    rated(folder, on_start=lambda done, repaired: told.append((done, repaired)), on_progress=played.append)
    assert told == [(23, "results.jsonl: the last line was torn; its deal is played again")]
    assert sum(played) == 17
    assert standings_in(folder) == standings_in(finished)
    assert sorted((folder / "results.jsonl").read_bytes().splitlines(keepends=True)) == sorted(lines)


def test_a_stopped_run_keeps_what_was_played(finished: Path, tmp_path: Path) -> None:
    def stop(deals: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        rated(tmp_path, on_progress=stop)
    kept = len((tmp_path / "results.jsonl").read_text().splitlines())
    assert 0 < kept < 40
    played: list[int] = []
    rated(tmp_path, on_progress=played.append)
    assert sum(played) == 40 - kept
    assert standings_in(tmp_path) == standings_in(finished)


def test_neither_workers_nor_the_order_of_results_matter(finished: Path, tmp_path: Path) -> None:
    rated(tmp_path / "workers", workers=2)
    assert standings_in(tmp_path / "workers") == standings_in(finished)
    shutil.copytree(finished, tmp_path / "shuffled")
    results = tmp_path / "shuffled" / "results.jsonl"
    results.write_text("".join(reversed(results.read_text().splitlines(keepends=True))))
    rated(tmp_path / "shuffled")
    assert standings_in(tmp_path / "shuffled") == standings_in(finished)


def test_a_folder_of_another_tournament_is_refused_with_what_differs(finished: Path) -> None:
    with pytest.raises(ArenaError, match="another tournament: deals is 40 there, 50 here; seed is 0 there, 3 here"):
        rated(finished, deals=50, seed=3)
    with pytest.raises(ArenaError, match=r"contestants is \[.*\] there, \[\"random\", \"lowest\"\] here"):
        rated(finished, "random", "lowest")


def test_a_damaged_line_in_the_middle_is_refused(finished: Path, tmp_path: Path) -> None:
    shutil.copytree(finished, tmp_path / "damaged")
    results = tmp_path / "damaged" / "results.jsonl"
    lines = results.read_text().splitlines(keepends=True)
    results.write_text("".join([lines[0], lines[1].replace('"deal"', '"meal"'), *lines[2:]]))
    with pytest.raises(ArenaError, match="line 2 is damaged"):
        rated(tmp_path / "damaged")


def test_an_unknown_player_leaves_no_folder_behind(tmp_path: Path) -> None:
    with pytest.raises(ArenaError, match="'nobody' is not known"):
        rated(tmp_path / "new", "random", "nobody")
    with pytest.raises(ArenaError, match="a tournament has 2 to 30"):
        rated(tmp_path / "new", "random")
    assert not (tmp_path / "new").exists()


def test_a_checkpoint_that_has_changed_is_another_player(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("lowest").mkdir()
    Path("lowest", META).write_text("{}")
    Path("lowest", WEIGHTS).write_text("1")
    rated(tmp_path / "out", "random", "lowest", deals=4)
    rated(tmp_path / "out", "random", "lowest", deals=4)
    Path("lowest", WEIGHTS).write_text("2")
    with pytest.raises(ArenaError, match="another tournament: contents is"):
        rated(tmp_path / "out", "random", "lowest", deals=4)


def test_the_standings_show_every_table_within_100_columns(finished: Path) -> None:
    text = shown(rated(finished), print_standings)
    for title in ("Tournament", "Standings", "rating", "above table", "Points per hand, row minus column", "random #2"):
        assert title in text
    assert max(map(len, text.splitlines())) <= 100


def test_the_tournament_command_goes_on_where_it_was(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["random", "random", "--players", "3", "--hands", "1", "--deals", "4", "--out", str(tmp_path)]
    assert tournament_command.main(arguments) == 0
    assert tournament_command.main(arguments) == 0
    assert "4 of 4 deals are in" in capsys.readouterr().err
    assert (tmp_path / "standings.png").read_bytes().startswith(b"\x89PNG")
    assert tournament_command.main([*arguments, "--seed", "5"]) == 2
    assert "seed is 0 there, 5 here" in capsys.readouterr().err
