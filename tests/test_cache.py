"""The cache of compiled functions: never stale, compiled anew only where needed, bounded, and not needed."""

import importlib
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import numba
import numpy as np
import pytest

from ohhell_env import notice
from ohhell_env.kernel import cache

CONSTANTS = """
FACTOR = 10
TABLE = np.array([1, 2, 3])
"""
INNER = """
import numpy as np
from ohhell_env.kernel.jit import jit, jit_apart, popcount
from {name}_constants import FACTOR, TABLE
import {name}_constants as constants

@jit
def inlined(x):
    return x * FACTOR

@jit_apart
def apart(x):
    return x + TABLE[1] + popcount(x)

@jit
def by_module(x):
    return constants.FACTOR - x
"""
OUTER = """
from ohhell_env.kernel.jit import jit
from {name}_inner import inlined, apart, by_module

def adder(n):
    @jit
    def add(x):
        return x + n
    return add

add = adder(1)

@jit
def outer(x):
    '''Doc.'''
    return add(inlined(x)) + apart(x) + by_module(x)

@jit
def other(x):
    return x + 100

def not_compiled():
    return 1
"""


@pytest.fixture
def house(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., tuple[int, int]]:
    """A function: write three modules that import one another, with edits, and import and call them as new.

    It returns what compiled `outer(3)` gives, and how many of `outer` and `other` had to be compiled.
    """
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.syspath_prepend(str(tmp_path))
    runs = iter(range(100))

    def call(**edits: tuple[str, str]) -> tuple[int, int]:
        texts = {"constants": "import numpy as np" + CONSTANTS, "inner": INNER, "outer": OUTER}
        for module, (old, new) in edits.items():
            assert old in texts[module]
            texts[module] = texts[module].replace(old, new)
        for module, text in texts.items():
            sys.modules.pop(f"house_{module}", None)
            file = tmp_path / f"house_{module}.py"
            file.write_text(text.format(name="house"), encoding="utf-8")
            os.utime(file, (next(runs) + 1, 1))  # importlib's own cache compares times in seconds
        importlib.invalidate_caches()
        monkeypatch.setattr(sys, "dont_write_bytecode", True)
        outer: ModuleType = importlib.import_module("house_outer")
        before = set(cache._files(cache.folder()))
        result = outer.outer(3)
        assert outer.other(3) == 103
        return int(result), len(set(cache._files(cache.folder())) - before)

    return call


FIRST = (3 * 10 + 1) + (3 + 2 + 2) + (10 - 3)


def test_a_second_process_compiles_nothing(house: Callable[..., tuple[int, int]]) -> None:
    result, compiled = house()
    assert result == FIRST and compiled == 2
    assert house() == (FIRST, 0)


@pytest.mark.parametrize(
    ("module", "old", "new", "result"),
    [
        ("constants", "FACTOR = 10", "FACTOR = 20", FIRST + 30 + 10),
        ("constants", "[1, 2, 3]", "[1, 5, 3]", FIRST + 3),
        ("inner", "x * FACTOR", "x * FACTOR * 2", FIRST + 30),
        ("inner", "@jit_apart\ndef apart(x):\n    return x", "@jit_apart\ndef apart(x):\n    return 2 * x", FIRST + 3),
        ("inner", "constants.FACTOR - x", "constants.FACTOR - x - 1", FIRST - 1),
        ("outer", "adder(1)", "adder(4)", FIRST + 3),
        ("outer", "return x + n", "return x + n + 1", FIRST + 1),
    ],
)
def test_an_edit_of_what_a_function_calls_or_reads_is_never_missed(
    house: Callable[..., tuple[int, int]], module: str, old: str, new: str, result: int
) -> None:
    house()
    changed, compiled = house(**{module: (old, new)})
    assert changed == result and compiled == 1, "what does not depend on the edit is found"
    assert house() == (FIRST, 0), "the code from before the edit is still there"


@pytest.mark.parametrize(
    ("module", "old", "new"),
    [
        ("constants", "FACTOR = 10", "# a comment\nFACTOR = 10\nOTHER = 5"),
        ("inner", "@jit_apart", "# lines move\n\n\n@jit_apart"),
        ("outer", "'''Doc.'''", "'''Another docstring.'''"),
        ("outer", "return 1", "return 2"),
    ],
)
def test_an_edit_outside_compiled_code_compiles_nothing(
    house: Callable[..., tuple[int, int]], module: str, old: str, new: str
) -> None:
    house()
    assert house(**{module: (old, new)}) == (FIRST, 0)


def test_a_change_of_how_it_is_compiled_counts(house: Callable[..., tuple[int, int]]) -> None:
    house()
    result, compiled = house(inner=("@jit_apart", "@jit"))
    assert result == FIRST and compiled == 1


