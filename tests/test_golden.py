"""Golden files: short matches that read like a game, and a signature of the whole behaviour. See make_golden.py."""

from __future__ import annotations

import json

import pytest
from make_golden import GOLDEN, STORIES, TABLES, signature, trace


@pytest.mark.parametrize("name", STORIES)
def test_a_short_match_reads_as_it_always_did(name: str) -> None:
    assert trace(STORIES[name]) == (GOLDEN / f"match_{name}.txt").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", TABLES)
def test_matches_go_as_they_always_did(name: str) -> None:
    assert signature(name) == json.loads((GOLDEN / "signature.json").read_text(encoding="utf-8"))[name]
