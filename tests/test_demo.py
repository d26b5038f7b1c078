"""The demonstration: who plays in it, and that one command prints the table."""

import io

import pytest
from rich.console import Console

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
    assert printed.index("One hand first") < printed.index("Standings") < printed.index("What to try next")
    assert "…" not in printed


def test_the_hand_that_is_shown_is_the_one_that_was_played() -> None:
    hand = demo.played_hand(["random", "heuristic"], 3)
    console = Console(width=100, record=True, file=io.StringIO())
    console.print(demo.hand_table(hand, ["random", "heuristic"]))
    lines = console.export_text().splitlines()
    assert max(map(len, lines)) <= 100
    rows = [line.split() for line in lines if line.strip().startswith(("random", "heuristic"))]
    order = [(hand.dealer + k) % 4 for k in range(1, 5)]
    assert [int(row[-2]) for row in rows] == [hand.taken[seat] for seat in order]
    assert [float(row[-1]) for row in rows] == [hand.points[seat] for seat in order]
    assert [row.count("◂") for row in rows] == [hand.taken[seat] for seat in order]
