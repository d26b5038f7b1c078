"""Where compiled functions are kept between processes: one folder, one file for each function and its argument types.

Numba's own cache asks only whether the file that defines a function has changed. Code that is copied in from other
files, and constants that come from them, may then be stale. Here the key is what the machine code is made from: the
byte code of the function and of all that it calls, and the values of all constants that they read. So an edit
recompiles what depends on it and nothing else, stale code cannot be loaded, and several checkouts share a folder.

The folder is ``$NUMBA_CACHE_DIR/ohhell_env`` where that variable is set, else ``ohhell_env`` in the user's cache folder
(Linux: ``~/.cache``). The files used least recently are removed beyond `SIZE_LIMIT`. Without a folder that can be
written, everything works and is compiled again by every process; a line on standard error says so once.
"""

from __future__ import annotations

import atexit
import hashlib
import multiprocessing
import os
import pickle
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from types import BuiltinFunctionType, CodeType, FunctionType, ModuleType
from typing import Any

import llvmlite
import numba
import numpy as np
import platformdirs
from numba.core import caching, compiler, event, serialize
from numba.core.dispatcher import Dispatcher

from ohhell_env.notice import Delayed, say_once

SIZE_LIMIT = 256 * 2**20  # bytes; all that the tests compile takes about a fifth of it
_FORMAT = b"ohhell_env compiled 1\n"
_DIGEST = hashlib.sha256().digest_size
# Functions of these are named in a key, not read: their versions are part of it.
_LIBRARIES = {"numpy", "numba", "llvmlite", *sys.stdlib_module_names}
_SCALARS = {bool, int, float, str, bytes, type(None), type(...)}
_VERSIONS = repr((sys.version, numba.__version__, llvmlite.__version__, np.__version__))

# Python functions for which compiled code has another body, and what writes it.
_bodies: dict[Callable[..., Any], list[Callable[..., Any]]] = {}
_nodes: dict[Any, tuple[bytes, list[Any]]] = {}


def note_body(function: Callable[..., Any], body: Callable[..., Any]) -> None:
    """Compiled code that calls ``function`` depends on ``body`` too."""
    _bodies.setdefault(function, []).append(body)


def folder() -> Path:
    """Where compiled functions are kept."""
    base = numba.config.CACHE_DIR or platformdirs.user_cache_dir()
    return Path(base) / "ohhell_env"


# --- What a function's machine code is made from ---------------------------------------------------------------------


def fingerprint(function: Any) -> str:
    """A hash of a compiled function's byte code and of all code and constants that it reaches."""
    return hashlib.sha256(b"".join(sorted(_node(other)[0] for other in reached(function)))).hexdigest()


def reached(function: Any) -> set[Any]:
    """A function, all that it may call, all that these may call, and so on."""
    found, queue = {function}, [function]
    while queue:
        new = set(_node(queue.pop())[1]) - found
        found |= new
        queue += new
    return found


def _node(function: Any) -> tuple[bytes, list[Any]]:
    """Hash of one function without those that it reaches, and these."""
    if function not in _nodes:
        inner = _plain_function(function)
        options = sorted(function.targetoptions.items()) if isinstance(function, Dispatcher) else None
        found: list[Any] = list(_bodies.get(inner, ()))
        text = [repr((inner.__module__, inner.__qualname__, options))]
        text += _code_text(inner.__code__, inner.__doc__)
        for name, value in _names_and_values(inner):
            text.append(f"{name}={_value_text(value, found)}")
        _nodes[function] = hashlib.sha256("\n".join(text).encode()).digest(), found
    return _nodes[function]


def _plain_function(function: Any) -> Any:
    return function.py_func if isinstance(function, Dispatcher) else function


def _code_text(code: CodeType, doc: str | None) -> Iterator[str]:
    """Byte code, names and constants, without the docstring and the numbers of lines."""
    yield repr((code.co_code, code.co_exceptiontable, code.co_names, code.co_varnames, code.co_freevars))
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _code_text(constant, None)
        elif doc is None or constant != doc:
            yield _value_text(constant, [])


def _all_codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _all_codes(constant)


def _names_and_values(function: FunctionType) -> Iterator[tuple[str, Any]]:
    """All that a function reads from outside: defaults, closure, globals, and attributes of modules among them."""
    yield "defaults", function.__defaults__
    cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
    outside = {name: cell.cell_contents for name, cell in cells}
    names = {name for code in _all_codes(function.__code__) for name in code.co_names}
    # Names of attributes are among them too: a global of the same name counts needlessly, and does no harm.
    outside |= {name: function.__globals__[name] for name in names if name in function.__globals__}
    for name, value in sorted(outside.items()):
        yield name, value
        if isinstance(value, ModuleType) and not _is_library(value.__name__):
            for inner in sorted(names):
                if hasattr(value, inner):
                    yield f"{name}.{inner}", getattr(value, inner)


def _is_library(module: str | None) -> bool:
    return (module or "builtins").split(".")[0] in _LIBRARIES


