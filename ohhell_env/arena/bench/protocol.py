"""OhHell-Bench v1 as data: which tables, opponents, seats, deals and seeds make up each track.

A *cell* is a table, or some hand sizes of one, with fixed opponents. Its deals come in *waves*: the first waves are
the quick protocol, all waves are the full one. A *job* is a wave of a cell: it is played in one go, so
that a network meets batches of the same size whatever the number of processes.

Nothing here may change within a version. `pins` holds that; whoever changes a figure on purpose raises `VERSION`.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ohhell_env.arena.matches import deal_seeds, one_against_rest, rotations, tables_for
from ohhell_env.rules.cards import Deck
from ohhell_env.rules.presets import preset
from ohhell_env.rules.rules import Rules
from ohhell_env.rules.sample import SPLITS, random_rules

NAME = "OhHell-Bench"
VERSION = "v1"
WAVES = 8
QUICK_WAVES = 1
ZERO, HUNDRED = "random", "search:1000"
"""The players of the scale: the first has 0 in every track, the second 100."""
POLICY = "checkpoints/mix512"
OPPONENTS = ("heuristic", "search:100", POLICY)
MIXED = (*OPPONENTS, "random")

PLAYERS = (3, 4, 5, 6, 7)
SIZES = (1, 3, 5, 8, 10)  # cards, beside the largest hand of each number of players
CORE_DEALS = 1  # in a wave of a cell
MATCH_DEALS = 1
VARIANT_DEALS = 1
RANDOM_TABLES, RANDOM_DEALS = 3, 1  # of each split in a wave; deals at each
COOPERATION_DEALS = 4

# Hands of each preset: what is special in it, if anything, and some of the usual.
VARIANTS = {
    "oh_hell": "1,4,7",
    "up_and_down_the_river": "1,4,7",
    "oh_pshaw": "1,4,7",
    "blob": "1,4,7",
    "nomination_whist": "1,4,7",
    "seven_down": "1,4,7",
    "trickster": "1,4,7",
    "hassenpfeffer": "1,4,7",
    "old_heck": "1,4,7",
    "crazy_whist": "8 no trump,1,4",
    "seven_up_seven_down": "1,4,7",
    "mormon_bridge": "1,4,7",
    "pocha": "1,4,7",
    "oh_sh": "7 no trump,1,4",
    "penguin_whist": "1,4,7",
    "cooperative": "1,4,7",
}
COOPERATION = "1,3,5,8"

# Tables so small that best responses can be worked out exactly.
PACKS = {
    "8 cards, 1 each, sealed bids": ("AC KC QC AD KD QD AH KH", 1, "sealed"),
    "8 cards, 1 each, open bids": ("AC KC QC AD KD QD AH KH", 1, "open"),
    "6 cards, 2 each, open bids": ("AC KC QC AD KD QD", 2, "open"),
}

TRACKS = {
    "core": "3 to 7 players, one seat against a fixed opponent in all the others",
    "match": "full matches at four players in mixed company",
    "variants": "each preset, one seat against heuristic",
    "generalisation": "random tables, one seat against heuristic",
    "cooperation": "the cooperative table: with itself, and with each fixed partner",
    "exploitability": "what best responses gain at three tiny tables",
}
"""The tracks, and what each is."""
PLAYED = tuple(TRACKS)[:-1]  # the tracks that are played; exploitability is worked out


@dataclass(frozen=True)
class Cell:
    """One table, or some hand sizes of one, with fixed opponents.

    Attributes:
        track: its track.
        part: the figure of the track that it belongs to.
        name: tells it from all other cells.
        tables: (T,) rules of the matches that make up a deal, all for P players.
        others: the fixed players; in ``seats`` they are 1, 2, ..., and the player to measure is 0.
        seats: (R, P) who sits where: each deal is played in R seatings.
        deals: in each wave.
        waves: the waves that it has.
    """

    track: str
    part: str
    name: str
    tables: tuple[Rules, ...]
    others: tuple[str, ...]
    seats: tuple[tuple[int, ...], ...]
    deals: int
    waves: tuple[int, ...] = tuple(range(WAVES))

    @property
    def seed(self) -> int:
        """Seed of its deals and players; it depends on its name alone."""
        return int(hashlib.sha256(f"{NAME} {VERSION} {self.name}".encode()).hexdigest()[:12], 16)

    def seeds(self, wave: int) -> NDArray[np.int64]:
        """(D, T) seeds of the matches of a wave."""
        at = self.waves.index(wave) * self.deals
        return deal_seeds(self.seed, at + self.deals, len(self.tables))[at:]

    def to_json(self) -> dict[str, Any]:
        """Everything that its results depend on, but for the players' code."""
        return {
            "name": self.name,
            "tables": [table.to_json() for table in self.tables],
            "others": self.others,
            "seats": self.seats,
            "deals": self.deals,
            "waves": self.waves,
            "seed": self.seed,
        }


