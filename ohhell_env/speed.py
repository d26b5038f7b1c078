"""Speeds beside each other in one run: ``ohhell speed``. Absolute figures depend on the machine.

Each figure is the best of several repeats, since a shared machine only ever makes things slower; ratios are of figures
measured in the same run. One core, four players, uniformly random legal play.
"""

from __future__ import annotations

import importlib.util
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import tyro
from gymnasium import spaces
from numpy.typing import NDArray
from pettingzoo import AECEnv
from pettingzoo.utils.wrappers import AssertOutOfBoundsWrapper, OrderEnforcingWrapper, TerminateIllegalWrapper
from rich.console import Console
from rich.table import Table

from ohhell_env import ohhell_v0
from ohhell_env.bots.policy.bot import load_policy, student_of
from ohhell_env.bots.policy.fast import FastNetwork
from ohhell_env.bots.policy.search import play_out_in_steps
from ohhell_env.files import write_whole
from ohhell_env.kernel.jit import jit, next_state
from ohhell_env.kernel.rulebook import NUM_ACTIONS, random_action
from ohhell_env.observation.standard import OBSERVATION_SIZE
from ohhell_env.options import run_command
from ohhell_env.rules.rules import Rules
from ohhell_env.simulator import Simulator

GAMES = 1024
ROLLOUTS = 2000  # hands of 3 to 10 cards
POLICY = "mix512"
MEMORY_GAMES = 100_000


@jit
def pick_random(games: Any, streams: Any, actions: Any) -> None:
    """A random legal action for every game."""
    for i in range(games.shape[0]):
        streams[i] = next_state(streams[i])
        actions[i] = random_action(games[i], streams[i])


def best_rate(run: Callable[[], float], repeats: int, amount: int) -> float:
    """Amount per second of the fastest of several runs; ``run`` returns the seconds that it took."""
    return amount / min(run() for _ in range(repeats))


def kernel_rate(repeats: int, decisions: int = 4000) -> float:
    """Random decisions per second inside the kernel."""
    simulator = Simulator(num_games=GAMES, seed=1, observe=False)
    simulator.play_random(1)

    def run() -> float:
        start = time.perf_counter()
        simulator.play_random(decisions)
        return time.perf_counter() - start

    return best_rate(run, repeats, GAMES * decisions)


def step_rate(repeats: int, observe: bool, steps: int = 1000) -> float:
    """Steps a second of `Simulator.step`, into reused arrays; picking the actions is not counted."""
    simulator = Simulator(num_games=GAMES, seed=1, observe=observe)
    batch = simulator.reset()
    actions = np.empty(GAMES, dtype=np.int64)
    streams = np.arange(GAMES, dtype=np.uint64)
    simulator.play_random(300)  # games at all stages of a match

    def run() -> float:
        seconds = 0.0
        for _ in range(steps):
            pick_random(simulator.games, streams, actions)
            start = time.perf_counter()
            simulator.step(actions, out=batch)
            seconds += time.perf_counter() - start
        return seconds

    run()
    return best_rate(run, repeats, GAMES * steps)


