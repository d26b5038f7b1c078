"""A training run's options: every default sensible, every value checked before anything starts."""

from __future__ import annotations

import dataclasses
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from ohhell_env.bots.policy.features import HAND_SECTIONS, input_sources
from ohhell_env.bots.policy.network import EVERY_TABLE
from ohhell_env.bots.policy.vectors import BLOCK
from ohhell_env.rules.cards import STANDARD_DECK, Deck
from ohhell_env.rules.limits import MAX_PLAYERS, MIN_PLAYERS, WIDE_MAX_PLAYERS, WIDE_MIN_PLAYERS
from ohhell_env.rules.rules import Rules
from training.learning.options import check_ranges, check_same_run, plain
from training.learning.tables import Entry, Mixture, allows, matches_of, mixture_of, read_entries

# Options that a resumed run may change: how long, how fast, how often it is looked at.
RESUMABLE = frozenset(
    {
        "folder", "decisions", "cpu_minutes", "threads", "device", "save_minutes", "eval_minutes", "eval_deals",
        "eval_opponent",
    }
)  # fmt: skip
# The best options of each learner by themselves, and the options that only it has.
OWN_DEFAULTS = {
    "ppo": {"lr": 3e-3, "update_epochs": 2},
    "dmc": {"lr": 1e-3, "update_epochs": 1},
    "all-action": {"lr": 2e-4, "update_epochs": 1},
}
_OPTIONS_OF = {
    "ppo": {"ent_coef", "final_ent_coef", "magnet", "gae_lambda", "clip_coef", "vf_coef"},
    "dmc": {"epsilon", "final_epsilon", "temperature"},
    "all-action": {"student", "close_cards", "close_bids", "held_out_iterations", "gate_deals"},
}
WITHOUT = {
    learner: set().union(*(options for other, options in _OPTIONS_OF.items() if other != learner)) - own
    for learner, own in _OPTIONS_OF.items()
}