class Job(NamedTuple):
    """A wave of a cell."""

    cell: Cell
    wave: int

    @property
    def key(self) -> str:
        """``core, 4 players, ..., wave 0``: tells it from all other jobs."""
        return f"{self.cell.name}, wave {self.wave}"


def jobs(quick: bool = False, tracks: Sequence[str] = PLAYED) -> list[Job]:
    """What is to be played, wave by wave."""
    waves = range(QUICK_WAVES if quick else WAVES)
    return [Job(cell, wave) for wave in waves for cell in cells() if wave in cell.waves and cell.track in tracks]


@cache
def cells() -> tuple[Cell, ...]:
    """All cells of the protocol, track by track."""
    return (*_core(), *_match(), *_variants(), *_generalisation(), *_cooperation())


@cache
def by_name() -> dict[str, Cell]:
    """The cells by their names."""
    return {cell.name: cell for cell in cells()}


def packs() -> dict[str, Rules]:
    """The tiny tables of the track exploitability: three players, the hook."""
    return {name: Rules(3, (size,), bids=bids, deck=Deck.of(deck)) for name, (deck, size, bids) in PACKS.items()}


@cache
def signature() -> str:
    """SHA-256 of the protocol's data: tables, opponents, seats, deals, seeds, scale, tiny tables."""
    data = {
        "version": VERSION,
        "scale": [ZERO, HUNDRED],
        "cells": [cell.to_json() for cell in cells()],
        "packs": {name: rules.to_json() for name, rules in packs().items()},
    }
    return hashlib.sha256(json.dumps(data, sort_keys=True).encode()).hexdigest()


def first_wave() -> str:
    """SHA-256 of the cells of the first wave, whatever the number of waves: outcomes stay while it does."""
    cells_of_it = [{**cell.to_json(), "waves": ()} for cell in cells() if 0 in cell.waves]
    return hashlib.sha256(json.dumps(cells_of_it, sort_keys=True).encode()).hexdigest()


def _core() -> Iterator[Cell]:
    for players in PLAYERS:
        largest = Rules(players=players).peak
        sizes = sorted({size for size in (*SIZES, largest) if size <= largest})
        for bids in ("sealed", "open"):
            tables = tables_for(",".join(map(str, sizes)), Rules(players=players, bids=bids))
            for other in OPPONENTS:
                name = f"core, {players} players, {bids} bids, {other}"
                yield Cell("core", other, name, tables, (other,), _seats(one_against_rest(1, players)), CORE_DEALS)


def _match() -> Iterator[Cell]:
    for absent in MIXED:
        others = tuple(other for other in MIXED if other != absent)
        name = f"match, without {absent}"
        yield Cell("match", "", name, (Rules(),), others, _seats(rotations(range(4))), MATCH_DEALS)


def _variants() -> Iterator[Cell]:
    for name, hands in VARIANTS.items():
        tables = tables_for(hands, _dealt_once(preset(name)))
        seats = _seats(one_against_rest(1, tables[0].players))
        yield Cell("variants", "", f"variants, {name}", tables, ("heuristic",), seats, VARIANT_DEALS)


def _generalisation() -> Iterator[Cell]:
    for split in SPLITS:
        for number in range(RANDOM_TABLES * WAVES):
            rules = random_rules(number, split)
            seats = _seats(one_against_rest(1, rules.players))
            name = f"generalisation, {split} {number}"
            waves = (number // RANDOM_TABLES,)
            yield Cell("generalisation", split, name, (rules,), ("heuristic",), seats, RANDOM_DEALS, waves)


def _cooperation() -> Iterator[Cell]:
    tables = tables_for(COOPERATION, _dealt_once(preset("cooperative")))
    for partner in ("", "heuristic", "search:100"):
        seats = ((0, 1, 0, 1), (1, 0, 1, 0)) if partner else ((0, 0, 0, 0),)
        part, name = ("cross-play", f"cooperation, {partner}") if partner else ("self", "cooperation, itself")
        others = (partner,) if partner else ()
        yield Cell("cooperation", part, name, tables, others, seats, COOPERATION_DEALS)


def _dealt_once(rules: Rules) -> Rules:
    """At a cooperative table each hand is dealt once: what counts is whether all make their bids."""
    return replace(rules, attempts=1) if rules.cooperative else rules


def _seats(array: NDArray[np.int64]) -> tuple[tuple[int, ...], ...]:
    return tuple(tuple(int(seat) for seat in row) for row in array)
