"""The pictures of play that the docs show: ``make pictures``, or ``python tests/make_pictures.py NAME ...`` for some.

Each is a table, a position or a page of fixed deals, drawn by the installed Chromium or by the commands that the docs
give. The plots of experiments are made where their figures are (docs/experiments.md).
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from browser import DESKTOP, PHONE, chromium, new_page, open_file
from web_server import server

from ohhell_env.__main__ import main as ohhell
from ohhell_env.bots import make_bot
from ohhell_env.kernel.state import MATCH_OVER
from ohhell_env.records.match import Match, Seating, save_match
from ohhell_env.rules.rules import Rules

IMAGES = Path(__file__).resolve().parent.parent / "docs" / "images"
PEOPLE = ("person", "checkpoints/mix512", "heuristic", "checkpoints/mix512")
READY = "#own[aria-busy=false] :is(#bids button[aria-disabled=false], #cards button.legal)"
TRICKS = 3  # finished before a picture of play is taken
PLAYERS = ("checkpoints/mix512", "search:100", "heuristic", "random")
MISTAKES_BEFORE = 12  # in the match on the replay page


def table(name: str, size: tuple[int, int], colours: str, until: str | None = None) -> None:
    """The table in the browser, with a person's first choices, until something is seen, or in a trick."""
    with tempfile.TemporaryDirectory() as folder, server(Path(folder)) as host, chromium() as browser:
        made = host.open_table(players=PEOPLE, changes=["ramp=8..1"], seed=11, mistakes=True)
        page = new_page(browser, size, color_scheme=colours, reduced_motion="reduce")
        page.set_default_timeout(600_000)
        page.goto(host.url + made["seats"]["0"])
        game = host.hall.tables[-1].table
        while True:
            page.locator(READY if until is None else f"{READY}, {until}").first.wait_for()
            if page.locator(until).count() if until else len(game.game.tricks) >= TRICKS and game.game.trick:
                break
            page.locator(READY).first.click()
        if until is not None:
            page.locator("#result .mistakes .note").filter(has_not_text="looking").wait_for()
        page.screenshot(path=IMAGES / f"{name}.png")


def replay() -> None:
    """The replay page of a match of four players, at one of its mistakes."""
    with tempfile.TemporaryDirectory() as folder, chromium() as browser:
        record = Path(folder) / "match.jsonl"
        match, bots = Match(Rules(), seed=7), [make_bot(player, seat) for seat, player in enumerate(PLAYERS)]
        while match.game.phase != MATCH_OVER:
            match.step(int(bots[match.game.player or 0].act(match)[0]))
        save_match(match, Seating(PLAYERS, None, 0), record)
        ohhell(["view", str(record), "--policy", "mix512", "--search", "400"])
        page = new_page(browser, DESKTOP)
        open_file(page, record.with_suffix(".html"))
        for _ in range(MISTAKES_BEFORE):
            page.keyboard.press("m")
        page.screenshot(path=IMAGES / "replay.png")


def watched(name: str, arguments: str) -> None:
    """A picture that ``ohhell watch`` saves."""
    ohhell(["watch", *arguments.split(), "--width", "1152", "--save", str(IMAGES / f"{name}.png")])


SEAT = "search:100 checkpoints/mix512 heuristic --players 7 --viewer 0 --seed 4 --scenes 33"
PICTURES: dict[str, Callable[[], None]] = {
    "table": lambda: table("table", (1200, 800), "light"),
    "phone": lambda: table("phone", PHONE, "dark"),
    "result": lambda: table("result", (1200, 800), "light", "#result[open]"),
    "replay": replay,
    "watch": lambda: watched("watch", "checkpoints/mix512 heuristic --seed 3 --hand 4 --scenes 27"),
    "seat": lambda: watched("seat", SEAT),
}


def main() -> int:
    """Make the pictures that are named, all by default; returns the exit status."""
    names = sys.argv[1:] or list(PICTURES)
    if unknown := set(names) - set(PICTURES):
        print(f"there is no picture {', '.join(sorted(unknown))}; there are {', '.join(PICTURES)}", file=sys.stderr)
        return 2
    for name in names:
        print(f"{name} ...", flush=True)
        PICTURES[name]()
    return 0


if __name__ == "__main__":
    sys.exit(main())
