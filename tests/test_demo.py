"""The demonstration: who plays in it, and that one command prints the table."""

import pytest

from training import demo


def test_without_a_shipped_checkpoint_the_players_that_need_no_training_play(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(demo, "best_shipped", lambda: None)
    assert demo.contestants(100) == ["search:100", "heuristic", "random"]


def test_a_shipped_checkpoint_plays_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(demo, "best_shipped", lambda: "checkpoints/strong")
    assert demo.contestants(100) == ["checkpoints/strong", "search:100", "heuristic", "random"]


def test_the_table_shows_every_player_and_how_to_read_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(demo, "best_shipped", lambda: None)
    assert demo.main(["--deals", "2", "--rollouts", "1", "--workers", "1"]) == 0
    printed = capsys.readouterr().out
    assert all(text in printed for text in ("search:1 ", "heuristic", "random", "Standings", "How to read it"))
    assert "nan" not in printed