@dataclass(frozen=True)
class Config:
    """A training run.

    Attributes:
        folder: the run's folder; if it holds a run, that run is resumed.
        decisions: decisions with a choice to train on, all seats together; the run ends at exactly that.
            25 million take about an hour on one core, evaluations included.
        cpu_minutes: CPU time, of all processes together, at which the run ends if that comes before its
            decisions; 0 for no such limit. Learning rate and exploration then follow that clock, too, so
            that such a run is not repeated bit for bit.
        seed: everything random in the run follows from it.
        threads: of the CPU, for the network.
        device: where the network is and learns: "cpu" or "cuda", a GPU for each process; hands are played on the CPU.
        precision: arithmetic of the network behind its first layer: "fp32", "bf16", or "auto", the one that a timing
            at the start of the run finds faster.
        learner: "ppo", proximal policy optimisation: logits and a critic; or "dmc", Deep Monte Carlo: each action's
            value is regressed to the hand's return.
            "all-action" improves the policy of ``init_from``: each close option of a decision is played out.
        width: units of a hidden layer, a multiple of 64.
        depth: hidden layers.
        sections: sections of the observation that the network is fed.
        init_from: checkpoint (name or folder) whose weights the run starts from.
        players: player counts at the tables, each as often as it is listed.
        max_hand_size: largest hand in cards, where the deck allows it; 0 for no limit.
        large_hands: how much more often the largest hand is dealt than a hand of no cards would be: 0 for all alike.
        sealed: share of the tables where bids are sealed; they are open at the others.
        hook: share of the tables where the dealer may not make the bids fit.
        deck: cards of the deck, as "AC KC ..."; all 52 when empty.
        rules: presets or rules files, all hands of their ramps, in place of the tables that ``sealed``, ``hook`` and
            ``deck`` describe; at those of ``players`` that each allows, or else at its own number. The network is then
            one for every table, and a table's returns are in units of its own spread.
        set: changes of all of these, as OPTION=VALUE: bids=open scoring=blob.
        tables: a TOML file that lists tables, beside ``rules``, with weights: see docs/training.md.
        match: share of the hands that are hands of matches, at those of the tables that have matches of several hands;
            the return is then the change of the seat's chance to win the match. For a network for every table.
        past: share of the hands in which a past policy of this run has one or two seats; its decisions are not learned
            from. One is kept at every twentieth of the run, in the folder `past`, and one drawn for each iteration.
        past_from: share of the run done before past policies play.
        opponents: bots, as spec strings, that have some seats, one or more but not all, in some of the hands; their
            decisions are not learned from.
        opponents_share: share of the hands in which one of them plays.
        hands: hands played in an iteration, all at once, before the network learns from them.
        epsilon: share of decisions that are random, at the start; dmc only, as are the next two: ppo draws actions by
            the probabilities that it learns.
        final_epsilon: the same at the end; in between it falls in proportion to the share of the run done.
        temperature: above 0, actions are drawn with probability proportional to exp(value / temperature).
        ent_coef: ppo: weight of the policy's entropy, in tens of points a nat, at the start.
        final_ent_coef: the same at the end; in between it falls in proportion to the share of the run done.
        magnet: ppo: weight of the policy's divergence from the magnet, the average of the weights as the iteration
            began: KL(policy, magnet) in nats; 0 for none.
        gae_lambda: ppo: how far advantages look past the seat's next decision, 0 (not at all) to 1 (to the hand's end).
        clip_coef: ppo: how far an action's probability may move, as a share of itself, before it is not learned
            from any more.
        vf_coef: ppo: weight of the critic's squared error.
        student: all-action: checkpoint that plays the options out, as a fast policy; the policy itself by default.
        close_cards: all-action: cards are played out whose output is so close to the best one's, in units of return.
        close_bids: the same of bids, and of all else that is not a card.
        held_out_iterations: all-action: iterations of positions that choose the step at the end.
        gate_deals: all-action: fresh deals, each played in every seat, on which the result must be ahead.
        relabel: suits are renamed in the order of play, or at random, before the network sees them.
        minibatch_size: decisions in a gradient step, in all processes together.
        update_epochs: how often each decision is learned from; 0 for the learner's own number, ppo 2 and dmc 1.
        lr: Adam's learning rate at the start; 0 for the learner's own, ppo 3e-3 and dmc 1e-3.
        final_lr: the same at the end; in between it falls along a half cosine.
        warmup: gradient steps over which the learning rate rises from 0.
        max_grad_norm: gradients of a greater norm are scaled down to it.
        ema: decay, a gradient step, of the average of the weights that evaluation and checkpoints use.
        save_minutes: time between writes of the run's state.
        eval_minutes: time between evaluations on fixed deals; 0 for none.
        eval_deals: deals for each table of an evaluation.
        eval_opponent: the player at all other seats, as a spec string.

    Raises:
        ValueError: naming the option, its value and what is allowed.
    """

    folder: Path = Path("runs/policy")
    decisions: int = 25_000_000
    cpu_minutes: float = 0.0
    seed: int = 1
    threads: int = 1
    device: Literal["cpu", "cuda"] = "cpu"
    precision: Literal["auto", "fp32", "bf16"] = "auto"
    learner: Literal["ppo", "dmc", "all-action"] = "ppo"
    width: int = 512
    depth: int = 3
    sections: tuple[str, ...] = HAND_SECTIONS
    init_from: str = ""
    players: tuple[int, ...] = (3, 4, 4, 5, 5, 6, 6, 7, 7)
    max_hand_size: int = 0
    large_hands: float = 1.0
    sealed: float = 0.5
    hook: float = 0.75
    deck: str = ""
    rules: tuple[str, ...] = ()
    set: tuple[str, ...] = ()
    tables: str = ""
    match: float = 0.0
    past: float = 0.0
    past_from: float = 0.5
    opponents: tuple[str, ...] = ()
    opponents_share: float = 0.25
    hands: int = 4096
    epsilon: float = 0.05
    final_epsilon: float = 0.01
    temperature: float = 0.0
    ent_coef: float = 0.05
    final_ent_coef: float = 0.002
    magnet: float = 0.0
    gae_lambda: float = 0.9
    clip_coef: float = 0.2
    vf_coef: float = 0.5
    student: str = ""
    close_cards: float = 0.4
    close_bids: float = 0.6
    held_out_iterations: int = 4
    gate_deals: int = 4000
    relabel: Literal["canonical", "random"] = "canonical"
    minibatch_size: int = 4096
    update_epochs: int = 0
    lr: float = 0.0
    final_lr: float = 5e-5
    warmup: int = 100
    max_grad_norm: float = 1.0
    ema: float = 0.999
    save_minutes: float = 5.0
    eval_minutes: float = 10.0
    eval_deals: int = 100
    eval_opponent: str = "heuristic"

    def __post_init__(self) -> None:
        if self.learner not in OWN_DEFAULTS:
            raise ValueError(f"learner={self.learner!r} is not known; use {' or '.join(map(repr, OWN_DEFAULTS))}")
        for option, default in OWN_DEFAULTS[self.learner].items():
            object.__setattr__(self, option, getattr(self, option) or default)
        own_ranges = {
            "cpu_minutes": (0, 10**9),
            "width": (1, 65536),
            "depth": (1, 64),
            "max_hand_size": (0, 52),
            "large_hands": (0, 100),
            "sealed": (0, 1),
            "hook": (0, 1),
            "match": (0, 1),
            "past": (0, 1),
            "past_from": (0, 1),
            "opponents_share": (0, 1),
            "epsilon": (0, 1),
            "final_epsilon": (0, self.epsilon),
            "temperature": (0, 1000),
            "ent_coef": (0, 100),
            "final_ent_coef": (0, self.ent_coef),
            "magnet": (0, 100),
            "gae_lambda": (0, 1),
            "clip_coef": (1e-6, 1),
            "vf_coef": (0, 1000),
            "close_cards": (0, 100),
            "close_bids": (0, 100),
            "held_out_iterations": (1, 10**6),
            "gate_deals": (2, 10**7),
            "update_epochs": (1, 100),
            "final_lr": (0, self.lr),
            "warmup": (0, 10**9),
            "max_grad_norm": (1e-9, 1e9),
            "ema": (0, 0.999999),
            "eval_minutes": (0, 10**6),
            "eval_deals": (1, 10**6),
        }
        check_ranges(self, own_ranges)
        if self.width % BLOCK:
            raise ValueError(f"width={self.width!r} is not allowed; use a multiple of {BLOCK}")
        own = self.rules or self.tables
        low, high = (WIDE_MIN_PLAYERS, WIDE_MAX_PLAYERS) if own else (MIN_PLAYERS, MAX_PLAYERS)
        if not self.players or any(not low <= p <= high for p in self.players):
            raise ValueError(f"players={self.players!r} is not allowed; use numbers from {low} to {high}")
        if self.precision not in ("auto", "fp32", "bf16"):
            raise ValueError(f"precision={self.precision!r} is not known; use 'auto', 'fp32' or 'bf16'")
        if self.device not in ("cpu", "cuda"):
            raise ValueError(f"device={self.device!r} is not known; use 'cpu' or 'cuda'")
        if self.magnet and "magnet" in WITHOUT[self.learner]:
            raise ValueError(f"magnet={self.magnet!r} is for learner='ppo'; dmc learns values, not probabilities")
        if self.epsilon == 0 and self.temperature == 0 and "epsilon" not in WITHOUT[self.learner]:
            raise ValueError("epsilon=0 and temperature=0: nothing would ever be explored; set one of them above 0")
        if self.rules or self.tables:
            if self.deck or self.sections not in (HAND_SECTIONS, EVERY_TABLE):
                raise ValueError("deck and sections are not for runs with rules or tables; use --set deck=...")
            object.__setattr__(self, "sections", EVERY_TABLE)
        elif self.set:
            raise ValueError(f"set={self.set!r} changes rules; give those too, as in --rules oh_hell")
        if not self.every_table:
            input_sources(self.sections)
            if self.match:
                raise ValueError(f"match={self.match!r} is for runs with --rules or --tables: others see no totals")
        self.mixture()
        if self.match:
            self.matches()

    @property
    def every_table(self) -> bool:
        """Whether the network is one for every table."""
        return self.sections == EVERY_TABLE

    def entries(self) -> list[Entry]:
        """The tables that ``rules`` and ``tables`` name."""
        found = [Entry(name, self._players_of(name, self.set), self.set, 1.0) for name in self.rules]
        for entry in read_entries(Path(self.tables)) if self.tables else ():
            if entry.random:
                found.append(entry)
                continue
            changes = (*entry.set, *self.set)
            found.append(entry._replace(players=entry.players or self._players_of(entry.rules, changes), set=changes))
        return found

    def _players_of(self, rules: str, changes: tuple[str, ...]) -> tuple[int, ...]:
        """Those of ``players`` that a preset allows; empty where it allows none, and for a file, which has its own."""
        if rules.endswith(".json"):
            return ()
        return tuple(players for players in self.players if allows(rules, players, changes))

    @property
    def cards(self) -> Deck:
        """The cards in play."""
        return Deck.of(self.deck) if self.deck else STANDARD_DECK

    def mixture(self) -> Mixture:
        """The tables of the run."""
        if self.rules or self.tables:
            return mixture_of(self.entries(), self.max_hand_size, self.large_hands)
        rules, shares = [], []
        for players in sorted(set(self.players)):
            peak = Rules(players=players, deck=self.cards).peak
            largest = min(peak, self.max_hand_size or peak)
            sizes = [1 + self.large_hands * size / largest for size in range(1, largest + 1)]
            for size, weight in enumerate(sizes, 1):
                for bids, bids_share in (("sealed", self.sealed), ("open", 1 - self.sealed)):
                    for hook, hook_share in ((True, self.hook), (False, 1 - self.hook)):
                        share = self.players.count(players) / len(self.players) * weight / sum(sizes)
                        if bids_share * hook_share > 0:
                            rules.append(Rules(players, (size,), hook=hook, bids=bids, deck=self.cards))
                            shares.append(share * bids_share * hook_share)
        return Mixture(rules, shares)

    def matches(self) -> Mixture:
        """The tables whose matches `match` deals hands of."""
        return matches_of(self.entries())

    def to_json(self) -> dict[str, Any]:
        """The options as plain data."""
        return plain(self)

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Config:
        """The inverse of `to_json`.

        Raises:
            ValueError: for an option that is unknown or whose value is not allowed.
        """
        known = {field.name for field in dataclasses.fields(cls)}
        if unknown := sorted(set(data) - known):
            raise ValueError(f"unknown options {', '.join(unknown)}; a run has {', '.join(sorted(known))}")
        options: dict[str, Any] = {
            key: tuple(value) if isinstance(value, list) else value for key, value in data.items()
        }
        options["folder"] = Path(options.get("folder", cls.folder))
        return cls(**options)


def check_resumable(config: Config, folder: Path) -> None:
    """Refuse to resume a run with options that would make it another run.

    Raises:
        ValueError: naming each option that differs, with both values.
    """
    before = Config.from_json(json.loads((folder / "config.json").read_text()))
    check_same_run(folder, vars(before), vars(config), RESUMABLE | WITHOUT[config.learner])
