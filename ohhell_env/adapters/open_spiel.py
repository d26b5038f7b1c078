"""One hand of Oh Hell! as an OpenSpiel game, for CFR, MCCFR, NashConv, ISMCTS: `register`, then ``load_game``.

The rules are the kernel's: a state holds a game record, which the kernel deals, steps and scores. Actions are those of
the environment: card numbers, then bids. Parameters of the game, each an option of `Rules`:

| parameter | default | allowed |
| --- | --- | --- |
| players | 4 | as `Rules` |
| hand_size | 3 | cards dealt to each seat |
| deck | "" | the 52 cards, or a deck of its own: "AC KC QC AD KD QD" |
| bids | "sealed" | or "open" |
| hook | True | or False |
| trump | "turned" | or "none" |
| scoring | "exact" | a name in `ohhell_env.rules.scoring.SCORINGS` |
| dealer | 0 | seat |
| reward | "points" | or "zero_sum" (minus the table's mean), "win" (share of the win) |

Chance deals one card at a time, seat after seat, each hand in ascending order, and then turns a card up. Every deal has
the same chance as at the table; but the order in which a seat gets its cards tells nothing, so it is not told apart:
for three players of two cards each that is an eighth of the histories.

The information state is everything that the seat has seen, in order (perfect recall): the cards it was dealt, the card
turned up, bids as it sees them, bids open to it, cards as played. Its tensor is the environment's observation and after
it a row for each card played. The observation tensor is the environment's observation alone.

``resample_from_infostate`` works in Python, where ISMCTS calls it; OpenSpiel's ISMCTS in C++ takes no Python games.

OpenSpiel's own ``oh_hell`` plays the same with ``bids="open", scoring="basic"``, move by move, but for this:

- It draws the dealer, and where it is not told the number of tricks that too; here both are given.
- It always turns a card up, so that it never deals the whole deck (13 cards for four); here such a deal has no trump.
- It deals round the table from seat 0; here hand by hand. Each deal is as likely in both.
- It numbers cards by rank first and bids after the cards of its deck; here ``13 * suit + rank`` and 52 + bid.
- Its bids are always open, its hook is always on, and of its two scorings one is here: ``basic``.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ohhell_env.adapters import missing_extra
from ohhell_env.bots.determinization import PLAN, deal_world, plan_deals
from ohhell_env.kernel import rulebook
from ohhell_env.kernel.jit import stream_of
from ohhell_env.kernel.state import BID, GAME, HAND_OVER, NONE
from ohhell_env.observation.decode import observation_text
from ohhell_env.observation.standard import encode, observation_layout
from ohhell_env.rules.cards import STANDARD_DECK, Deck, card_name
from ohhell_env.rules.limits import MAX_PLAYERS, MIN_PLAYERS
from ohhell_env.rules.rules import Rules
from ohhell_env.rules.scoring import resolve, tabulate
from ohhell_env.simulator import Simulator
from ohhell_env.table.actions import action_text
from ohhell_env.table.game import Game, illegal_action_text
from ohhell_env.table.text import table_text

try:
    import pyspiel
except ImportError as error:
    raise missing_extra(error, "openspiel") from error

NAME = "ohhell_v0"
_TYPE = pyspiel.GameType
_CHANCE, _TERMINAL = int(pyspiel.PlayerId.CHANCE), int(pyspiel.PlayerId.TERMINAL)
_DEFAULTS: dict[str, Any] = {
    "players": 4,
    "hand_size": 3,
    "deck": "",
    "bids": "sealed",
    "hook": True,
    "trump": "turned",
    "scoring": "exact",
    "dealer": 0,
    "reward": "points",
}


def _game_type(reward: str) -> Any:
    utility = {"points": _TYPE.Utility.GENERAL_SUM, "zero_sum": _TYPE.Utility.ZERO_SUM}
    return _TYPE(
        short_name=NAME,
        long_name="Oh Hell! (ohhell-env)",
        dynamics=_TYPE.Dynamics.SEQUENTIAL,
        chance_mode=_TYPE.ChanceMode.EXPLICIT_STOCHASTIC,
        information=_TYPE.Information.IMPERFECT_INFORMATION,
        utility=utility.get(reward, _TYPE.Utility.CONSTANT_SUM),
        reward_model=_TYPE.RewardModel.TERMINAL,
        max_num_players=MAX_PLAYERS,
        min_num_players=MIN_PLAYERS,
        provides_information_state_string=True,
        provides_information_state_tensor=True,
        provides_observation_string=True,
        provides_observation_tensor=True,
        parameter_specification=_DEFAULTS,
    )


def register() -> str:
    """Make the game known to OpenSpiel; once is enough, more do no harm.

    Returns:
        Its name, for ``pyspiel.load_game(name, {"players": 3, "hand_size": 1, "deck": "AC KC AD KD"})``.
    """
    if NAME not in pyspiel.registered_names():
        pyspiel.register_game(_game_type("points"), OhHellGame)
    return NAME


class Table:
    """What all states of one game share and none changes.

    Attributes:
        rules: the table's rules.
        reward: kind of reward.
        record: the rules as the kernel reads them, of `state.TABLE`.
        num_actions: size of the action space.
        observation_size: length of an observation.
        places: where in the deck the cards that chance deals lie: each seat's in turn, then the card turned up.
    """

    def __init__(self, rules: Rules, reward: str) -> None:
        self.rules = rules
        self.reward = reward
        self.kind = rulebook.reward_kind(reward)
        deck = rules.deck.cards
        simulator = Simulator(rules, decks=[deck], seed=0)  # the kernel tells which card of the deck goes where
        self.record = simulator.tables[0]
        view, batch = simulator[0], simulator.current()
        self.num_actions = batch.action_mask.shape[1]
        self.observation_size = batch.observation.shape[1]
        dealt = [card for hand in view.hands for card in hand] + ([] if view.turned is None else [view.turned])
        self.places = [deck.index(card) for card in dealt]
        self._stock = [place for place in range(len(deck)) if place not in self.places]

    def __deepcopy__(self, memo: Any) -> Table:
        return self

    def __reduce__(self) -> Any:
        return table_of, (self.rules, self.reward)

    @property
    def hand_size(self) -> int:
        """Cards dealt to each seat."""
        return self.rules.hand_sizes[0]

    @property
    def num_plays(self) -> int:
        """Cards played in the hand."""
        return self.hand_size * self.rules.players

    def deck(self, dealt: bytes) -> NDArray[np.int8]:
        """The deck from which the kernel deals what chance has dealt: (1, 52) int8."""
        deck = np.full((1, self.record["deck"].size), NONE, dtype=np.int8)
        deck[0, self.places + self._stock] = [*dealt, *sorted(set(self.rules.deck.cards) - set(dealt))]
        return deck


@lru_cache(maxsize=64)
def table_of(rules: Rules, reward: str) -> Table:
    """The shared part of the states of one game."""
    return Table(rules, reward)


class OhHellGame(pyspiel.Game):
    """The game; see the module's docstring for its parameters.

    Raises:
        ValueError: for a parameter that is not allowed, naming it and what is.
    """

    def __init__(self, params: dict[str, Any] | None = None) -> None:
        given = {**_DEFAULTS, **(params or {})}
        rules = Rules(
            players=given["players"],
            ramp=(given["hand_size"],),
            deck=Deck.of(given["deck"]) if given["deck"] else STANDARD_DECK,
            bids=given["bids"],
            hook=given["hook"],
            trump=given["trump"],
            scoring=given["scoring"],
            first_dealer=given["dealer"],
        )
        if not rules.standard:
            raise ValueError(
                "the OpenSpiel game is of the standard form (see Rules.standard); this table is of the wide form for "
                f"{', '.join(rules.wide_options)}"
            )
        self.table = table = table_of(rules, given["reward"])
        low, high, total = self._utilities()
        info = pyspiel.GameInfo(
            num_distinct_actions=table.num_actions,
            max_chance_outcomes=max(rules.deck.cards) + 1,
            num_players=rules.players,
            min_utility=low,
            max_utility=high,
            utility_sum=total,
            max_game_length=rules.players + table.num_plays,
        )
        super().__init__(_game_type(given["reward"]), info, params or {})

    def _utilities(self) -> tuple[float, float, float | None]:
        """Lowest and highest return of a seat, and the sum of all where it is always the same."""
        rules, size = self.table.rules, self.table.hand_size
        if self.table.reward == "win":
            return 0.0, 1.0, 1.0
        points = tabulate(resolve(rules.scoring), (size,), rules.players)[size, : size + 1, : size + 1].ravel().tolist()
        low, high = sorted((-1.0 if rules.lowest else 1.0) * worst for worst in (min(points), max(points)))
        if self.table.reward == "points":
            return low, high, None
        spread = (high - low) * (rules.players - 1) / rules.players
        return -spread, spread, 0.0

    def new_initial_state(self) -> OhHellState:
        """The table before the first card is dealt."""
        return OhHellState(self, self.table)

    def max_chance_nodes_in_history(self) -> int:
        """Cards dealt and turned up."""
        return len(self.table.places)

    def make_py_observer(self, iig_obs_type: Any = None, params: Any = None) -> OhHellObserver:
        """An observer of a seat's information state, or of its observation where there is no perfect recall."""
        return OhHellObserver(self.table, iig_obs_type, params)


