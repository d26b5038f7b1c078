"""A study: the same tables, bots and deals for every participant, in an order of their own, under anonymous codes.

A file in TOML says what is played::

    title = "Bids against a trained player"
    consent = "You play three short matches. Your actions and their times are kept under a code, and nothing else."
    participants = 20
    order = "shuffled"        # or "fixed"; shuffled: by the participant's number, the same at every start
    aids = false              # whether hints, taking back and the search of mistakes are offered
    wait = 120                # seconds until a bot takes the seat of somebody who is away; 0, the default: never
    stand_in = "heuristic"    # that bot

    [[tables]]
    preset = "oh_hell"
    players = ["person", "checkpoints/mix512", "heuristic", "heuristic"]
    changes = ["ramp=4..1"]   # optional
    seed = 7                  # of the deals, the same for everybody
    mistakes = true           # optional, with aids: one's own mistakes are shown after each hand

    [[tables]]
    preset = "oh_hell"
    players = ["person", "person", "heuristic"]
    seed = 8

A table of one person is a participant's own: number k of participant P07 is ``P07-k.jsonl`` in the study's folder, k
being the table's number in the file. A table of several people is filled in the order in which participants come to
it: ``G01-k.jsonl`` is its first group's. Its play begins when everybody has come, or when bots have taken the seats of
those who have not come for ``wait`` seconds; whoever leaves later is replaced in the same way, and may take the seat
back. Records name participants by their codes, and those whose seat a bot took over ``P07 (then heuristic)``.

``participants.json`` holds each code's token, whether they have agreed, and where they sit at tables of several people;
names are never asked for, and participants do not see each other's codes.
"""

from __future__ import annotations

import json
import os
import random
import secrets
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ohhell_env.files import write_whole
from ohhell_env.web.table import PERSON, TOKEN_BYTES

MAX_PARTICIPANTS = 2000
ORDERS = ("fixed", "shuffled")
_FIELDS: dict[str, type] = {
    "title": str,
    "consent": str,
    "participants": int,
    "order": str,
    "aids": bool,
    "wait": int,
    "stand_in": str,
    "tables": list,
}


@dataclass(frozen=True)
class Plan:
    """What a study's file says.

    Attributes:
        title, consent: texts for the participants.
        participants: how many.
        order: "fixed" or "shuffled".
        aids: whether hints, taking back and the search of mistakes are offered.
        wait: seconds until a bot takes the seat of somebody who is away; 0 for never.
        stand_in: that bot.
        tables: requests for tables, as the first page makes them.
    """

    title: str
    consent: str
    participants: int
    order: str
    aids: bool
    wait: int
    stand_in: str
    tables: tuple[dict[str, Any], ...]

    @property
    def bots(self) -> list[str]:
        """The bots that the file names."""
        return sorted({player for table in self.tables for player in table["players"]} - {PERSON} | {self.stand_in})


def load_plan(path: Path) -> Plan:
    """Read a study's file.

    Raises:
        ValueError: saying what is missing or not allowed.
    """
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ValueError(f"the study {path} cannot be read: {error.strerror}") from None
    except ValueError as error:
        raise ValueError(f"the study {path} is not TOML: {error}") from None
    data = {"order": "fixed", "aids": False, "wait": 0, "stand_in": "heuristic", **data}
    for name, kind in _FIELDS.items():
        if type(data.get(name)) is not kind:
            raise ValueError(f"the study {path} needs {name}, a {kind.__name__}")
    if unknown := set(data) - set(_FIELDS):
        raise ValueError(f"the study {path} has unknown fields: {', '.join(sorted(unknown))}")
    if not 1 <= data["participants"] <= MAX_PARTICIPANTS:
        raise ValueError(f"participants={data['participants']} is not allowed; use 1 to {MAX_PARTICIPANTS}")
    if data["order"] not in ORDERS:
        raise ValueError(f"order={data['order']!r} is not allowed; use one of {', '.join(ORDERS)}")
    if data["wait"] < 0:
        raise ValueError(f"wait={data['wait']} is not allowed; use a number of seconds, or 0 for no end")
    if not data["tables"]:
        raise ValueError(f"the study {path} has no tables")
    for number, table in enumerate(data["tables"], start=1):
        if not isinstance(table, dict) or not isinstance(table.get("players"), list) or "seed" not in table:
            raise ValueError(f"table {number} of the study needs preset, players and seed")
        if not 1 <= table["players"].count(PERSON) <= data["participants"]:
            raise ValueError(f"table {number} of the study needs 1 to {data['participants']} of {PERSON}")
    return Plan(**{**data, "tables": tuple(data["tables"])})


class Study:
    """A study's participants, kept in its folder.

    Args:
        plan: what the file says.
        folder: where the participants and their tables are kept; made if need be.
    """

    def __init__(self, plan: Plan, folder: Path) -> None:
        self.plan = plan
        self._path = folder / "participants.json"
        folder.mkdir(parents=True, exist_ok=True)
        known = json.loads(self._path.read_text(encoding="utf-8")) if self._path.exists() else {}
        width = max(2, len(str(plan.participants)))
        codes = [f"P{number:0{width}}" for number in range(1, plan.participants + 1)]
        self.participants: dict[str, dict[str, Any]] = known | {
            code: {"token": secrets.token_urlsafe(TOKEN_BYTES), "agreed": False} for code in codes if code not in known
        }
        self.save()

    def save(self) -> None:
        """Write the participants' file."""
        write_whole(self._path, json.dumps(self.participants, indent=1) + "\n")
        os.chmod(self._path, 0o600)  # it holds the tokens

    def code_of(self, token: str) -> str | None:
        """The participant whose token it is."""
        return next((code for code, one in self.participants.items() if one["token"] == token), None)

    def agree(self, code: str) -> None:
        """A participant agrees to take part."""
        self.participants[code]["agreed"] = True
        self.save()

    def order(self, code: str) -> Sequence[int]:
        """The numbers of the tables, from 1, in the order in which a participant plays them."""
        numbers = list(range(1, len(self.plan.tables) + 1))
        if self.plan.order == "shuffled":
            random.Random(f"{self.plan.title} {code}").shuffle(numbers)
        return numbers

    def place(self, code: str, number: int) -> tuple[str, int | None] | None:
        """The name of a participant's table ``number``, and the seat where it is a group's; None before that."""
        if self._people_at(number) == 1:
            return f"{code}-{number}", None
        known = self.participants[code].get("places", {}).get(str(number))
        return None if known is None else (str(known[0]), int(known[1]))

    def take_place(self, code: str, number: int, table: str, seat: int) -> None:
        """Keep where a participant sits at a table of several people."""
        if self._people_at(number) > 1:
            self.participants[code].setdefault("places", {})[str(number)] = [table, seat]
            self.save()

    def groups(self, number: int) -> list[str]:
        """The names of the groups at table ``number``, in the order in which they were formed."""
        places = [one.get("places", {}).get(str(number)) for one in self.participants.values()]
        return sorted({place[0] for place in places if place is not None})

    def new_group(self, number: int) -> str:
        """The name of the next group at table ``number``."""
        width = max(2, len(str(self.plan.participants)))
        return f"G{len(self.groups(number)) + 1:0{width}}-{number}"

    def _people_at(self, number: int) -> int:
        return int(self.plan.tables[number - 1]["players"].count(PERSON))