class NoOp(AECEnv[str, Any, Any]):
    """An AEC environment of the same spaces that only passes the turn: what PettingZoo's interface itself costs."""

    metadata = {"name": "no_op_v0", "render_modes": [], "is_parallelizable": False}
    render_mode = None

    def __init__(self, length: int = 800) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.possible_agents = [f"player_{seat}" for seat in range(4)]
        self._spaces = {agent: spaces.Discrete(NUM_ACTIONS) for agent in self.possible_agents}
        self._views = {
            agent: spaces.Dict(
                observation=spaces.Box(0, 1, (OBSERVATION_SIZE,), np.int8),
                action_mask=spaces.Box(0, 1, (NUM_ACTIONS,), np.int8),
            )
            for agent in self.possible_agents
        }
        mask = np.zeros(NUM_ACTIONS, dtype=np.int8)
        mask[:5] = 1
        self._seen = {"observation": np.zeros(OBSERVATION_SIZE, dtype=np.int8), "action_mask": mask}
        self._length = length

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        return self._views[agent]

    def action_space(self, agent: str) -> spaces.Space[Any]:
        return self._spaces[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        self.agents = self.possible_agents[:]
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos = {agent: {} for agent in self.agents}
        self._turn = 0
        self.agent_selection = self.agents[0]

    def observe(self, agent: str) -> Any:
        return self._seen

    def step(self, action: Any) -> None:
        agent = self.agent_selection
        if self.terminations[agent]:
            self._was_dead_step(action)
            return
        self._cumulative_rewards[agent] = 0.0
        self._clear_rewards()
        self._turn += 1
        if self._turn == self._length:
            self.terminations = dict.fromkeys(self.agents, True)
        self.agent_selection = self.possible_agents[self._turn % 4]
        self._accumulate_rewards()

    def close(self) -> None:
        """Nothing is open."""


def loop_rate(env: Any, sample: bool, repeats: int, steps: int = 10_000) -> float:
    """Steps a second of the AEC loop: last(), pick from the mask, step().

    Picked as PettingZoo's pages do it, by ``action_space(agent).sample(mask)``, or in the quickest way.
    """
    rng = np.random.default_rng(0)

    def run() -> float:
        draws = rng.random(steps).tolist()
        env.reset(seed=1)
        start = time.perf_counter()
        for draw in draws:
            observation, _, terminated, truncated, _ = env.last()
            if terminated or truncated:
                env.reset()
            elif sample:
                env.step(env.action_space(env.agent_selection).sample(observation["action_mask"]))
            else:
                legal = observation["action_mask"].nonzero()[0]
                env.step(legal[int(draw * len(legal))])
        return time.perf_counter() - start

    return best_rate(run, repeats, steps)


def aec_rates(repeats: int) -> dict[str, float]:
    """The AEC loop of this environment, of the no-op baseline, and of the baseline in PettingZoo's three wrappers."""
    wrapped = OrderEnforcingWrapper(AssertOutOfBoundsWrapper(TerminateIllegalWrapper(NoOp(), illegal_reward=-1)))
    environments = {"aec": ohhell_v0.env(), "no_op": NoOp(), "no_op_wrapped": wrapped}
    return {
        f"{name}_{'sample' if sample else 'pick'}": loop_rate(env, sample, repeats)
        for sample in (True, False)
        for name, env in environments.items()
    }


def openspiel_rates(repeats: int) -> dict[str, float]:
    """OpenSpiel's oh_hell, one deal of 12 tricks for 4 players: C++ rollouts, and a learner's steps in Python.

    With dealing, as in our figures, they are games of its random bots; without, rollouts of its tree search.
    A learner's step fills the information state tensor (4,644 floats) through the observer, asks for the mask, and
    takes a random legal action.
    """
    import pyspiel
    from open_spiel.python.observation import make_observation

    game = pyspiel.load_game("oh_hell(players=4,num_tricks_fixed=12)")
    decisions, games = 4 + 4 * 12, 1000
    rng = np.random.default_rng(0)

    def dealt() -> Any:
        state = game.new_initial_state()
        while state.is_chance_node():
            outcomes = [outcome for outcome, _ in state.chance_outcomes()]
            state.apply_action(outcomes[int(rng.random() * len(outcomes))])
        return state

    bots = [pyspiel.make_uniform_random_bot(seat, seat) for seat in range(4)]

    def whole() -> float:
        start = time.perf_counter()
        for seed in range(games):
            pyspiel.evaluate_bots(game.new_initial_state(), bots, seed)
        return time.perf_counter() - start

    def in_tree_search() -> float:
        evaluator = pyspiel.RandomRolloutEvaluator(games, 1)
        bot = pyspiel.MCTSBot(game, evaluator, 1.0, 1, 100, False, 1, False)
        state = dealt()
        start = time.perf_counter()
        bot.step(state)
        return time.perf_counter() - start

    observation = make_observation(game, pyspiel.IIGObservationType(perfect_recall=True))

    def observed() -> float:
        states = [dealt() for _ in range(10)]
        start = time.perf_counter()
        for state in states:
            while not state.is_terminal():
                observation.set_from(state, state.current_player())
                state.legal_actions_mask()
                legal = state.legal_actions()
                state.apply_action(legal[int(rng.random() * len(legal))])
        return time.perf_counter() - start

    return {
        "openspiel_rollouts": best_rate(whole, repeats, games * decisions),
        "openspiel_rollouts_without_dealing": best_rate(in_tree_search, repeats, games * decisions),
        "openspiel_observed": best_rate(observed, repeats, 10 * decisions),
    }


def rollout_rates(repeats: int) -> dict[str, float]:
    """Decisions with a choice a second in rollouts by a shipped policy, and by the fast policy distilled from it."""
    simulator = Simulator([Rules(ramp=(size,)) for size in range(3, 11)], ROLLOUTS, seed=1, observe=False)
    tables, streams = simulator.tables, np.arange(ROLLOUTS, dtype=np.uint64)
    policy = load_policy(POLICY)
    student = student_of(policy.meta["weights_sha256"])

    def rate(play: Callable[[NDArray[np.void]], int]) -> float:
        play(simulator.games[:1].copy())  # compiles
        best = 0.0
        for _ in range(repeats):
            games = simulator.games.copy()
            start = time.perf_counter()
            best = max(best, play(games) / (time.perf_counter() - start))
        return best

    rates = {"rollouts_policy": rate(lambda games: play_out_in_steps(policy, games, tables, 0.0, streams.copy()))}
    if student is not None:
        network = load_policy(student).network
        assert isinstance(network, FastNetwork)
        rates["rollouts_fast_policy"] = rate(lambda games: network.play_out(games, tables, 0.0, streams.copy()))
    return rates


def fresh_seconds(code: str, cache: str | None = None) -> float:
    """Seconds that a piece of code reports when run in a fresh process."""
    environment = dict(os.environ)
    if cache is not None:
        environment["NUMBA_CACHE_DIR"] = cache
    program = f"import time; start = time.perf_counter(); {code}; print(time.perf_counter() - start)"
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True)
    return float(done.stdout.split()[-1])


