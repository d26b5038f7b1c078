"""All tables of a server: opened, found again by their links, and put to rest when nobody is there.

Every table is on the disk after each action, so only tables that somebody is at need memory. The others are known by
their links alone, and are read from their files when a link is opened: an unfinished match goes on, a finished one can
be looked at and replayed.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from anyio import CapacityLimiter, to_thread

from ohhell_env.notice import say
from ohhell_env.records.replay import load_replay
from ohhell_env.records.review import Review, review
from ohhell_env.render.replay_html import replay_page
from ohhell_env.rules.cards import DECKS
from ohhell_env.rules.presets import PRESETS
from ohhell_env.rules.rules import Rules
from ohhell_env.rules.scoring import SCORINGS
from ohhell_env.rules.typed import rules_named
from ohhell_env.table.game import TABLE_VIEWER
from ohhell_env.web.live import LiveTable, Service
from ohhell_env.web.study import Study
from ohhell_env.web.table import PERSON, Table, clean_name

MAX_AWAKE = 2000  # tables in memory
REST_SECONDS = 120.0  # after which a table without anybody there leaves memory
MAX_REPLAYS = 16  # replay pages that are kept
REVIEW_ROLLOUTS = 100
_ENDING = ".table.json"
# Options that a page may change: all but decks given card by card, which would tell the cards.
_CHANGEABLE = set(Rules.__dataclass_fields__) - {"players", "deals"}
_FIELDS = {"preset": str, "players": list, "changes": list, "name": str, "seed": int, "mistakes": bool}


@dataclass
class Entry:
    """A table as the hall knows it: its file, whether the match is over, and the table itself while it is awake."""

    path: Path  # of ID.table.json
    over: bool = False
    live: LiveTable | None = None
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)  # one wakes it, or puts it to rest, at a time


class Hall:
    """All tables of a server.

    Args:
        folder: where the tables' files are.
        bots: the bots that people may seat.
        adviser: the checkpoint that hints ask, or None.
        threads: how many bots may think at once.
        study: the study for which the tables are, or None where everybody may open tables.
    """

    def __init__(
        self, folder: Path, bots: Sequence[str], adviser: str | None, threads: int = 2, study: Study | None = None
    ) -> None:
        self.folder, self.bots, self.study = folder, tuple(bots), study
        self.service = Service(adviser, CapacityLimiter(threads))
        if study is not None:
            plan = study.plan
            self.service.aids, self.service.wait, self.service.stand_in = plan.aids, plan.wait, plan.stand_in
        self.entries: dict[str, Entry] = {}  # by the table's id
        self.doors: dict[str, tuple[str, int | str]] = {}  # token -> id and viewer
        self._replays: dict[tuple[str, int | None, bool], str] = {}
        self._opening = asyncio.Lock()
        folder.mkdir(parents=True, exist_ok=True)
        for path in sorted(folder.glob(f"*{_ENDING}")):
            try:
                self._know(path)
            except (KeyError, TypeError, AttributeError, ValueError, OSError) as error:
                say(f"left out: {path} is not a table: {error}")

    @property
    def tables(self) -> list[LiveTable]:
        """The tables in memory, in the order in which they became known."""
        return [entry.live for entry in self.entries.values() if entry.live is not None]

    # --- Doors ---------------------------------------------------------------------------------------------------

    def _know(self, path: Path) -> None:
        """Learn a table's links from its file."""
        data = json.loads(path.read_text(encoding="utf-8"))
        name = path.name.removesuffix(_ENDING)
        tokens = [str(chair["token"]) for chair in data["chairs"]]
        self._open_doors(name, Entry(path, bool(data.get("over"))), tokens, str(data["watch"]))

    def _open_doors(self, name: str, entry: Entry, tokens: Sequence[str], watch: str) -> None:
        self.entries[name] = entry
        self.doors.update({token: (name, seat) for seat, token in enumerate(tokens) if token})
        self.doors[watch] = name, TABLE_VIEWER

    async def enter(self, token: str) -> tuple[LiveTable, int | str] | None:
        """The table that a link opens, read from its files if it rests, and who opens it; None for no table.

        Raises:
            ValueError: if the table's files are damaged, or there is no room.
        """
        if token not in self.doors:
            return None
        name, viewer = self.doors[token]
        return await self.awake(name), viewer

    async def awake(self, name: str) -> LiveTable:
        """A known table, in memory; it stays there for `REST_SECONDS` at least."""
        entry = self.entries[name]
        async with entry.lock:
            if entry.live is None:
                await self._make_room()
                entry.live = LiveTable(await to_thread.run_sync(Table.load, entry.path), self.service)
            entry.live.used = time.monotonic()
            return entry.live

    async def _make_room(self) -> None:
        if len(self.tables) >= MAX_AWAKE:
            await self.rest(0.0)
        if len(self.tables) >= MAX_AWAKE:
            raise ValueError(f"this server is full: people play at {MAX_AWAKE} tables")

    async def rest(self, seconds: float = REST_SECONDS) -> None:
        """Take tables out of memory that nobody has been at for so long; their links open them again."""
        for entry in list(self.entries.values()):
            live = entry.live
            if live is None or entry.lock.locked():
                continue
            async with entry.lock:
                if not live.clients and not live.busy and time.monotonic() - live.used >= seconds:
                    await live.stop()
                    entry.live, entry.over = None, live.table.over

    async def keep_house(self) -> None:
        """Put tables to rest, for as long as the server runs."""
        while True:
            await asyncio.sleep(REST_SECONDS / 4)
            await self.rest()

    # --- New tables ----------------------------------------------------------------------------------------------

    async def open(self, request: Any, name: str | None = None) -> Table:
        """A new table, as a page or a study asks for it.

        Args:
            request: see `read_request`.
            name: names its files; a new one without.

        Raises:
            ValueError: saying what of it cannot be.
        """
        rules, players = read_request(request, self.bots)
        await self._make_room()
        table = await to_thread.run_sync(lambda: _opened(self.folder, rules, players, request.get("seed"), name))
        table.review = request.get("mistakes", False)
        table.chairs[table.people[0]].name = clean_name(request.get("name", ""))
        if self.study is not None:
            table.awaited = set(table.people) if len(table.people) > 1 else set()
        await to_thread.run_sync(table.save)
        live = LiveTable(table, self.service)
        live.prepare()
        entry = Entry(table.path.with_name(f"{table.id}{_ENDING}"), live=live)
        self._open_doors(table.id, entry, [chair.token for chair in table.chairs], table.watch)
        return table

    # --- Studies -------------------------------------------------------------------------------------------------

    async def next_of(self, code: str) -> str | None:
        """The address of the table that a participant of the study plays now, opened if need be; None after the last.

        Raises:
            ValueError: if the study names a table that cannot be.
        """
        assert self.study is not None
        async with self._opening:  # two clicks open one table
            for number in self.study.order(code):
                place = self.study.place(code, number)
                if place is not None and place[0] in self.entries and self._is_over(place[0]):
                    continue
                table = await self._seated(code, number)
                seat = next(seat for seat, chair in enumerate(table.chairs) if chair.code == code)
                if not table.over:
                    return f"/t/{table.chairs[seat].token}"
        return None

    async def _seated(self, code: str, number: int) -> Table:
        """The study's table ``number`` with a participant seated: theirs, a group's with a free seat, or a new one."""
        assert self.study is not None
        study, request = self.study, self.study.plan.tables[number - 1]
        place = study.place(code, number)
        groups = [place[0]] if place is not None else study.groups(number)
        for name in groups:
            if name not in self.entries:
                continue
            table = (await self.awake(name)).table
            if any(chair.code == code for chair in table.chairs):
                return table
            free = [seat for seat in table.people if not table.chairs[seat].code]
            if free:
                await self._seat(table, free[0], code, number)
                return table
        table = await self.open(request, place[0] if place is not None else study.new_group(number))
        await self._seat(table, table.people[0], code, number)
        return table

    async def _seat(self, table: Table, seat: int, code: str, number: int) -> None:
        assert self.study is not None
        table.chairs[seat].code = code
        await to_thread.run_sync(table.save)
        self.study.take_place(code, number, table.id, seat)

    def _is_over(self, name: str) -> bool:
        entry = self.entries[name]
        return entry.over if entry.live is None else entry.live.table.over

    def done_by(self, code: str) -> int:
        """How many tables of the study a participant has finished."""
        assert self.study is not None
        places = [self.study.place(code, number) for number in self.study.order(code)]
        return sum(place is not None and place[0] in self.entries and self._is_over(place[0]) for place in places)

    # --- Replays -------------------------------------------------------------------------------------------------

    async def replay(self, live: LiveTable, seat: int | None, searched: bool) -> str:
        """The replay page of a finished match, as a seat names the players; ``searched`` with everybody's mistakes."""
        key = live.table.id, seat, searched
        if key not in self._replays:
            page = await to_thread.run_sync(_replay, live.table, seat, searched, limiter=self.service.threads)
            self._replays[key] = page
            while len(self._replays) > MAX_REPLAYS:
                del self._replays[next(iter(self._replays))]
        return self._replays[key]


