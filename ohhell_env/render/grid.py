"""Several tables in one picture, row by row: how the vector environment shows the first of its matches."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ohhell_env.render.paint import pygame
from ohhell_env.render.scene import Scene
from ohhell_env.render.table import TablePainter

LEAST_WIDTH = 480  # of a table, in pixels: less cannot be read


class GridPainter:
    """Draws a number of scenes side by side, always as many.

    Args:
        tables: how many.
        width: of the whole picture, in pixels; more where a table would be narrower than 480.

    Raises:
        ValueError: for fewer tables than one.
    """

    def __init__(self, tables: int, width: int = 1280) -> None:
        if tables < 1:
            raise ValueError(f"tables={tables!r} is not allowed; use 1 or more")
        self.columns = math.ceil(math.sqrt(tables))
        self._painter = TablePainter(max(width // self.columns, LEAST_WIDTH))
        self._cell = self._painter.size
        self.size = (self._cell[0] * self.columns, self._cell[1] * math.ceil(tables / self.columns))
        self.surface = pygame.Surface(self.size)

    def draw(self, scenes: Sequence[Scene]) -> pygame.Surface:
        """The scenes, from the upper left corner, on the painter's own surface, which the next drawing overwrites."""
        for k, scene in enumerate(scenes):
            row, column = divmod(k, self.columns)
            self.surface.blit(self._painter.draw(scene), (column * self._cell[0], row * self._cell[1]))
        return self.surface

    def frame(self, scenes: Sequence[Scene]) -> NDArray[np.uint8]:
        """The scenes as pixels: (H, W, 3) uint8, red, green, blue; a new array."""
        pixels = np.frombuffer(pygame.image.tobytes(self.draw(scenes), "RGB"), dtype=np.uint8)
        return pixels.reshape(self.size[1], self.size[0], 3).copy()