def test_a_body_put_in_for_a_python_function_counts() -> None:
    """Compiled code does not call `popcount` and `write_mask` themselves, but what stands for them."""
    from ohhell_env.bots import random
    from ohhell_env.kernel import jit, rulebook, standard, wide_play

    assert {jit.popcount, jit._write_popcount} <= cache.reached(jit.nth_bit)
    assert {standard.write_mask, wide_play.write_mask} <= cache.reached(rulebook.write_mask)
    assert jit.mix in cache.reached(random.choose_random), "over several files"


CALLEES = """
import numpy as np
from ohhell_env.kernel.jit import jit_apart, jit, by_form

@jit_apart
def factorial(n):
    if n < 2:
        return 1
    return n * factorial(n - 1)

@jit
def check(n):
    if n > 5:
        raise ValueError("too large", n)
    return n

@jit
def small(record, n):
    return factorial(n) + 1000

@jit
def large(record, n):
    return check(n)

either = by_form(small, large)

@jit
def call(records, n):
    return either(records[0], n)
"""


def test_callees_may_call_themselves_raise_and_be_chosen_by_type(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Compiled in this process, and then read from disk by another."""
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path / "cache"))
    (tmp_path / "callees_here.py").write_text(CALLEES)
    monkeypatch.syspath_prepend(str(tmp_path))
    for _ in range(2):
        sys.modules.pop("callees_here", None)
        module = importlib.import_module("callees_here")
        assert module.call(np.zeros(1, dtype=[("first", "i8")]), 5) == 1120
        assert module.call(np.zeros(1, dtype=[("held_twice", "i8")]), 5) == 5
        with pytest.raises(ValueError, match=r"too large.*6"):
            module.call(np.zeros(1, dtype=[("held_twice", "i8")]), 6)
        assert len(list(cache.folder().iterdir())) == 2


def test_files_that_are_cut_short_are_compiled_anew(house: Callable[..., tuple[int, int]]) -> None:
    house()
    for file in cache.folder().iterdir():
        file.write_bytes(file.read_bytes()[:-100])
    assert house()[0] == FIRST
    assert all(
        cache.hashlib.sha256(f.read_bytes()[54:]).digest() == f.read_bytes()[22:54] for f in cache.folder().iterdir()
    )


def test_the_files_used_least_recently_are_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))
    cache.prune()  # no folder yet
    cache.folder().mkdir()
    for age in range(10):
        file = cache.folder() / f"function-{age}.bin"
        file.write_bytes(bytes(100))
        os.utime(file, (1000 - age, 1000 - age))
    cache.prune(limit=1000)
    assert len(list(cache.folder().iterdir())) == 10
    cache.prune(limit=350)
    assert {file.name for file in cache.folder().iterdir()} == {f"function-{age}.bin" for age in range(3)}


CALL = """
from ohhell_env.kernel.jit import jit, left_of
@jit
def next_seat(seat):
    return left_of(seat, 4)
print(next_seat(3), next_seat(2.0))
"""


@pytest.mark.parametrize("variable", ["NUMBA_CACHE_DIR", "HOME"])
def test_without_a_folder_that_can_be_written_it_works_and_says_so_once(variable: str, tmp_path: Path) -> None:
    script, nowhere = tmp_path / "call.py", tmp_path / "a file"
    script.write_text(CALL)
    nowhere.write_text("")
    environment = {key: value for key, value in os.environ.items() if key not in ("NUMBA_CACHE_DIR", "XDG_CACHE_HOME")}
    run = subprocess.run(
        [sys.executable, str(script)],
        env={**environment, variable: str(nowhere), "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
    )
    assert (run.returncode, run.stdout) == (0, "0 3.0\n"), run.stderr
    assert run.stderr.count("cannot keep compiled code") == 1 and "Set NUMBA_CACHE_DIR" in run.stderr
    assert str(nowhere) in run.stderr and "Not a directory" in run.stderr


def test_a_long_compilation_says_so_and_a_short_one_does_not(
    house: Callable[..., tuple[int, int]], capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def delayed(text: str, write: Callable[[str], None]) -> notice.Delayed:
        return notice.Delayed(text, seconds, write)

    monkeypatch.setattr(cache, "Delayed", delayed)
    monkeypatch.setattr(notice, "_said", set())
    seconds = 0.001
    house()
    said = capfd.readouterr().err
    assert said.count("compiling for a table") == 1 and said.count("\n") == 1, "one line, whatever is compiled within"
    house()
    assert capfd.readouterr().err == "", "what is found on disk is not compiled"
    seconds = 1000.0
    house(outer=("return x + n", "return x + n + 2"))
    assert capfd.readouterr().err == ""


def test_a_slow_block_says_so_on_standard_error(capfd: pytest.CaptureFixture[str]) -> None:
    with notice.if_slow("thinking ...", seconds=1000):
        pass
    with notice.if_slow("thinking hard ...", seconds=0), pytest.raises(ValueError):
        while not (said := capfd.readouterr().err):
            pass
        raise ValueError
    assert said == "thinking hard ...\n"
    notice.say_once("said by this test")
    notice.say_once("said by this test")
    assert capfd.readouterr().err == "said by this test\n"
