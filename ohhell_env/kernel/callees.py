"""How a compiled function that others call is compiled: to be copied into them, and no further.

Numba makes finished machine code of every function on the way to the one that Python calls, with two wrappers for calls
from Python and from C, and optimises each function again in each caller. Nearly all functions here are only called by
others. These are typed and translated once in a process; what Python calls is optimised and made machine code as one
piece. This halves the time of the first step with an empty cache, and the machine code is as fast.

It stands on Numba's inner parts (`Dispatcher`, `compile_extra`, `JITCodeLibrary`) and is tested with Numba 0.68.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba.core import codegen, compiler, types, typing
from numba.core.compiler_lock import global_compiler_lock
from numba.core.typing.templates import infer_global
from numba.extending import models, register_model


class _Piece(codegen.JITCodeLibrary):  # type: ignore[misc]  # Numba is Any to mypy
    """Code that is linked into other code before that is optimised, and is no machine code by itself."""

    def _optimize_final_module(self) -> None:
        pass

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._verify_declare_only_symbols()
        self._finalized = True


class Callees:
    """A dispatcher's function compiled for calls by compiled code: by types of arguments.

    Two methods take the place of the dispatcher's own of the same names, which Numba calls for a call of the function.
    """

    def __init__(self, dispatcher: Any) -> None:
        self._dispatcher = dispatcher
        self._compiled: dict[tuple[Any, ...], tuple[Any, Any]] = {}

    def get_call_template(self, args: Any, kws: Any) -> tuple[Any, Any, Any, Any]:
        """The signature of a call, after compiling the function for it."""
        pysig, args = self._dispatcher._compiler.fold_argument_types(args, kws)
        self._compile(tuple(args))
        name = self._dispatcher.py_func.__name__
        signatures = [result.signature for result, _ in self._compiled.values()]
        return typing.make_concrete_template(f"CallTemplate({name})", key=name, signatures=signatures), pysig, args, {}

    def get_overload(self, args: Any) -> Any:
        """The key under which Numba finds the code for arguments of these types."""
        return self._compile(tuple(args))

    def _compile(self, args: tuple[Any, ...]) -> Any:
        with global_compiler_lock, self._dispatcher._compiling_counter:
            if args not in self._compiled:
                result, key = self._compile_anew(args), object()
                self._dispatcher.targetctx.insert_user_function(key, result.fndesc, [result.library])
                self._compiled[args] = result, key
            return self._compiled[args][1]

    def _compile_anew(self, args: tuple[Any, ...]) -> Any:
        made, function = self._dispatcher._compiler, self._dispatcher.py_func
        flags = compiler.Flags()
        made.targetdescr.options.parse_as_flags(flags, made.targetoptions)
        flags.no_cpython_wrapper = flags.no_cfunc_wrapper = flags.no_compile = True
        context = made.targetdescr.target_context
        return compiler.compile_extra(
            made.targetdescr.typing_context,
            context,
            function,
            args=args,
            return_type=None,
            flags=flags,
            locals=made.locals,
            library=_Piece(context.codegen(), function.__qualname__),
            pipeline_class=made.pipeline_class,
        )


class _Choice(types.Callable, types.Opaque):
    """Numba's type of a function that stands for one of several compiled ones, by the types of its arguments."""

    def __init__(self, function: Callable[..., Any], pick: Callable[..., Any]) -> None:
        super().__init__(f"choice({function.__qualname__}, {id(function)})")  # types of one name are one to Numba
        self._function, self._pick = function, pick  # the function is kept, so its id is not given again

    def _picked(self, args: Any) -> Any:
        picked = self._pick(*args)
        return _choices[picked] if picked in _choices else types.Dispatcher(picked)

    def get_call_type(self, context: Any, args: Any, kws: Any) -> Any:
        """The signature of a call: that of the function picked."""
        return self._picked(args).get_call_type(context, args, kws)

    def get_call_signatures(self) -> tuple[list[Any], bool]:
        """None beforehand: what is picked is compiled for each call's types."""
        return [], True

    def get_impl_key(self, sig: Any) -> Any:
        """The key of the picked function's code."""
        return self._picked(sig.args).get_impl_key(sig)


register_model(_Choice)(models.OpaqueModel)
_choices: dict[Any, _Choice] = {}  # one may pick another


def numba_choice(function: Callable[..., Any], pick: Callable[..., Any]) -> None:
    """In compiled code, a call of ``function`` is one of what ``pick`` gives for the types of the arguments."""
    _choices[function] = _Choice(function, pick)
    infer_global(function, _choices[function])