def start_seconds(repeats: int) -> dict[str, float]:
    """Import, and import to first step in a fresh process with a warm and with an empty compile cache."""
    first = (
        "from ohhell_env import ohhell_v0; env = ohhell_v0.env(); env.reset(seed=1); "
        "env.step(env.last()[0]['action_mask'].argmax())"
    )
    with tempfile.TemporaryDirectory() as cache:
        cold = fresh_seconds(first, cache)
        warm = min(fresh_seconds(first, cache) for _ in range(repeats))
    return {
        "import_seconds": min(fresh_seconds("from ohhell_env import ohhell_v0") for _ in range(repeats)),
        "first_step_warm_seconds": warm,
        "first_step_cold_seconds": cold,
    }


def memory() -> dict[str, float]:
    """Megabytes (10**6 bytes) of the arrays of 100,000 games: states alone, and what each step's batch adds."""
    simulator = Simulator(num_games=MEMORY_GAMES, seed=1, observe=False)
    masks = simulator.current()
    states = simulator.games.nbytes + simulator.tables.nbytes
    return {
        "megabytes_states": states / 1e6,
        "megabytes_states_and_masks": (states + sum(part.nbytes for part in masks)) / 1e6,
        "megabytes_observations": MEMORY_GAMES * OBSERVATION_SIZE / 1e6,
    }


def measure(repeats: int = 5) -> dict[str, Any]:
    """All figures: rates in decisions per second, seconds, megabytes."""
    figures: dict[str, Any] = {
        "machine": {"processor": _processor(), "python": platform.python_version(), "numpy": np.__version__},
        "kernel": kernel_rate(repeats),
        "step_mask": step_rate(repeats, observe=False),
        "step_observation": step_rate(repeats, observe=True),
        **aec_rates(repeats),
        **rollout_rates(repeats),
        **memory(),
        **start_seconds(min(repeats, 3)),
    }
    if importlib.util.find_spec("pyspiel") is not None:
        figures |= openspiel_rates(repeats)
    return figures


