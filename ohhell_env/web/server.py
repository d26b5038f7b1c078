"""The server: addresses of pages and sockets, and who may use them. `make_app` is an ASGI application.

A seat's address holds its token, and whoever has it has the seat. So pages are sent without a referrer and are not
kept in caches, only pages of this server may open its sockets, and a server that no ``--host`` opened answers only to
the names of this machine.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import time
from collections.abc import AsyncIterator, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from anyio import CapacityLimiter, to_thread
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect, WebSocketState

from ohhell_env.notice import say
from ohhell_env.records.replay import load_replay
from ohhell_env.records.review import Review, review
from ohhell_env.render.replay_html import replay_page
from ohhell_env.rules.cards import DECKS
from ohhell_env.rules.description import describe
from ohhell_env.rules.presets import PRESETS, player_counts
from ohhell_env.rules.rules import Rules
from ohhell_env.rules.scoring import SCORINGS
from ohhell_env.rules.typed import rules_named
from ohhell_env.table.game import TABLE_VIEWER
from ohhell_env.web.live import Client, LiveTable
from ohhell_env.web.messages import MessageError, read_message
from ohhell_env.web.study import Study
from ohhell_env.web.table import PERSON, Table, clean_name

LOCAL = ("127.0.0.1", "localhost", "[::1]")
MAX_TABLES, MAX_CLIENTS = 2000, 64
MAX_REQUEST = 8192  # bytes of a request for a table
RATE, BURST = 10.0, 30.0  # messages a second that a client may send for long, and at once
REVIEW_ROLLOUTS = 100
POLICY_VIOLATION, NOT_FOUND = 1008, 4404
HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
}
_MEDIA = {".js": "text/javascript", ".css": "text/css"}


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
        self.folder, self.bots, self.adviser, self.study = folder, tuple(bots), adviser, study
        self.threads = CapacityLimiter(threads)
        self.tables: list[LiveTable] = []
        self.doors: dict[str, tuple[LiveTable, int | str]] = {}  # token -> table and viewer
        self.reviews: dict[str, str] = {}
        self._opening = asyncio.Lock()
        folder.mkdir(parents=True, exist_ok=True)
        for path in sorted(folder.glob("*.table.json")):
            try:
                self.add(Table.load(path))
            except ValueError as error:
                say(f"left out: {error}")

    def add(self, table: Table) -> LiveTable:
        """Open a table's doors."""
        live = LiveTable(table, self.adviser, self.threads, self.study is None or self.study.plan.aids)
        self.tables.append(live)
        for seat, chair in enumerate(table.chairs):
            if chair.token:
                self.doors[chair.token] = live, seat
        self.doors[table.watch] = live, TABLE_VIEWER
        return live

    async def open(self, request: dict[str, Any], name: str | None = None) -> Table:
        """A new table, as a page or a study asks for it; ``name`` names its files.

        Raises:
            ValueError: saying what of it cannot be.
        """
        if len(self.tables) >= MAX_TABLES:
            raise ValueError("this server is full: no table can be added")
        rules, players = read_request(request, self.bots)
        table = await to_thread.run_sync(lambda: _opened(self.folder, rules, players, request.get("seed"), name))
        for seat in table.people:
            table.chairs[seat].name = clean_name(request.get("name", "")) if seat == table.people[0] else ""
        await to_thread.run_sync(table.save)
        self.add(table)
        return table

    async def next_of(self, code: str) -> str | None:
        """The address of the table that a participant of the study plays now, opened if need be; None after the last.

        Raises:
            ValueError: if the study names a table that cannot be.
        """
        assert self.study is not None
        async with self._opening:  # two clicks open one table
            for number in self.study.order(code):
                name = self.study.table_id(code, number)
                table = next((live.table for live in self.tables if live.table.id == name), None)
                if table is None:
                    table = await self.open(self.study.plan.tables[number - 1], name)
                if not table.over:
                    return f"/t/{table.chairs[table.people[0]].token}"
        return None

    def done_by(self, code: str) -> int:
        """How many tables of the study a participant has finished."""
        return sum(live.table.over and live.table.id.rpartition("-")[0] == code for live in self.tables)


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
    fields = {"preset": str, "players": list, "changes": list, "name": str, "seed": int}
    if not isinstance(request, dict) or set(request) - set(fields) or not {"preset", "players"} <= set(request):
        raise ValueError(f"a table is asked for with {', '.join(fields)}")
    for name, value in request.items():
        if type(value) is not fields[name]:
            raise ValueError(f"{name} is not a {fields[name].__name__}")
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


