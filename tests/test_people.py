"""People and bots compared from records: the figures are those of the hands, and one match is one observation."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from ohhell_env import Rules
from ohhell_env.arena.evaluate import main
from ohhell_env.arena.people import tallies
from ohhell_env.kernel.state import MATCH_OVER
from ohhell_env.options import UsageError
from ohhell_env.records.match import Match, Seating, save_match
from ohhell_env.table.game import Game

RULES = Rules(players=3, ramp=(3, 2, 1))


def played(path: Path, seed: int, person: int = 0, actions: int = 10**6) -> Game:
    match, rng = Match(RULES, seed), np.random.default_rng(seed)
    while match.game.phase != MATCH_OVER and actions:
        match.step(int(rng.choice(match.game.legal_actions)))
        actions -= 1
    players = ["heuristic"] * 3
    players[person] = "you"
    save_match(match, Seating(tuple(players), person, 0), path)
    return match.game


def test_the_figures_are_those_of_the_hands(tmp_path: Path) -> None:
    games = [played(tmp_path / f"P01-{k}.jsonl", k, person=k - 1) for k in (1, 2, 3)]
    found = tallies(tmp_path)
    assert set(found) == {"P01", "heuristic"}
    own = [[hand.points[k] for hand in game.past_hands] for k, game in enumerate(games)]
    assert found["P01"].points == [sum(points) for points in own]
    assert found["P01"].hands == [3, 3, 3] and found["heuristic"].hands == [6, 6, 6], "one observation for each match"
    made = [sum(hand.bids[k] == hand.taken[k] for hand in game.past_hands) for k, game in enumerate(games)]
    assert found["P01"].made == made
    figures = found["P01"].estimates()
    assert figures["points"].mean == pytest.approx(sum(map(sum, own)) / 9) and figures["points"].n == 3
    assert figures["made"].mean == pytest.approx(sum(made) / 9)


def test_a_match_broken_off_counts_with_its_finished_hands(tmp_path: Path) -> None:
    played(tmp_path / "one.jsonl", 1, actions=3 + 9 + 2)
    played(tmp_path / "none.jsonl", 2, actions=3)
    assert tallies(tmp_path)["person"].hands == [1]


def test_mistakes_are_the_reviews(tmp_path: Path) -> None:
    played(tmp_path / "one.jsonl", 1)
    found = tallies(tmp_path, rollouts=50)
    assert sum(found["person"].mistakes) + sum(found["heuristic"].mistakes) > 0, "random play makes some"
    assert all((lost > 0) == (count > 0) for one in found.values() for lost, count in zip(one.lost, one.mistakes))


def test_the_command_prints_a_row_for_each_player(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    game = played(tmp_path / "one.jsonl", 1)
    assert main(["--records", str(tmp_path)]) == 0
    out = capsys.readouterr().out
    row = next(line for line in out.splitlines() if line.strip().startswith("person"))
    assert f"{sum(hand.points[0] for hand in game.past_hands) / 3:.2f}" in row


def test_a_folder_without_records_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(UsageError, match="holds no record"):
        tallies(tmp_path)
    assert main(["--records", str(tmp_path)]) == 2
    played(tmp_path / "one.jsonl", 1)
    text = (tmp_path / "one.jsonl").read_text()
    (tmp_path / "one.jsonl").write_text(text.replace('"hand": 2', '"hand": 3'))
    assert main(["--records", str(tmp_path)]) == 2
    assert "line 3: hand is 3, but must be 2" in capsys.readouterr().err