class OhHellState(pyspiel.State):
    """The hand as it stands. Chance deals first; with its last card the kernel's game starts."""

    def __init__(self, game: OhHellGame, table: Table) -> None:
        super().__init__(game)
        # Whatever stands here is copied deeply at each clone: bytes and one record, which is cheap.
        self.table = table
        self.dealt = b""  # cards that chance has dealt, in the order of `table.places`
        self.games: NDArray[np.void] = np.zeros(1, dtype=GAME)
        self.actor = _CHANCE

    @property
    def started(self) -> bool:
        """Whether all cards are dealt."""
        return self.actor != _CHANCE

    @property
    def view(self) -> Game:
        """The table read-only; only once all cards are dealt."""
        return Game(self.games[0], self.table.rules)

    def hand_dealt(self, seat: int) -> tuple[int, ...]:
        """The cards that chance has dealt to a seat so far, ascending."""
        size = self.table.hand_size
        return tuple(self.dealt[: self.table.num_plays][size * seat : size * (seat + 1)])

    def current_player(self) -> int:
        """The seat to act, CHANCE while cards are dealt, or TERMINAL."""
        return self.actor

    def is_terminal(self) -> bool:
        """Whether the hand is over."""
        return self.actor == _TERMINAL

    def _legal_actions(self, player: int) -> list[int]:
        return list(self.view.legal_actions)

    def chance_outcomes(self) -> list[tuple[int, float]]:
        """Cards that may come next, with their chances: the seat's next higher card, or any card as turn-up."""
        rest = sorted(set(self.table.rules.deck.cards) - set(self.dealt))
        seat, place = divmod(len(self.dealt), self.table.hand_size)
        if seat == self.table.rules.players:
            return [(card, 1 / len(rest)) for card in rest]
        if place:
            rest = [card for card in rest if card > self.dealt[-1]]
        missing = self.table.hand_size - place
        # Every hand is as likely as any other: of all those that go on from here, how many have this card lowest?
        hands = math.comb(len(rest), missing)
        last = len(rest) - missing + 1
        return [(card, math.comb(len(rest) - 1 - k, missing - 1) / hands) for k, card in enumerate(rest[:last])]

    def _apply_action(self, action: int) -> None:
        game, table = self.games[0], self.table
        if self.started:
            if not rulebook.is_legal(game, action):
                raise ValueError(illegal_action_text(self.view, action))
            rulebook.apply(game, table.record, action)
        else:
            if action not in dict(self.chance_outcomes()):
                raise ValueError(f"card {action} cannot be dealt now; use one of {[*dict(self.chance_outcomes())]}")
            self.dealt += bytes((action,))
            if len(self.dealt) < len(table.places):
                return
            rulebook.start_match(game, table.record, table.deck(self.dealt), 0, table.rules.first_dealer)
        self.actor = _TERMINAL if game["phase"] == HAND_OVER else int(game["player"])

    def _action_to_string(self, player: int, action: int) -> str:
        if player != _CHANCE:
            return action_text(action)
        return f"deal {card_name(action)}"

    def returns(self) -> list[float]:
        """The reward of each seat; zeros until the hand is over."""
        reward = np.zeros((1, self.table.rules.players))
        if self.is_terminal():
            rulebook.write_reward(self.games[0], self.table.record, self.table.kind, reward, 0)
        return [float(one) for one in reward[0]]

    def __str__(self) -> str:
        return table_text(self.view) if self.started else f"dealt {_names(self.dealt)}".rstrip()

    def resample_from_infostate(self, player_id: int, probability_sampler: Callable[[], float]) -> OhHellState:
        """A state that looks the same to a seat: hidden cards, and sealed bids, drawn anew.

        Each deal that agrees with what the seat has seen is equally likely: its own cards, the card turned up, the
        cards played, the suits in which a seat failed to follow. So is each set of sealed bids that leaves the seat
        the bids that it has. How others bid or played tells nothing more: that would take a model of them.

        Raises:
            ValueError: while cards are dealt.
        """
        if not self.started:
            raise ValueError("the hand is not dealt yet: there is nothing to draw anew")
        world = self.games.copy()
        plan = np.zeros(1, dtype=PLAN)[0]
        plan_deals(self.games[0], self.table.record, player_id, plan)
        deal_world(plan, world[0], np.uint64(stream_of(int(probability_sampler() * 2**53), 0)))
        self._draw_sealed_bids(world[0], player_id, probability_sampler)
        return self._replay(Game(world[0], self.table.rules))

    def _draw_sealed_bids(self, world: Any, viewer: int, chance: Callable[[], float]) -> None:
        seen, players = self.view.visible_bids(viewer), self.table.rules.players
        hidden = [seat for seat in range(players) if seen[seat] == "hidden"]
        if not hidden:
            return
        most = self.table.hand_size
        # ways[k][s]: sets of bids for the last k of the hidden seats, given that those before them bid s
        ways = [[float(self._agrees(world, viewer, hidden, total)) for total in range(most * len(hidden) + 1)]]
        for _ in hidden:
            ways.append([sum(ways[-1][total : total + most + 1]) for total in range(len(ways[0]))])
        total = 0
        for k, seat in reversed(list(enumerate(hidden))):
            target = chance() * ways[k + 1][total]
            bid = 0
            while bid < most and target >= ways[k][total + bid]:
                target -= ways[k][total + bid]
                bid += 1
            world["bids"][seat] = bid
            total += bid

    def _agrees(self, world: Any, viewer: int, hidden: list[int], total: int) -> bool:
        """Whether the seat to act would have the bids that it has if the hidden bids had this sum."""
        if viewer != world["player"]:
            return True
        rest = total
        for seat in hidden:
            world["bids"][seat] = min(rest, self.table.hand_size)
            rest -= world["bids"][seat]
        return bool(rulebook.legal_bids(world, self.table.record) == self.games[0]["legal"])

    def _replay(self, view: Game) -> OhHellState:
        """The state to which a deal and its bids lead with the actions of this one."""
        state: OhHellState = self.get_game().new_initial_state()
        for card in [card for hand in view.dealt for card in hand] + [view.turned][: view.turned is not None]:
            state.apply_action(card)
        for past in self.full_history()[len(self.table.places) :]:
            bid = view.bids[past.player] if state.view.phase == BID else None
            state.apply_action(past.action if bid is None else rulebook.FIRST_BID + bid)
        return state


