"""`ohhell serve`: tables in the browser, for people and bots."""

from __future__ import annotations

import ipaddress
import os
import sys
import webbrowser
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import platformdirs
import tyro
from rich.console import Console

from ohhell_env.bots.spec import make_bot
from ohhell_env.notice import say
from ohhell_env.options import UsageError, run_command

BOTS = ("heuristic", "checkpoints/mix512", "search:100", "search:400", "random")
MAX_FRAME = 4096  # bytes of a message from a client that are read at all


@dataclass(frozen=True, kw_only=True)
class Options:
    """Tables in the browser: play against bots and checkpoints, or with other people."""

    host: str = "127.0.0.1"
    """Address to listen on. By default only this machine can connect. 0.0.0.0 lets everybody in the network connect:
    whoever has a seat's link has the seat, and messages are not encrypted, so put a TLS proxy in front of it on the
    internet."""
    port: int = 8000
    """Port to listen on."""
    folder: Annotated[Path | None, tyro.conf.arg(metavar="FOLDER")] = None
    """Where the tables' records are kept, and found again; a folder in your data folder by default."""
    bots: Annotated[tuple[str, ...], tyro.conf.arg(metavar="PLAYER ...")] = BOTS
    """The bots that people may seat."""
    adviser: Annotated[str, tyro.conf.arg(metavar="NAME")] = "checkpoints/mix512"
    """Checkpoint whose probabilities a hint shows; none for the search alone."""
    threads: int = max(1, (os.cpu_count() or 2) - 1)
    """How many bots may think at once."""
    study: Annotated[Path | None, tyro.conf.arg(metavar="FILE.toml")] = None
    """Serve a study: fixed tables for participants with anonymous codes; `ohhell_env.web.study` describes the file."""
    open: tyro.conf.FlagCreatePairsOff[bool] = False
    """Open the page in the browser."""


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; returns the exit status."""
    return run_command(Options, _serve, "ohhell serve", arguments, (ValueError, OSError))


def _serve(options: Options, console: Console) -> None:
    try:
        import uvicorn

        from ohhell_env.web.hall import Hall, read_request
        from ohhell_env.web.server import LOCAL, make_app
        from ohhell_env.web.study import Study, load_plan
    except ModuleNotFoundError as error:
        raise UsageError(f'ohhell serve needs {error.name}: pip install "ohhell-env[web]"') from None
    plan = None if options.study is None else load_plan(options.study)
    for request in () if plan is None else plan.tables:
        read_request(request, plan.bots if plan else ())
    bots = options.bots if plan is None else tuple(plan.bots)
    for player in bots:
        try:
            make_bot(player)
        except ValueError as error:
            raise UsageError(str(error)) from None
    data = platformdirs.user_data_path("ohhell-env", appauthor=False)
    folder = options.folder or data / ("tables" if options.study is None else f"study-{options.study.stem}")
    study = None if plan is None else Study(plan, folder)
    hall = Hall(folder, bots, None if options.adviser == "none" else options.adviser, options.threads, study)
    private = _is_this_machine(options.host)
    address = f"http://{options.host if private else 'THIS-MACHINE'}:{options.port}"
    say(f"Tables are at {address} and their records in {folder}; Ctrl-C stops.")
    if study is not None:
        say(f"Participants begin at {address}/s/TOKEN; their tokens are in {folder / 'participants.json'}.")
    if not private:
        say("Everybody who reaches this address can open tables; whoever has a seat's link has the seat.")
    if options.open:
        webbrowser.open(address)
    config = uvicorn.Config(
        make_app(hall, LOCAL if private else ["*"]),
        host=options.host,
        port=options.port,
        log_level="warning",
        ws_max_size=MAX_FRAME,
        ws_max_queue=8,
        timeout_graceful_shutdown=3,
        server_header=False,
    )
    uvicorn.Server(config).run()


def _is_this_machine(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


if __name__ == "__main__":
    sys.exit(main())
