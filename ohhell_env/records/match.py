"""One match played decision by decision: started or resumed from its record, with its finished hands kept."""

from __future__ import annotations

import json
import secrets
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ohhell_env.files import write_whole
from ohhell_env.kernel import rulebook
from ohhell_env.kernel.state import check_seed, compile_rules, form_of, later_decks, parse_decks
from ohhell_env.records.notation import load_unfinished, save_record
from ohhell_env.rules.rules import Rules
from ohhell_env.table.game import Game, illegal_action_text


class Match:
    """A match that bots can look at (`bots.base.Tables`) and that keeps its finished hands.

    Args:
        rules: the table's rules.
        seed: of the deals, 0..2**63-1; a random one by default.

    Attributes:
        games, tables: arrays of one game's and one table's record, as `state.Form` says.
    """

    def __init__(self, rules: Rules, seed: int | None = None) -> None:
        self.rules = rules
        self.tables = compile_rules((rules,))
        self.games: NDArray[np.void] = np.zeros(1, dtype=form_of((rules,)).game)
        self._past: list[Any] = []
        self._decks = parse_decks((), (rules,))
        seed = secrets.randbits(63) if seed is None else check_seed(seed)
        rulebook.start_match(self.games[0], self.tables[0], self._decks, seed, self.tables[0]["first_dealer"])

    @classmethod
    def load(cls, path: str | Path) -> Match:
        """The match of a record, as it stood when the record was written.

        The hands to come are those of its seed, or of the decks that were uploaded for them.

        Raises:
            RecordError: if the record is damaged.
        """
        game, next_decks = load_unfinished(path)
        match = cls(game.rules, game.seed)
        match.games[0] = game._game
        match._past = list(game._past)
        if next_decks is not None:
            match.upload_decks(next_decks)
        return match

    def copy(self) -> Match:
        """The match as it stands now; what happens to one of the two does not change the other."""
        other = Match.__new__(Match)
        other.rules, other.tables, other._decks = self.rules, self.tables, self._decks
        other.games, other._past = self.games.copy(), list(self._past)
        return other

    @property
    def game(self) -> Game:
        """The table as it stands, with the match's finished hands."""
        return Game(self.games[0], self.rules, self._past)

    def upload_decks(self, decks: Any) -> None:
        """Decks in place of the shuffle from the next deal on (online table, "Allow deck upload").

        Each is a whole deck of names or numbers, in the order dealt; none: the shuffle again.

        Raises:
            ValueError: if a deck is not the table's whole deck, or the match is cooperative.
        """
        self._decks = later_decks(self._decks, decks, self.rules, int(self.games["hand"][0]) + 1)

    @property
    def next_decks(self) -> list[list[int]] | None:
        """The decks of the hands to come, where an upload has changed them; as `notation.write_record` takes them."""
        first, size = int(self.games["hand"][0]) + 1, len(self.rules.deck)
        as_the_rules_say = parse_decks((), (self.rules,))[first:]
        decks = self._decks[first:]
        return None if np.array_equal(decks, as_the_rules_say) else decks[:, :size].tolist()

    def step(self, action: int) -> bool:
        """Take an action for the seat to act; after a hand's last one the next hand is dealt. Whether a hand ended.

        Raises:
            ValueError: if the action is not legal, saying what is; nothing has then changed.
        """
        record, table = self.games[0], self.tables[0]
        if self.game.player is None or action not in self.game.legal_actions:
            raise ValueError(illegal_action_text(self.game, action))
        finished = np.zeros_like(self.games)
        if not rulebook.step(record, table, action, self._decks, 0, None, 0, finished):
            return False
        self._past.append(finished[0])
        return True


@dataclass(frozen=True)
class Seating:
    """Who plays a match: the spec of each seat's bot, the person's seat or None, and the seed of the bots."""

    players: tuple[str, ...]
    person: int | None
    seed: int


def seating_path(record: Path) -> Path:
    """Where a match's seating stands beside its record."""
    return record.with_name(record.name + ".players")


def seat_names(record: Path, players: int) -> list[str] | None:
    """The players' names for people, from the file beside a record; None where there is no such file.

    Raises:
        ValueError: if the file is for another number of players.
    """
    if not seating_path(record).exists():
        return None
    seating = load_seating(record, players)
    return display_names(seating.players, seating.person)


def save_match(match: Match, seating: Seating, record: Path) -> None:
    """Write a match's record, and beside it who plays; each file whole or not at all."""
    save_record(match.game, record, match.next_decks)
    write_whole(seating_path(record), json.dumps(asdict(seating)) + "\n")


def load_seating(record: Path, players: int) -> Seating:
    """Who plays the match of a record.

    Raises:
        ValueError: if the file beside the record is missing or is not one that `save_match` wrote for these players.
    """
    path = seating_path(record)
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        seating = Seating(tuple(map(str, data["players"])), data["person"], int(data["seed"]))
        if len(seating.players) != players or seating.person not in (None, *range(players)):
            raise ValueError(f"it is not for {players} players")
    except FileNotFoundError:
        raise ValueError(f"{path} is missing: it says who plays the match of {record.name}") from None
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(f"{path} does not say who plays the match of {record.name}: {error}") from None
    return seating


def display_names(specs: Sequence[str], person: int | None = None) -> list[str]:
    """Names of the players for people: short, and numbered where two would be alike; the person is "you"."""
    short = [spec.rstrip("/").rpartition("/")[2] if ":" not in spec else spec for spec in specs]
    others = [name for seat, name in enumerate(short) if seat != person]
    names, seen = [], dict.fromkeys(others, 0)
    for seat, name in enumerate(short):
        if seat == person:
            names.append("you")
            continue
        seen[name] += 1
        names.append(f"{name} {seen[name]}" if others.count(name) > 1 else name)
    return names