def _replay(table: Table, seat: int | None, searched: bool) -> str:
    replay = load_replay(table.path)
    opinions = review(replay, rollouts=REVIEW_ROLLOUTS) if searched else Review()
    return replay_page(replay, "the match just played", table.names(seat), opinions)


def _opened(folder: Path, rules: Rules, players: list[str], seed: int | None, name: str | None) -> Table:
    """A new table whose compiled functions are ready: a hand is played on a copy."""
    table = Table.open(folder, rules, players, seed, name)
    match = table.match.copy()
    while match.game.player is not None and not match.step(match.game.legal_actions[0]):
        pass
    return table


def read_request(request: Any, bots: Sequence[str]) -> tuple[Rules, list[str]]:
    """The rules and players of a table that a page asks for: presets with changes, and bots of the list only.

    Raises:
        ValueError: saying what of it cannot be.
    """
    if not isinstance(request, dict) or set(request) - set(_FIELDS) or not {"preset", "players"} <= set(request):
        raise ValueError(f"a table is asked for with {', '.join(_FIELDS)}")
    for name, value in request.items():
        if type(value) is not _FIELDS[name]:
            raise ValueError(f"{name} is not a {_FIELDS[name].__name__}")
    players = request["players"]
    if not all(isinstance(player, str) and player in (PERSON, *bots) for player in players):
        raise ValueError(f"players are {PERSON} or one of {', '.join(bots)}")
    if request["preset"] not in PRESETS:
        raise ValueError(f"there is no preset {request['preset']!r}")
    changes = request.get("changes", [])
    for change in changes:
        option, _, value = change.partition("=") if isinstance(change, str) else ("", "", "")
        allowed: dict[str, Any] = {"scoring": SCORINGS, "deck": DECKS}
        if option not in _CHANGEABLE or (option in allowed and value not in allowed[option]):
            raise ValueError(f"{change!r} cannot be asked for here")
    return rules_named(request["preset"], len(players), changes), players