def _processor() -> str:
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        for line in cpuinfo.read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":")[1].strip()
    return platform.processor() or platform.machine()


def table_of(figures: dict[str, Any]) -> Table:
    """The figures as a table, with their ratios."""
    table = Table(title="Oh Hell!, four players, one core, random legal play")
    table.add_column("what")
    table.add_column("rate", justify="right")
    table.add_column("beside", justify="right")

    def rate(key: str) -> str:
        value = figures[key]
        return f"{value / 1e6:.1f} M/s" if value >= 1e6 else f"{value / 1e3:.0f} k/s"

    def ratio(key: str, to: str, what: str) -> str:
        return f"{figures[key] / figures[to]:.3g} x {what}" if to in figures else ""

    table.add_row("random decisions inside the kernel", rate("kernel"), ratio("kernel", "openspiel_rollouts", "(a)"))
    table.add_row("Simulator.step, mask", rate("step_mask"), ratio("step_mask", "openspiel_rollouts", "(a)"))
    table.add_row(
        "Simulator.step, observation and mask",
        rate("step_observation"),
        ratio("step_observation", "openspiel_observed", "(b)"),
    )
    table.add_row(f"rollouts by {POLICY}, decisions with a choice", rate("rollouts_policy"), "")
    if "rollouts_fast_policy" in figures:
        table.add_row(
            "rollouts by the fast policy distilled from it",
            rate("rollouts_fast_policy"),
            ratio("rollouts_fast_policy", "rollouts_policy", POLICY),
        )
    if "openspiel_rollouts" in figures:
        table.add_row("(a) OpenSpiel oh_hell, C++ rollouts, dealing included", rate("openspiel_rollouts"), "")
        table.add_row("the same without dealing", rate("openspiel_rollouts_without_dealing"), "")
        table.add_row("(b) OpenSpiel from Python, tensor and mask", rate("openspiel_observed"), "")
    table.add_section()
    for way, words in (("sample", "picked by action_space.sample(mask)"), ("pick", "picked in the quickest way")):
        beside = [
            ratio(f"aec_{way}", f"{other}_{way}", to) for other, to in (("no_op", "(c)"), ("no_op_wrapped", "(d)"))
        ]
        table.add_row(f"AEC loop, {words}", rate(f"aec_{way}"), ", ".join(beside))
        table.add_row("(c) no-op AEC baseline, the same loop", rate(f"no_op_{way}"), "")
        table.add_row("(d) the same behind the usual wrappers", rate(f"no_op_wrapped_{way}"), "")
    table.add_section()
    table.add_row("import", f"{figures['import_seconds']:.2f} s", "")
    table.add_row("fresh process to first step, warm cache", f"{figures['first_step_warm_seconds']:.2f} s", "")
    table.add_row("fresh process to first step, compiling", f"{figures['first_step_cold_seconds']:.1f} s", "")
    table.add_row(
        "100,000 games",
        f"{figures['megabytes_states']:.0f} MB",
        f"with masks {figures['megabytes_states_and_masks']:.0f} MB, "
        f"observations {figures['megabytes_observations']:.0f} MB more",
    )
    return table


@dataclass(frozen=True)
class Options:
    """Measure the speed of the simulator and the environments, one beside the other."""

    repeats: int = 5
    """Repeats of each measurement; the best counts."""
    json: Annotated[Path | None, tyro.conf.arg(metavar="FILE")] = None
    """Write the figures (rates a second, seconds, megabytes) to this file instead of printing them as JSON."""


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; returns the exit status."""
    return run_command(Options, _run, "ohhell speed", arguments, page_width=110)


def _run(options: Options, console: Console) -> None:
    figures = measure(options.repeats)
    console.print(table_of(figures))
    text = json.dumps(figures, indent=2)
    if options.json is None:
        print(text)
    else:
        write_whole(options.json, text + "\n")


if __name__ == "__main__":
    sys.exit(main())
