"""Play many deals in several processes, in fixed portions: the same results whatever the number of workers."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

import numba
import numpy as np
from numpy.typing import NDArray

from ohhell_env.arena.matches import ArenaError, Played, play
from ohhell_env.bots import Bot, make_bot
from ohhell_env.bots.base import UnfamiliarTableWarning
from ohhell_env.rules.rules import Rules
from ohhell_env.simulator import Simulator

MakeBot = Callable[[str, int], Bot]
Results = Generator[tuple[int, Played], None, None]
Task = TypeVar("Task")
Result = TypeVar("Result")


@dataclass(frozen=True)
class Contest:
    """Who plays by which rules: all that a worker needs before it is told which deals.

    Attributes:
        tables: rules of the matches that make up a deal.
        specs: the contestants.
        seeds: a seed for each contestant.
        make: from a spec and a seed to a bot; must be importable for more than one worker.
    """

    tables: tuple[Rules, ...]
    specs: tuple[str, ...]
    seeds: tuple[int, ...]
    make: MakeBot = make_bot

    def bots(self) -> list[Bot]:
        """The contestants; one who was not made for these tables gives a warning.

        Raises:
            ArenaError: if one cannot be made, with what `make` says about it, or does not play such a table.
        """
        bots = []
        first_deals = Simulator(self.tables, len(self.tables), range(len(self.tables)), observe=False)
        for spec, seed in zip(self.specs, self.seeds, strict=True):
            try:
                bots.append(self.make(spec, seed))
            except ValueError as error:
                raise ArenaError(str(error)) from error
            except (ImportError, OSError) as error:
                raise ArenaError(f"player {spec!r} cannot be loaded: {error}") from error
            try:
                bots[-1].views(first_deals)
            except ValueError as error:
                raise ArenaError(f"player {spec!r}: {error}") from error
            bots[-1].warn_if_unfamiliar(first_deals.tables)
        return bots


class Portion(NamedTuple):
    """Deals that are played in one go."""

    seeds: NDArray[np.int64]  # (D, T)
    seats: NDArray[np.int64]  # (D, R, P)


def portions(seeds: NDArray[np.int64], seats: NDArray[np.int64]) -> list[Portion]:
    """All deals, (D, T) seeds and (D, R, P) seats, in portions whose size depends on nothing but D.

    The output of a custom player's network may depend on the size of the batch in its last bit, as matrix products do;
    so the size must not depend on the number of workers.
    """
    size = min(max(len(seeds) // 16, 1), 256)
    return [Portion(seeds[at : at + size], seats[at : at + size]) for at in range(0, len(seeds), size)]


def play_portions(
    contest: Contest, work: Sequence[Portion], workers: int = 1
) -> Generator[tuple[int, Played], None, None]:
    """Play portions and yield (index, what was played) as each is finished, in no certain order.

    Closing the generator, or an exception in it such as Ctrl-C, ends the workers at once.

    Raises:
        ArenaError: if a player cannot be made or a bot's action is not legal.
    """
    bots = contest.bots()  # here too with workers: mistakes are reported before anything starts
    if workers == 1 or len(work) < 2:
        with one_thread():
            for index, portion in enumerate(work):
                yield index, play(contest.tables, portion.seeds, portion.seats, bots, contest.specs)
        return
    del bots
    yield from in_processes(_play_portion, work, workers, _start_worker, (contest,))


_worker: tuple[Contest, list[Bot]] | None = None  # a worker's players, made once


def _start_worker(contest: Contest) -> None:
    global _worker
    warnings.simplefilter("ignore", UnfamiliarTableWarning)  # the parent has given it
    _worker = contest, contest.bots()


def in_processes(
    run: Callable[[Task], Result],
    work: Sequence[Task],
    workers: int,
    start: Callable[..., None],
    arguments: tuple[Any, ...],
) -> Generator[tuple[int, Result], None, None]:
    """Do some work in several processes and yield (index, result) as each piece is finished, in no certain order.

    Closing the generator, or an exception in it such as Ctrl-C, ends the processes at once.

    Args:
        run: called with each piece of work; importable.
        work: the pieces; data that can be sent to a process.
        workers: processes.
        start: called once in each process, before its first piece.
        arguments: of ``start``.

    Raises:
        ArenaError: if a process was ended from outside.
    """
    others = set(multiprocessing.active_children())
    count, spawn = min(workers, len(work)), multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(count, spawn, _start_process, (start, arguments))
    try:
        waiting = {pool.submit(run, piece): index for index, piece in enumerate(work)}
        for done in as_completed(waiting):
            yield waiting.pop(done), done.result()
    except BaseException as error:
        for child in set(multiprocessing.active_children()) - others:
            child.terminate()
        pool.shutdown(cancel_futures=True)
        if isinstance(error, BrokenProcessPool):
            raise ArenaError("a worker was ended from outside or ran out of memory; try fewer workers") from error
        raise
    pool.shutdown()


def _start_process(start: Callable[..., None], arguments: tuple[Any, ...]) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's to handle
    numba.set_num_threads(1)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    start(*arguments)


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _play_portion(portion: Portion) -> Played:
    if _worker is None:
        raise RuntimeError("the worker was not started")
    contest, bots = _worker
    with one_thread():
        return play(contest.tables, portion.seeds, portion.seats, bots, contest.specs)


@contextlib.contextmanager
def one_thread() -> Iterator[None]:
    """One thread for torch, if a custom player uses it: the processes share the machine."""
    torch = sys.modules.get("torch")  # loaded if a player needs it; do not load it here
    if torch is None:
        yield
        return
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)
