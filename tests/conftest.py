"""Set-up of all tests: a compile cache of the sources' own, one thread, and Hypothesis without a clock or a memory."""

import hashlib
import os
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

# Numba's cache does not notice edits in other files that a cached function calls, so a bare `pytest` must not use one
# that belongs to other sources. (The Makefile sets the same for what it runs.)
if "NUMBA_CACHE_DIR" not in os.environ:
    sources = b"".join(file.read_bytes() for file in sorted((ROOT / "ohhell_env").rglob("*.py")))
    os.environ["NUMBA_CACHE_DIR"] = str(ROOT / ".numba_cache" / f"pytest-{hashlib.sha256(sources).hexdigest()[:16]}")
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ["SDL_VIDEODRIVER"] = "dummy"  # windows open on no screen

from hypothesis import settings  # noqa: E402

settings.register_profile("repeatable", derandomize=True, deadline=None, database=None)
settings.load_profile("repeatable")