# Options that a page may change: all but decks given card by card, which would tell the cards.
_CHANGEABLE = set(Rules.__dataclass_fields__) - {"players", "deals"}


def make_app(hall: Hall, hosts: Sequence[str] = LOCAL) -> Starlette:
    """The server's application.

    Args:
        hall: its tables.
        hosts: the names by which it may be called; ``["*"]`` for any.
    """
    pages = _pages()

    async def page(request: Request) -> Response:
        token = request.path_params.get("token")
        if token not in hall.doors if token is not None else hall.study is not None:
            return HTMLResponse(pages["missing.html"][0], 404, HEADERS)
        return HTMLResponse(pages["table.html" if token else "lobby.html"][0], headers=HEADERS)

    async def static(request: Request) -> Response:
        found = pages.get(request.path_params["name"])
        if found is None or found[1] == "text/html":
            return Response("There is no such file.", 404, HEADERS)
        return Response(found[0], media_type=found[1], headers={**HEADERS, "Cache-Control": "no-cache"})

    async def about(request: Request) -> Response:
        presets = [
            {"name": name, "counts": player_counts(name), "players": rules.players, "about": describe(rules)}
            for name, rules in PRESETS.items()
        ]
        return JSONResponse({"presets": presets, "bots": hall.bots}, headers=HEADERS)

    async def open_table(request: Request) -> Response:
        if hall.study is not None or not same_origin(request.headers.get("origin"), request.headers.get("host")):
            return JSONResponse({"error": "only this server's own pages may open tables"}, 403, HEADERS)
        body = bytearray()
        async for part in request.stream():
            body += part
            if len(body) > MAX_REQUEST:
                return JSONResponse({"error": f"a request has at most {MAX_REQUEST} bytes"}, 413, HEADERS)
        try:
            table = await hall.open(json.loads(bytes(body)))
        except (ValueError, RecursionError) as error:
            return JSONResponse({"error": str(error)}, 400, HEADERS)
        seats = {seat: f"/t/{table.chairs[seat].token}" for seat in table.people}
        return JSONResponse({"seats": seats, "watch": f"/t/{table.watch}"}, 201, HEADERS)

    async def study(request: Request) -> Response:
        if hall.study is None or hall.study.code_of(request.path_params["token"]) is None:
            return HTMLResponse(pages["missing.html"][0], 404, HEADERS)
        return HTMLResponse(pages["study.html"][0], headers=HEADERS)

    async def participant(request: Request) -> Response:
        code = None if hall.study is None else hall.study.code_of(request.path_params["token"])
        if hall.study is None or code is None:
            return JSONResponse({"error": "there is no such participant"}, 404, HEADERS)
        if request.method == "POST":
            if not same_origin(request.headers.get("origin"), request.headers.get("host")):
                return JSONResponse({"error": "only this server's own pages may go on"}, 403, HEADERS)
            hall.study.agree(code)
            return JSONResponse({"next": await hall.next_of(code)}, headers=HEADERS)
        plan, done = hall.study.plan, hall.done_by(code)
        about = {"title": plan.title, "consent": plan.consent, "done": done, "of": len(plan.tables)}
        return JSONResponse({**about, "agreed": hall.study.participants[code]["agreed"]}, headers=HEADERS)

    async def replay(request: Request) -> Response:
        live, viewer = hall.doors.get(request.path_params["token"], (None, None))
        if live is None:
            return HTMLResponse(pages["missing.html"][0], 404, HEADERS)
        if not live.aids:
            return Response("The tables of this study have no replay.", 403, HEADERS)
        if not live.table.over:
            return Response("The match is not over: its replay would show everybody's cards.", 403, HEADERS)
        seat = viewer if isinstance(viewer, int) else None
        searched = "mistakes" in request.query_params
        key = f"{live.table.id} {seat} {searched}"
        if key not in hall.reviews:
            make = to_thread.run_sync(_review, live.table, seat, searched, limiter=hall.threads)
            hall.reviews[key] = await make
        headers = {**HEADERS}
        del headers["Content-Security-Policy"]  # the page brings its own
        if "download" in request.query_params:
            headers["Content-Disposition"] = f'attachment; filename="ohhell-{live.table.id}.html"'
        return HTMLResponse(hall.reviews[key], headers=headers)

    async def socket(websocket: WebSocket) -> None:
        await _serve_socket(hall, websocket)

    @contextlib.asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        yield
        await asyncio.gather(*(live.stop() for live in hall.tables))

    routes = [
        Route("/", page),
        Route("/t/{token}", page),
        Route("/replay/{token}", replay),
        Route("/s/{token}", study),
        Route("/api/study/{token}", participant, methods=["GET", "POST"]),
        Route("/static/{name}", static),
        Route("/api/about", about),
        Route("/api/tables", open_table, methods=["POST"]),
        Route("/favicon.ico", lambda request: Response(status_code=204)),
        WebSocketRoute("/ws/{token}", socket),
    ]
    middleware = [Middleware(TrustedHostMiddleware, allowed_hosts=list(hosts))]
    return Starlette(routes=routes, middleware=middleware, lifespan=lifespan)