def _value_text(value: Any, found: list[Any]) -> str:
    """A value as text; functions are added to ``found``."""
    if type(value) in _SCALARS:
        return f"{type(value).__name__} {value!r}"
    if isinstance(value, (np.ndarray, np.void)):
        return repr((value.dtype, value.shape, hashlib.sha256(value.tobytes()).digest()))
    if isinstance(value, (tuple, list)):
        return f"{type(value).__qualname__}[{','.join(_value_text(entry, found) for entry in value)}]"
    if isinstance(value, (set, frozenset)):
        return f"{type(value).__qualname__}[{','.join(sorted(_value_text(entry, found) for entry in value))}]"
    if isinstance(value, (FunctionType, Dispatcher)):
        inner = _plain_function(value)
        if not _is_library(inner.__module__):
            found.append(value)
        return f"function {inner.__module__}.{inner.__qualname__}"
    if isinstance(value, (type, BuiltinFunctionType, ModuleType)):
        return f"{type(value).__qualname__} {getattr(value, '__module__', '')}.{value.__name__}"
    if isinstance(value, (bool, int, float, complex, str, bytes, np.generic, np.dtype)):
        return f"{type(value).__qualname__} {value!r}"
    # Numba compiles in no other kind of value: whatever bears the name, the function cannot read it.
    return f"other {type(value).__module__}.{type(value).__qualname__}"


# --- The files -------------------------------------------------------------------------------------------------------


class DiskCache(caching._Cache):  # type: ignore[misc]  # Numba is Any to mypy
    """What Numba asks for machine code of one function before it compiles, and gives it to afterwards."""

    def __init__(self, dispatcher: Any) -> None:
        self._dispatcher = dispatcher
        self._enabled = True

    @property
    def cache_path(self) -> str:
        """The folder, as Numba's own caches name it."""
        return str(folder())

    def enable(self) -> None:
        """Load and save from now on."""
        self._enabled = True

    def disable(self) -> None:
        """Neither load nor save from now on."""
        self._enabled = False

    def flush(self) -> None:
        """Forget nothing: what is out of date is never found, and is removed in time."""

    def _key_and_file(self, signature: Any, codegen: Any) -> tuple[Any, Path]:
        key = (_VERSIONS, fingerprint(self._dispatcher), signature, codegen.magic_tuple())
        name = self._dispatcher.py_func.__qualname__.replace("<locals>", "").strip("<>.")
        digest = hashlib.sha256(repr(key).encode()).hexdigest()
        return key, folder() / f"{name}-{digest[:32]}.bin"

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """The compiled function for argument types, or None where it is not kept."""
        target_context.refresh()
        if not self._enabled:
            return None
        key, file = self._key_and_file(sig, target_context.codegen())
        try:
            content = file.read_bytes()
        except OSError:  # not there, or not to be read: compile
            return None
        start, body = content[: len(_FORMAT)], content[len(_FORMAT) :]
        if start != _FORMAT or hashlib.sha256(body[_DIGEST:]).digest() != body[:_DIGEST]:
            return None  # a file that a crash left unfinished: compile and write it anew
        kept, code = pickle.loads(body[_DIGEST:])
        if kept != key:
            return None
        with suppress(OSError):  # another user's folder, or just removed
            os.utime(file)  # the files used least recently are removed first
        return compiler.CompileResult._rebuild(target_context, *code)

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep a compiled function for argument types."""
        for environment in data._find_referenced_environments():  # of callees: what they raise and print
            data.codegen.set_env(environment.env_name, environment)
        if not self._enabled:
            return
        if data.lifted or data.library.has_dynamic_globals:
            raise TypeError(
                f"{self._dispatcher.py_func.__qualname__} cannot be kept: it reads a large or changing global"
            )
        key, file = self._key_and_file(sig, data.codegen)
        code = serialize.dumps((key, data._reduce()))
        _write(file, _FORMAT + hashlib.sha256(code).digest() + code)


class _Announcer(event.Listener):  # type: ignore[misc]  # Numba is Any to mypy
    """Says once that something is being compiled, when that takes more than a second.

    Numba tells of each function that it compiles, and compiles a function's callees within it.
    """

    def __init__(self) -> None:
        self._depth = 0
        self._line: Delayed | None = None

    def on_start(self, event: Any) -> None:
        """Numba begins to compile a function that is not on disk."""
        self._depth += 1
        if self._depth == 1 and isinstance(event.data["dispatcher"]._cache, DiskCache):
            self._line = Delayed(
                "ohhell_env: compiling for a table of this form, once: about 5 to 15 s", write=say_once
            )

    def on_end(self, event: Any) -> None:
        """The function is compiled, or an error came of it."""
        self._depth -= 1
        if self._depth == 0 and self._line is not None:
            self._line.cancel()
            self._line = None


event.register("numba:compile", _Announcer())


def _write(file: Path, content: bytes) -> None:
    """Write a file in whole or not at all; where that fails, say it once and go on without."""
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=file.parent, prefix="unfinished-")
        try:
            with os.fdopen(handle, "wb") as out:
                out.write(content)
            os.replace(temporary, file)
        except BaseException:
            os.unlink(temporary)
            raise
    except OSError as error:
        if multiprocessing.parent_process() is None:  # workers leave it to the program that started them
            say_once(
                f"ohhell_env: cannot keep compiled code in {file.parent} ({error.strerror}): every process compiles the"
                " rules anew. Set NUMBA_CACHE_DIR to a folder that can be written."
            )
        return
    atexit.unregister(prune)
    atexit.register(prune)


def prune(limit: int = SIZE_LIMIT) -> None:
    """Remove the files used least recently, until all together have at most ``limit`` bytes."""
    files = []
    for file in _files(folder()):
        with suppress(OSError):  # removed by another process
            status = file.stat()
            files.append((status.st_mtime, status.st_size, file))
    total = sum(size for _, size, _ in files)
    for _, size, file in sorted(files):
        if total <= limit:
            return
        with suppress(OSError):
            file.unlink()
        total -= size


def _files(place: Path) -> Iterable[Path]:
    return place.iterdir() if place.is_dir() else ()
