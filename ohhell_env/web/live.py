"""A table that runs: one task plays it on, bots think in threads, and everybody connected is told what they may see."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import Callable, Coroutine, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from anyio import BrokenWorkerProcess, CapacityLimiter, to_process, to_thread

from ohhell_env.records.advice import policy_chances, searched_points
from ohhell_env.records.match import display_names
from ohhell_env.table.game import TABLE_VIEWER
from ohhell_env.table.refusal import refusal
from ohhell_env.web import mistakes
from ohhell_env.web.messages import SPEEDS, MessageError, seat_kinds, table_message
from ohhell_env.web.table import PERSON, Table, clean_name

QUEUE = 64  # messages that wait for a slow client before it is cut off
TRICK_PAUSE = 2.0  # how much longer a finished trick stays than a card
TAKE_BACK_SECONDS = 1.5  # how long a choice that may be taken back stays so at least, however fast the bots are
HINT_ROLLOUTS = 1000
MAX_REVIEWS = 32  # hands that wait for the search of mistakes; where the server is that busy, more are left out

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


@dataclass
class Service:
    """What all tables of a server share.

    Attributes:
        adviser: the checkpoint whose probabilities a hint shows, or None.
        threads: how many bots may think at once, on all tables together.
        aids: whether hints, taking back and the search of mistakes are offered.
        wait: seconds after which a bot takes the seat of a person who is away and for whom others wait; 0 for never.
        stand_in: that bot.
        reviewers: processes that look for mistakes.
        reviews: hands that wait for them.
    """

    adviser: str | None
    threads: CapacityLimiter
    aids: bool = True
    wait: int = 0
    stand_in: str = "heuristic"
    reviewers: CapacityLimiter = field(default_factory=lambda: CapacityLimiter(1))
    reviews: int = 0


class LiveTable:
    """A table, those connected to it, and the task that plays it on.

    Args:
        table: the table.
        service: what it shares with the server's other tables.
    """

    def __init__(self, table: Table, service: Service) -> None:
        self.table, self.service, self.aids = table, service, service.aids
        self.clients: set[Client] = set()
        self.used = time.monotonic()  # when somebody last was here
        self._left = dict.fromkeys(range(len(table.chairs)), self.used)  # since when a seat is deserted
        self._background: set[asyncio.Task[None]] = set()
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
        for task in (self._task, *self._background):
            if task is not None:
                task.cancel()
                with contextlib.suppress(asyncio.CancelledError):
                    await task
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
        if table.awaited or table.unseen or bot is None or table.chairs[player].player == PERSON:
            await self._wait_for(table.awaited or table.unseen or {player})
            return
        number = table.number
        pause = SPEEDS[self.speed] * (TRICK_PAUSE if table.game.tricks and not table.game.trick else 1.0)
        if self.aids and table.can_take_back is not None:
            pause = max(pause, TAKE_BACK_SECONDS)
        thinking = asyncio.create_task(self._think(bot))
        try:
            await asyncio.sleep(pause)
            action = await thinking
        finally:
            thinking.cancel()
        async with self._lock:
            if table.number == number and table.bots[player] is bot:  # nobody took back, or took the seat, meanwhile
                await self._step(action)

    async def _wait_for(self, seats: set[int]) -> None:
        """Wait until something happens, or until a person who is waited for has been away for too long."""
        here = self._here()
        away = [seat for seat in seats if seat not in here]
        if not self.service.wait or not away or not here:
            await self._wake.wait()
            return
        until = min(self._left[seat] for seat in away) + self.service.wait
        try:
            await asyncio.wait_for(self._wake.wait(), until - time.monotonic())
        except TimeoutError:
            async with self._lock:
                await self._stand_in()

    async def _stand_in(self) -> None:
        """Give the seats of people who have been away for too long to bots."""
        table, service = self.table, self.service
        here, now = self._here(), time.monotonic()
        for seat in table.people:
            if seat not in here and now - self._left[seat] >= service.wait:
                table.stand_ins.append({"hand": table.game.hand_number, "seat": seat, "player": service.stand_in})
                self._hand_over(seat, service.stand_in)
        await self._changed()

    def _hand_over(self, seat: int, bot: str) -> None:
        self.table.seat_bot(seat, bot)
        self.table.leave_result(seat)
        self.table.awaited.discard(seat)

    def _here(self) -> set[int]:
        """The seats whose people are connected."""
        return {client.viewer for client in self.clients if isinstance(client.viewer, int)}

    async def _think(self, bot: Any) -> int:
        match = self.table.match.copy()  # what a person takes back does not change what a bot looks at
        action = await to_thread.run_sync(lambda: bot.act(match), limiter=self.service.threads)
        return int(action[0])

    async def _step(self, action: int, seconds: float | None = None) -> None:
        hands = len(self.table.game.past_hands)
        self.table.step(action, seconds)
        await self._changed()
        if len(self.table.game.past_hands) > hands:
            self._look_for_mistakes(hands)

    # --- Mistakes ------------------------------------------------------------------------------------------------

    def prepare(self) -> None:
        """Have the search compiled while the first hand is played, where mistakes are asked for."""
        if self.aids and self.table.review:
            self._begin(self._prepare())

    async def _prepare(self) -> None:
        try:
            await to_process.run_sync(
                mistakes.prepare, self.table.match.rules, cancellable=True, limiter=self.service.reviewers
            )
        except (ValueError, OSError, BrokenWorkerProcess):
            log.exception("the search of mistakes at table %s is not ready", self.table.id)

    def _begin(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._background.add(task)
        task.add_done_callback(self._background.discard)

    def _look_for_mistakes(self, hand: int) -> None:
        """Begin to look for people's mistakes in a finished hand, where that is asked for and the server has time."""
        if not self.aids or not self.table.review or not self.table.people:
            return
        if self.service.reviews >= MAX_REVIEWS:
            self._tell_mistakes(hand, dict.fromkeys(self.table.people))
            return
        self.service.reviews += 1
        self._begin(self._find_mistakes(hand, list(self.table.people)))

    async def _find_mistakes(self, hand: int, seats: list[int]) -> None:
        table, found = self.table, None
        try:
            found = await to_process.run_sync(
                mistakes.in_background, table.path, hand, seats, cancellable=True, limiter=self.service.reviewers
            )
        except (ValueError, OSError, BrokenWorkerProcess):
            log.exception("mistakes of hand %d at table %s are not found", hand, table.id)
        finally:
            self.service.reviews -= 1
        if found is not None:
            async with self._lock:
                table.mistakes[hand] = found
                await to_thread.run_sync(table.save)
        self._tell_mistakes(hand, dict.fromkeys(seats) if found is None else found)

    def _tell_mistakes(self, hand: int, found: Mapping[int, list[dict[str, Any]] | None]) -> None:
        """Tell each person of their own; None where the search found no time."""
        for client in list(self.clients):
            if isinstance(client.viewer, int) and client.viewer in found:
                client.push({"type": "mistakes", "hands": {hand: found[client.viewer]}})

    @property
    def busy(self) -> bool:
        """Whether mistakes are being looked for."""
        return bool(self._background)

    # --- Those connected -----------------------------------------------------------------------------------------

    def join(self, client: Client) -> None:
        """Somebody connects: tell them this hand from its start."""
        client.told = (len(self.table.game.past_hands), 0)
        if self.table.over:
            client.told = (len(self.table.game.past_hands) - 1, 0)
        self.clients.add(client)
        self.used = time.monotonic()
        self.table.awaited -= {client.viewer}
        self._wake.set()
        self.tell_all()
        seat = client.viewer
        found = self.table.mistakes if self.aids and isinstance(seat, int) else {}
        known = {hand: seats[seat] for hand, seats in found.items() if seat in seats}
        if known:
            client.push({"type": "mistakes", "hands": known})

    def leave(self, client: Client) -> None:
        """A connection has ended."""
        self.clients.discard(client)
        self.used = time.monotonic()
        if isinstance(client.viewer, int) and client.viewer not in self._here():
            self._left[client.viewer] = self.used
        self._wake.set()
        self.tell_all()

    def tell_all(self) -> None:
        """Send everybody the table as they see it."""
        if self._shown[0] != self.table.number and not self.table.unseen and not self.table.awaited:
            self._shown = self.table.number, time.monotonic()
        extras = {
            "here": sorted(self._here()),
            "watchers": sum(client.viewer == TABLE_VIEWER for client in self.clients),
            "kinds": seat_kinds(self.table),
            "speed": self.speed,
            "failure": self.failure,
            "wait": self.service.wait,
            "review": self.aids and self.table.review,
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
        if table.awaited:
            raise MessageError("the others have not come yet")
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
        if self.table.chairs[seat].code:
            raise MessageError("nobody has a name in a study")
        self.table.chairs[seat].name = clean_name(message["name"])
        await self._changed()

    async def _bot(self, seat: int, message: dict[str, Any], client: Client) -> None:
        self._check_sits(seat)
        other, table = message["seat"], self.table
        if other == seat or other not in table.people:
            raise MessageError("only another person's seat may be given to a bot")
        if other in {one.viewer for one in self.clients}:
            raise MessageError("that seat is not deserted: its person is here")
        self._hand_over(other, "heuristic")
        await self._changed()

    async def _return(self, seat: int, message: dict[str, Any], client: Client) -> None:
        self.table.seat_person(seat)
        await self._changed()

    async def _hint(self, seat: int, message: dict[str, Any], client: Client) -> None:
        table = self.table
        self._check_sits(seat)
        if table.game.player != seat or table.unseen:
            raise MessageError("a hint is for whoever is to act")
        client.push(await to_thread.run_sync(self._advice, table.match.copy(), limiter=self.service.threads))

    def _advice(self, match: Any) -> dict[str, Any]:
        searched = searched_points(match, self.table.seed, HINT_ROLLOUTS)
        chances: dict[int, float] = {}
        name = None
        adviser = self.service.adviser
        if adviser is not None:
            with suppress(ValueError):  # a checkpoint that does not play this table has no opinion
                chances, name = policy_chances(adviser, match), display_names([adviser])[0]
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
