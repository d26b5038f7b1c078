"""A table that runs: one task plays it on, bots think in threads, and everybody connected is told what they may see."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from anyio import CapacityLimiter, to_thread

from ohhell_env.records.advice import policy_chances, searched_points
from ohhell_env.records.match import display_names
from ohhell_env.table.game import TABLE_VIEWER
from ohhell_env.table.refusal import refusal
from ohhell_env.web.messages import SPEEDS, MessageError, seat_kinds, table_message
from ohhell_env.web.table import PERSON, Table, clean_name

QUEUE = 64  # messages that wait for a slow client before it is cut off
TRICK_PAUSE = 2.0  # how much longer a finished trick stays than a card
HINT_ROLLOUTS = 1000

log = logging.getLogger("ohhell_env.web")


class Client:
    """Somebody connected to a table: a seat's person, or a spectator.

    Attributes:
        viewer: the seat, or "table".
        told: how far it has been told, see `table.game.news`.
        queue: what is still to be sent; None ends the connection.
    """

    def __init__(self, viewer: int | str) -> None:
        self.viewer = viewer
        self.told = (0, 0)
        self.queue: asyncio.Queue[dict[str, Any] | None] = asyncio.Queue(QUEUE)

    def push(self, message: dict[str, Any]) -> None:
        """Send a message; a client that does not keep up is cut off, and may come back."""
        try:
            self.queue.put_nowait(message)
        except asyncio.QueueFull:
            self.cut_off()

    def cut_off(self) -> None:
        """End the connection, whatever still waits."""
        while not self.queue.empty():
            self.queue.get_nowait()
        self.queue.put_nowait(None)


class LiveTable:
    """A table, those connected to it, and the task that plays it on.

    Args:
        table: the table.
        adviser: the checkpoint whose probabilities a hint shows, or None.
        threads: how many bots may think at once, on all tables together.
        aids: whether hints and taking back are offered.
    """

    def __init__(self, table: Table, adviser: str | None, threads: CapacityLimiter, aids: bool = True) -> None:
        self.table, self.adviser, self.threads, self.aids = table, adviser, threads, aids
        self.clients: set[Client] = set()
        self.speed = "normal"
        self.failure = ""  # why the table stands still, if it does
        self._shown = (-1, 0.0)  # the table's number that was shown last, and when it first was
        self._wake = asyncio.Event()
        self._lock = asyncio.Lock()  # one change at a time
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin, or go on."""
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._run())

    async def stop(self) -> None:
        """Stand still; the table is on the disk as it stands."""
        if self._task is not None:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task
        for client in list(self.clients):
            client.cut_off()

    async def _run(self) -> None:
        try:
            while not self.table.over:
                await self._turn()
        except asyncio.CancelledError:
            raise
        except Exception as error:
            log.exception("table %s stands still", self.table.id)
            self.failure = f"The table stands still: {error}"
            self.tell_all()

    async def _turn(self) -> None:
        """Wait for a person, or let a bot play."""
        self._wake.clear()
        table = self.table
        player = table.game.player
        assert player is not None
        bot = table.bots[player]
        if table.unseen or bot is None or table.chairs[player].player == PERSON:
            await self._wake.wait()
            return
        number = table.number
        pause = SPEEDS[self.speed] * (TRICK_PAUSE if table.game.tricks and not table.game.trick else 1.0)
        thinking = asyncio.create_task(self._think(bot))
        try:
            await asyncio.sleep(pause)
            action = await thinking
        finally:
            thinking.cancel()
        async with self._lock:
            if table.number == number and table.bots[player] is bot:  # nobody took back, or took the seat, meanwhile
                await self._step(action)

    async def _think(self, bot: Any) -> int:
        match = self.table.match.copy()  # what a person takes back does not change what a bot looks at
        action = await to_thread.run_sync(lambda: bot.act(match), limiter=self.threads)
        return int(action[0])

    async def _step(self, action: int, seconds: float | None = None) -> None:
        self.table.step(action, seconds)
        await self._changed()

    # --- Those connected -----------------------------------------------------------------------------------------

    def join(self, client: Client) -> None:
        """Somebody connects: tell them this hand from its start."""
        client.told = (len(self.table.game.past_hands), 0)
        if self.table.over:
            client.told = (len(self.table.game.past_hands) - 1, 0)
        self.clients.add(client)
        self.tell_all()

    def leave(self, client: Client) -> None:
        """A connection has ended."""
        self.clients.discard(client)
        self.tell_all()

    def tell_all(self) -> None:
        """Send everybody the table as they see it."""
        if self._shown[0] != self.table.number and not self.table.unseen:
            self._shown = self.table.number, time.monotonic()
        here = {client.viewer for client in self.clients}
        extras = {
            "here": sorted(seat for seat in here if isinstance(seat, int)),
            "watchers": sum(client.viewer == TABLE_VIEWER for client in self.clients),
            "kinds": seat_kinds(self.table),
            "speed": self.speed,
            "failure": self.failure,
        }
        for client in list(self.clients):
            message, client.told = table_message(self.table, client.viewer, client.told, extras)
            if not self.aids:
                message |= {"hints": False, "take_back": False}
            client.push(message)

    async def receive(self, client: Client, message: dict[str, Any]) -> None:
        """Do what a checked message asks.

        Raises:
            MessageError: saying why not; nothing has changed then.
        """
        if not isinstance(client.viewer, int):
            raise MessageError("you are a spectator: only players at the table may do that")
        if message["type"] in ("hint", "back") and not self.aids:
            raise MessageError("this table has no hints and nothing is taken back")
        async with self._lock:
            await self._ACTIONS[message["type"]](self, client.viewer, message, client)
            self._wake.set()

    async def _act(self, seat: int, message: dict[str, Any], client: Client) -> None:
        table = self.table
        if message["number"] != table.number:
            raise MessageError("the table has changed since; look again")
        if table.unseen:
            raise MessageError("somebody is still looking at the result")
        self._check_sits(seat)
        if table.game.player != seat:
            raise MessageError("it is not your turn")
        if (why := refusal(table.game, message["action"])) is not None:
            raise MessageError(why)
        await self._step(message["action"], time.monotonic() - self._shown[1])

    async def _next(self, seat: int, message: dict[str, Any], client: Client) -> None:
        self._check_sits(seat)
        self.table.leave_result(seat)
        await self._changed()

    async def _back(self, seat: int, message: dict[str, Any], client: Client) -> None:
        self._check_sits(seat)
        try:
            self.table.take_back()
        except ValueError as error:
            raise MessageError(str(error)) from None
        for other in self.clients:  # the action is undone: send this hand again
            other.told = (len(self.table.game.past_hands), 0)
        await self._changed()

    async def _speed(self, seat: int, message: dict[str, Any], client: Client) -> None:
        self._check_sits(seat)
        self.speed = message["speed"]
        self.tell_all()

    async def _name(self, seat: int, message: dict[str, Any], client: Client) -> None:
        self.table.chairs[seat].name = clean_name(message["name"])
        await self._changed()

    async def _bot(self, seat: int, message: dict[str, Any], client: Client) -> None:
        self._check_sits(seat)
        other, table = message["seat"], self.table
        if other == seat or other not in table.people:
            raise MessageError("only another person's seat may be given to a bot")
        if other in {one.viewer for one in self.clients}:
            raise MessageError("that seat is not deserted: its person is here")
        table.seat_bot(other, "heuristic")
        table.leave_result(other)
        await self._changed()

    async def _return(self, seat: int, message: dict[str, Any], client: Client) -> None:
        self.table.seat_person(seat)
        await self._changed()

    async def _hint(self, seat: int, message: dict[str, Any], client: Client) -> None:
        table = self.table
        self._check_sits(seat)
        if table.game.player != seat or table.unseen:
            raise MessageError("a hint is for whoever is to act")
        client.push(await to_thread.run_sync(self._advice, table.match.copy(), limiter=self.threads))

    def _advice(self, match: Any) -> dict[str, Any]:
        searched = searched_points(match, self.table.seed, HINT_ROLLOUTS)
        chances: dict[int, float] = {}
        name = None
        if self.adviser is not None:
            with suppress(ValueError):  # a checkpoint that does not play this table has no opinion
                chances, name = policy_chances(self.adviser, match), display_names([self.adviser])[0]
        options = [
            {"action": action, "points": round(searched[action], 2), "probability": chances.get(action)}
            for action in sorted(searched, key=lambda one: -searched[one])
        ]
        return {"type": "hint", "number": self.table.number, "adviser": name, "options": options}

    def _check_sits(self, seat: int) -> None:
        if self.table.chairs[seat].player != PERSON:
            raise MessageError("a bot plays your seat; take it back first")

    async def _changed(self) -> None:
        await to_thread.run_sync(self.table.save)  # first: nobody is shown what a crash could undo
        self.tell_all()

    _ACTIONS: dict[str, Callable[..., Any]] = {
        "act": _act,
        "next": _next,
        "back": _back,
        "speed": _speed,
        "name": _name,
        "bot": _bot,
        "return": _return,
        "hint": _hint,
    }
