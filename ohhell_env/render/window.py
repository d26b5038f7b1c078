"""A window that shows tables: opened at the first scene, paced, closed by whoever looks at it."""

from __future__ import annotations

import time

from ohhell_env.render.grid import GridPainter
from ohhell_env.render.paint import pygame
from ohhell_env.render.scene import Scene
from ohhell_env.render.table import HEIGHT, WIDTH


class TableWindow:
    """Shows one scene after another.

    Args:
        fps: scenes per second; `show` waits for the next one's time, except on SDL's dummy screen.
        width: of the window, in pixels; less where the screen is smaller.
        title: what its frame says.
        tables: how many tables it shows; `show` then takes so many scenes.
    """

    def __init__(self, fps: float = 2, width: int = WIDTH, title: str = "Oh Hell!", tables: int = 1) -> None:
        self.tables = tables
        self.fps = fps
        self.title = title
        self.width = width
        self.closed = False
        self._painter: GridPainter | None = None
        self._screen: pygame.Surface | None = None

    def show(self, *scenes: Scene) -> list[pygame.event.Event]:
        """Draw a scene of each table and wait until the next ones are due.

        Returns:
            What was pressed meanwhile. Once the window was closed nothing is drawn any more.
        """
        if self.closed:
            return []
        if self._screen is None or self._painter is None:
            pygame.display.init()
            pygame.display.set_caption(self.title)
            self._painter = GridPainter(self.tables, min(self.width, _room_on_screen()))
            self._screen = pygame.display.set_mode(self._painter.size)
        self._screen.blit(self._painter.draw(scenes), (0, 0))
        pygame.display.flip()
        return self.wait(1 / self.fps)

    def wait(self, seconds: float) -> list[pygame.event.Event]:
        """Keep the window alive for some seconds, or until a key is pressed or it is closed."""
        if self.closed or self._screen is None:
            return []
        end = time.monotonic() + (0 if _headless() else seconds)
        while True:
            events = pygame.event.get()
            if any(event.type == pygame.QUIT for event in events):
                self.close()
                return events
            if any(event.type == pygame.KEYDOWN for event in events) or time.monotonic() >= end:
                return events
            time.sleep(0.015)

    def close(self) -> None:
        """Close the window for good."""
        self.closed = True
        if self._screen is not None:
            self._screen = None
            pygame.display.quit()


def _headless() -> bool:
    return pygame.display.get_driver() == "dummy"


def _room_on_screen() -> int:
    """The widest window that fits with its frame, in pixels."""
    if _headless():
        return WIDTH
    width, height = pygame.display.get_desktop_sizes()[0]
    return max(480, min(round(0.96 * width), round(0.88 * height * WIDTH / HEIGHT)))
