"""The server: addresses of pages and sockets, and who may use them. `make_app` is an ASGI application.

A seat's address holds its token, and whoever has it has the seat. So pages are sent without a referrer and are not
kept in caches, only pages of this server may open its sockets, and a server that no ``--host`` opened answers only to
the names of this machine.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import time
from collections.abc import AsyncIterator, Sequence
from importlib.resources import files
from urllib.parse import urlsplit

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect, WebSocketState

from ohhell_env.rules.description import describe
from ohhell_env.rules.presets import PRESETS, player_counts
from ohhell_env.web.hall import Hall
from ohhell_env.web.live import Client, LiveTable
from ohhell_env.web.messages import MessageError, read_message

LOCAL = ("127.0.0.1", "localhost", "[::1]")
MAX_CLIENTS = 64  # connected to one table
MAX_REQUEST = 8192  # bytes of a request for a table
RATE, BURST = 10.0, 30.0  # messages a second that a client may send for long, and at once
POLICY_VIOLATION, NOT_FOUND = 1008, 4404
HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
}
log = logging.getLogger("ohhell_env.web")
_MEDIA = {".js": "text/javascript", ".css": "text/css"}


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
            try:
                return JSONResponse({"next": await hall.next_of(code)}, headers=HEADERS)
            except ValueError as error:
                log.exception("participant %s cannot go on", code)
                return JSONResponse({"error": str(error)}, 503, HEADERS)
        plan, done = hall.study.plan, hall.done_by(code)
        about = {"title": plan.title, "consent": plan.consent, "done": done, "of": len(plan.tables)}
        return JSONResponse({**about, "agreed": hall.study.participants[code]["agreed"]}, headers=HEADERS)

    async def replay(request: Request) -> Response:
        try:
            entered = await hall.enter(request.path_params["token"])
        except ValueError as error:
            return Response(str(error), 503, HEADERS)
        if entered is None:
            return HTMLResponse(pages["missing.html"][0], 404, HEADERS)
        live, viewer = entered
        if not live.aids:
            return Response("The tables of this study have no replay.", 403, HEADERS)
        if not live.table.over:
            return Response("The match is not over: its replay would show everybody's cards.", 403, HEADERS)
        seat = viewer if isinstance(viewer, int) else None
        page = await hall.replay(live, seat, "mistakes" in request.query_params)
        headers = {**HEADERS}
        del headers["Content-Security-Policy"]  # the page brings its own
        if "download" in request.query_params:
            headers["Content-Disposition"] = f'attachment; filename="ohhell-{live.table.id}.html"'
        return HTMLResponse(page, headers=headers)

    async def socket(websocket: WebSocket) -> None:
        await _serve_socket(hall, websocket)

    @contextlib.asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        keeping = asyncio.create_task(hall.keep_house())
        yield
        keeping.cancel()
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
    if not same_origin(websocket.headers.get("origin"), websocket.headers.get("host")):
        await websocket.close(POLICY_VIOLATION)
        return
    await websocket.accept()
    try:
        entered = await hall.enter(websocket.path_params["token"])
    except ValueError:
        log.exception("a table cannot be opened")
        await websocket.close(NOT_FOUND, "this table cannot be opened now")
        return
    if entered is None or len(entered[0].clients) >= MAX_CLIENTS:
        await websocket.close(NOT_FOUND, "there is no such seat" if entered is None else "this table has no room")
        return
    live, viewer = entered
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