async def _serve_socket(hall: Hall, websocket: WebSocket) -> None:
    """One connection, from its opening to its end."""
    live, viewer = hall.doors.get(websocket.path_params["token"], (None, None))
    if not same_origin(websocket.headers.get("origin"), websocket.headers.get("host")):
        await websocket.close(POLICY_VIOLATION)
        return
    await websocket.accept()
    if live is None or viewer is None or len(live.clients) >= MAX_CLIENTS:
        await websocket.close(NOT_FOUND, "there is no such seat" if live is None else "this table has no room")
        return
    client = Client(viewer)
    live.join(client)
    live.start()
    sending = asyncio.create_task(_send(client, websocket))
    try:
        await _receive(live, client, websocket)
    except WebSocketDisconnect:
        pass
    finally:
        live.leave(client)
        sending.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await sending


async def _send(client: Client, websocket: WebSocket) -> None:
    """Send what waits for a client until it is cut off."""
    with contextlib.suppress(WebSocketDisconnect, RuntimeError):
        while (message := await client.queue.get()) is not None:
            await websocket.send_text(json.dumps(message, separators=(",", ":")))
        await websocket.close(POLICY_VIOLATION, "too slow, or the server stops; connect again")


async def _receive(live: LiveTable, client: Client, websocket: WebSocket) -> None:
    """Follow a client's messages until it goes, or floods."""
    credit, before = BURST, time.monotonic()
    while True:
        data = await websocket.receive()
        if data["type"] == "websocket.disconnect":
            raise WebSocketDisconnect(data.get("code", 1000))
        now = time.monotonic()
        credit, before = min(BURST, credit + (now - before) * RATE) - 1, now
        if credit < 0:
            if websocket.application_state == WebSocketState.CONNECTED:
                await websocket.close(POLICY_VIOLATION, "too many messages")
            return
        try:
            text = data.get("text")
            await live.receive(client, read_message(data.get("bytes") or b"" if text is None else text))
        except MessageError as error:
            client.push({"type": "error", "error": str(error)})


def same_origin(origin: str | None, host: str | None) -> bool:
    """Whether a request comes from a page of this server, or from no page: browsers always say which."""
    return origin is None or urlsplit(origin).netloc == host


def _pages() -> dict[str, tuple[str, str]]:
    """The files that pages are made of: name -> (text, media type)."""
    found = {}
    for folder in ("ohhell_env.web", "ohhell_env.render"):
        for file in files(folder).joinpath("page").iterdir():
            ending = file.name[file.name.rfind(".") :]
            if file.name.startswith("replay"):
                continue
            found[file.name] = file.read_text(encoding="utf-8"), _MEDIA.get(ending, "text/html")
    return found


def _review(table: Table, seat: int | None, searched: bool) -> str:
    replay = load_replay(table.path)
    opinions = review(replay, rollouts=REVIEW_ROLLOUTS) if searched else Review()
    return replay_page(replay, "the match just played", table.names(seat), opinions)
