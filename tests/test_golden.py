"""Golden files: short matches that read like a game, and a signature of the whole behaviour. See make_golden.py."""

from __future__ import annotations

import json

import pytest
from make_golden import GOLDEN, signature, trace
from tables import PLAYERS


@pytest.mark.parametrize("players", PLAYERS)
def test_a_short_match_reads_as_it_always_did(players: int) -> None:
    assert trace(players) == (GOLDEN / f"match_{players}_players.txt").read_text(encoding="utf-8")


@pytest.mark.parametrize("players", PLAYERS)
def test_ten_thousand_matches_go_as_they_always_did(players: int) -> None:
    assert signature(players) == json.loads((GOLDEN / "signature.json").read_text())[str(players)]
