"""A server of tables for tests, in a thread of its own, on a free port, with bots that do not pause."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import uvicorn

from ohhell_env.commands.serve import MAX_FRAME
from ohhell_env.web import live, messages
from ohhell_env.web.hall import Hall
from ohhell_env.web.server import make_app
from ohhell_env.web.study import Study

BOTS = ("heuristic", "random", "checkpoints/mix512")
QUICK = {"slow": 0.3, "normal": 0.0, "fast": 0.0}


class Server:
    """A running server; ``hall`` is looked at from the test's thread, and not changed."""

    def __init__(self, folder: Path, study: Study | None) -> None:
        messages.SPEEDS.update(QUICK)
        live.TAKE_BACK_SECONDS = 0.0
        self.hall = Hall(folder, BOTS, "checkpoints/mix512", threads=1, study=study)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        config = uvicorn.Config(
            make_app(self.hall), port=self.port, log_level="error", ws_max_size=MAX_FRAME, timeout_graceful_shutdown=2
        )
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve()), daemon=True)
        self._thread.start()
        while not self._server.started:
            time.sleep(0.02)

    async def _serve(self) -> None:
        self._loop = asyncio.get_running_loop()
        await self._server.serve()

    def hang_up(self) -> None:
        """End every connection."""
        for one in self.hall.tables:
            for client in list(one.clients):
                self._loop.call_soon_threadsafe(client.cut_off)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def open_table(
        self, preset: str = "oh_hell", players: Any = ("person", "heuristic", "heuristic"), **more: Any
    ) -> Any:
        """The addresses of a new table's seats, as the first page gets them."""
        request = {"preset": preset, "players": list(players), **more}
        return json.load(self.post("/api/tables", json.dumps(request).encode()))

    def post(self, path: str, body: bytes, **headers: str) -> Any:
        return urllib.request.urlopen(
            urllib.request.Request(self.url + path, body, headers, method="POST"), timeout=120
        )

    def stop(self) -> None:
        self._server.should_exit = True
        self._thread.join(20)


@contextmanager
def server(folder: Path, study: Study | None = None) -> Iterator[Server]:
    one = Server(folder, study)
    yield one
    one.stop()
