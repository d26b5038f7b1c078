"""Files that are written whole or not at all."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path


@contextlib.contextmanager
def whole_file(path: str | Path) -> Iterator[Path]:
    """A temporary name to write to, beside ``path`` and with the same ending; it becomes ``path`` at the end.

    The data are on the disk before the name changes, so a reader, or a run after a crash, finds the old file or the
    new one. When the block fails, the temporary file goes and the old one stays.
    """
    target = Path(path)
    temporary = target.with_name(f".{target.stem}.{os.getpid()}.tmp{target.suffix}")
    try:
        yield temporary
        with open(temporary, "rb+") as file:
            os.fsync(file.fileno())
        os.replace(temporary, target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def write_whole(path: str | Path, content: str | bytes) -> Path:
    """Write a file, text as UTF-8, and return its path; see `whole_file`."""
    with whole_file(path) as temporary:
        temporary.write_bytes(content.encode() if isinstance(content, str) else content)
    return Path(path)
