"""The pictures of the table in the browser that the docs show: ``python tests/make_screenshots.py`` makes them anew."""

from __future__ import annotations

import tempfile
from pathlib import Path

from browser import PHONE, chromium, new_page
from web_server import server

IMAGES = Path(__file__).resolve().parent.parent / "docs" / "images"
PLAYERS = ("person", "checkpoints/mix512", "heuristic", "checkpoints/mix512")
LEGAL = "#bids button[aria-disabled=false], #cards button.legal"
TRICKS = 3  # finished before the picture is taken


def main() -> None:
    with tempfile.TemporaryDirectory() as folder, server(Path(folder)) as host, chromium() as browser:
        for name, size, colours in (("table", (1200, 760), "light"), ("phone", PHONE, "dark")):
            made = host.open_table(players=PLAYERS, changes=["ramp=8..1"], seed=11)
            page = new_page(browser, size, color_scheme=colours, reduced_motion="reduce")
            page.goto(host.url + made["seats"]["0"])
            table = host.hall.tables[-1].table
            while len(table.game.tricks) < TRICKS or table.game.player != 0 or not table.game.trick:
                page.locator(LEGAL).first.wait_for()
                page.locator(LEGAL).first.click()
                page.wait_for_timeout(500)
            page.locator("#cards button.legal").first.wait_for()
            page.wait_for_timeout(300)
            page.screenshot(path=IMAGES / f"{name}.png")
            print(IMAGES / f"{name}.png")


if __name__ == "__main__":
    main()
