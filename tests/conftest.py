"""Set-up of all tests: one thread, Hypothesis without a clock or a memory, and compiled code before workers start."""

import os
import subprocess
import sys

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ["SDL_VIDEODRIVER"] = "dummy"  # windows open on no screen

import pytest
from hypothesis import settings

settings.register_profile("repeatable", derandomize=True, deadline=None, database=None)
settings.load_profile("repeatable")

# What many tests call, of one form of table: compiled, and kept on disk for all workers.
WARM = """
import sys
from ohhell_env import Simulator, ohhell_v0, preset
rules = preset(sys.argv[1])
env = ohhell_v0.env(rules)
env.reset(seed=1)
for _ in range(200):
    observation, _, terminated, truncated, _ = env.last()
    if terminated or truncated:
        break
    env.step(int(observation["action_mask"].argmax()))
for observe in (True, False):
    simulator = Simulator(rules, 2, seed=1, observe=observe)
    simulator.step(simulator.reset().action_mask.argmax(axis=1))
    simulator.play_random(9)
    simulator.observation(0)
"""


def pytest_configure(config: pytest.Config) -> None:
    """With several workers: compile each form once, before all workers would do it at the same time."""
    if hasattr(config, "workerinput") or not getattr(config.option, "numprocesses", 0):
        return
    forms = [subprocess.Popen([sys.executable, "-c", WARM, name]) for name in ("oh_hell", "mormon_bridge")]
    assert [form.wait() for form in forms] == [0, 0], "the tables that are compiled first could not be played"
