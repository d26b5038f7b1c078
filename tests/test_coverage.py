"""What random tables cover, counted, and how far players are apart on them."""

from __future__ import annotations

import pytest

from ohhell_env import Rules, preset
from ohhell_env.arena.coverage import features, main, shares, spreads
from ohhell_env.rules.sample import random_rules


def test_features_are_what_a_table_has() -> None:
    assert features(Rules()) >= {
        "4 players",
        "deck standard 52",
        "trump turned",
        "bids sealed",
        "hook",
        "largest hand 13",
    }
    assert features(preset("penguin_whist")) >= {"own cards hidden", "sort_hands"}
    assert features(preset("oh_sh")) >= {"jokers", "no trump hand", "must_trump"}
    assert features(Rules(scoring="negative", trump=("spades", "none"))) >= {"lowest wins", "trump sequence"}
    assert shares([Rules(), Rules(players=5)])["hook"] == 1 and shares([Rules(), Rules(players=5)])["5 players"] == 0.5


def test_the_heuristic_is_ahead_of_random_where_the_lowest_total_wins_too() -> None:
    lowest = next(seed for seed in range(100) if random_rules(seed).lowest)
    found = spreads("heuristic", "random", "train", max(lowest + 1, 3), 12)
    assert [one.seed for one in found] == list(range(len(found)))
    assert all(one.margin.mean > 0 for one in found)
    assert random_rules(found[lowest].seed).lowest and found[lowest].margin.low > 0


def test_the_command_draws_a_picture_and_says_what_it_measured(tmp_path, capsys) -> None:  # type: ignore[no-untyped-def]
    pytest.importorskip("matplotlib")
    out = tmp_path / "tables.png"
    assert main(["--tables", "5", "--measured", "2", "--deals", "4", "--out", str(out)]) == 0
    assert out.read_bytes().startswith(b"\x89PNG")
    assert capsys.readouterr().out.count("heuristic against random") == 3
