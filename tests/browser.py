"""Chromium for tests, driven by Playwright: the installed one, which Playwright does not bring itself."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
needs_browser = pytest.mark.skipif(
    CHROMIUM is None or find_spec("playwright") is None, reason="Chromium or Playwright is not installed"
)
DESKTOP, PHONE = (1280, 900), (390, 844)  # width and height of the window in pixels


@contextmanager
def chromium() -> Iterator[Browser]:
    """A headless Chromium."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


def new_page(browser: Browser, size: tuple[int, int] = DESKTOP, **options: Any) -> Page:
    """A page in a profile of its own."""
    return browser.new_context(viewport={"width": size[0], "height": size[1]}, **options).new_page()


def open_file(page: Page, path: Path, at: str = "") -> None:
    """Load a file, with an address behind the #."""
    page.goto("about:blank")
    page.goto(path.resolve().as_uri() + at)