class OhHellObserver:
    """What a seat knows, as OpenSpiel asks for it: ``tensor`` and its parts in ``dict``, or a text."""

    def __init__(self, table: Table, iig_obs_type: Any, params: Any) -> None:
        kind = iig_obs_type or pyspiel.IIGObservationType(perfect_recall=False)
        if params or not kind.public_info or kind.private_info != pyspiel.PrivateInfoType.SINGLE_PLAYER:
            raise ValueError(
                f"observer {kind} with parameters {params!r} is not supported; there are those of one seat's private "
                "and the public information, without parameters, with or without perfect recall"
            )
        self.recall = bool(kind.perfect_recall)
        cards = max(table.rules.deck.cards) + 1
        plays = (table.num_plays, cards) if self.recall else (0, cards)
        self.tensor = np.zeros(table.observation_size + plays[0] * cards, np.float32)
        self.dict = {"observation": self.tensor[: table.observation_size]}
        if self.recall:
            self.dict["plays"] = self.tensor[table.observation_size :].reshape(plays)

    def set_from(self, state: OhHellState, player: int) -> None:
        """Write what ``player`` knows; while cards are dealt those that it has got."""
        self.tensor.fill(0)
        observation = self.dict["observation"]
        if not state.started:
            observation[observation_layout(state.table.rules)["hand"]][list(state.hand_dealt(player))] = 1
            return
        entries = np.empty((1, len(observation)), np.int8)
        encode(state.games[0], state.table.record, player, entries, 0)
        observation[:] = entries[0]
        if self.recall:
            for k, card in enumerate(state.games[0]["plays"][: state.games[0]["num_plays"]]):
                self.dict["plays"][k, card] = 1

    def string_from(self, state: OhHellState, player: int) -> str:
        """The same as text; with perfect recall one line that names the information state."""
        head = f"player_{player} dealt {_names(state.hand_dealt(player))}"
        if not state.started:
            return head
        if not self.recall:
            self.set_from(state, player)
            return f"player_{player}\n" + observation_text(self.dict["observation"].astype(np.int8))
        view = state.view
        marks: dict[Any, str] = {None: "-", "hidden": "?"}
        bids = " ".join(marks.get(bid, str(bid)) for bid in view.visible_bids(player))
        may = view.legal_actions if view.phase == BID and view.player == player else ()
        plays = state.games[0]["plays"][: state.games[0]["num_plays"]]
        turned = "-" if view.turned is None else card_name(view.turned)
        open_bids = ",".join(str(action - rulebook.FIRST_BID) for action in may)
        return f"{head} turned {turned} bids {bids} may {open_bids or '-'} plays {_names(plays) or '-'}"


def _names(cards: Any) -> str:
    return " ".join(card_name(int(card)) for card in cards)
