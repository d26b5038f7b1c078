"""Set-up of all tests: one thread, and Hypothesis without a clock or a memory."""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ["SDL_VIDEODRIVER"] = "dummy"  # windows open on no screen

from hypothesis import settings

settings.register_profile("repeatable", derandomize=True, deadline=None, database=None)
settings.load_profile("repeatable")
