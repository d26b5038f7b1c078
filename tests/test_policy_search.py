"""Search with the policy: legal, repeatable, blind; its worlds and weights; stronger than the policy alone."""

import shutil
from pathlib import Path

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from test_bots import deal_hidden_cards_anew, every_table, laid_out, lead_over_the_table, some_tables
from test_bots_wide import laid_out as wide_position

from ohhell_env import preset
from ohhell_env.arena.results import contents
from ohhell_env.bots import make_bot
from ohhell_env.bots.base import look
from ohhell_env.bots.determinization import PLAN
from ohhell_env.bots.policy import bot as bot_module
from ohhell_env.bots.policy.beliefs import deal_boards, fill_sealed, recall, resampled, tempered
from ohhell_env.bots.policy.bot import PolicyBot, load_policy
from ohhell_env.bots.policy.fast import FastNetwork
from ohhell_env.bots.policy.network import EVERY_TABLE
from ohhell_env.bots.policy.search import PolicySearchBot, write_margins
from ohhell_env.kernel import rulebook
from ohhell_env.kernel.rulebook import FIRST_BID
from ohhell_env.kernel.state import GAME, HAND_OVER, NONE
from ohhell_env.observation.sections import SEALED
from ohhell_env.rules.cards import parse_card
from ohhell_env.rules.limits import MAX_PLAYERS, NUM_BIDS
from ohhell_env.rules.rules import Rules
from ohhell_env.simulator import Simulator
from training.learning.checkpoint import Counters, save_checkpoint, save_student
from training.learning.config import Config
from training.learning.network import PolicyNetwork
from training.learning.student import Student


@pytest.fixture(autouse=True)
def one_thread() -> None:
    torch.set_num_threads(1)


def tiny_network() -> PolicyNetwork:
    """Random weights, always the same; no option is ruled out by its values."""
    torch.manual_seed(5)
    return PolicyNetwork(64, 1)


def searching(seed: int = 1, worlds: int = 2) -> PolicySearchBot:
    return PolicySearchBot(PolicyBot(tiny_network().frozen()), seed, worlds)


def views_of(simulator: Simulator) -> NDArray[np.void]:
    views, keys = np.empty(len(simulator), dtype=GAME), np.empty(len(simulator), dtype=np.int64)
    look(simulator.games, simulator.tables, np.arange(len(simulator)), 0, views, keys)
    return views


def test_it_plays_legally_at_every_table_and_changes_nothing_itself() -> None:
    bot = searching(worlds=1)
    rules = every_table()
    simulator = Simulator(rules, len(rules), seed=2, observe=False)
    for _ in range(15):
        before = simulator.games.tobytes()
        actions = bot.act(simulator)
        assert simulator.games.tobytes() == before
        simulator.step(actions)  # refuses what is not legal
        simulator.play_random(3)


@pytest.mark.parametrize("plays", [0, 3, 9, 14])
def test_a_choice_depends_on_seed_and_game_but_not_on_the_batch(plays: int) -> None:
    simulator = some_tables(3, plays)
    actions = searching().act(simulator)
    order = np.random.default_rng(1).permutation(len(simulator))
    bot = searching()
    assert (bot.act(simulator, order) == actions[order]).all()
    assert [int(bot.act(simulator, [k])[0]) for k in range(len(simulator))] == actions.tolist()
    assert any((searching(seed).act(simulator) != actions).any() for seed in (2, 3, 4))


@pytest.mark.parametrize("plays", [0, 2, 8, 12])
def test_what_a_seat_may_not_know_changes_no_choice(plays: int) -> None:
    simulator = some_tables(6, plays)
    bot = searching()
    actions = bot.act(simulator)
    hidden = simulator.games["hands"].copy()
    deal_hidden_cards_anew(simulator, np.random.default_rng(plays))
    assert (simulator.games["hands"] != hidden).any()
    assert (bot.act(simulator) == actions).all()


def test_even_play_outs_of_random_weights_shed_a_sure_trick_when_the_bid_is_met() -> None:
    hands = ["4H 9D JC 8C", "AH AS 2D 3D", "5H KD KC 2S", "6H TD QC 4S"]
    moves = [0, 1, 2, 0, "4H", "AH", "5H", "6H", "2D", "KD", "TD", "9D", "KC", "QC", "JC"]
    position = laid_out(hands, "2H", moves)
    assert searching(worlds=100).action(position) == parse_card("AS")


# --- Tables at which more is said than a bid a seat -----------------------------------------------------------------

OTHER_TABLES = [
    preset("penguin_whist", players=3, ramp=(3,), cap=0),  # own cards unseen: a choice among positions
    preset("nomination_whist", players=3, ramp=(3,), cap=0),
    preset("oh_sh", players=4, ramp=(3,), cap=0),
    preset("pocha", players=4, ramp=(3,), cap=0),
    preset("mormon_bridge", players=5, ramp=(2,), cap=0),
    preset("cooperative", players=4, ramp=(3,), cap=0, trump="turned"),
    preset("seven_down", players=4, ramp=(1,), cap=0),
]


def searching_every_table(worlds: int = 2) -> PolicySearchBot:
    """With a network for every table of random weights, always the same, and a fast one in the rollouts."""
    torch.manual_seed(5)
    policy = PolicyBot(PolicyNetwork(64, 1, EVERY_TABLE).frozen())
    return PolicySearchBot(policy, 1, worlds, PolicyBot(Student(every_table=True).quantised(1 / 15)))


def test_with_a_network_for_every_table_it_plays_every_table_and_changes_nothing_itself() -> None:
    bot = searching_every_table()
    simulator = Simulator(OTHER_TABLES, len(OTHER_TABLES), seed=2, observe=False)
    for _ in range(8):
        before = simulator.games.tobytes()
        actions = bot.act(simulator)
        assert simulator.games.tobytes() == before
        assert [int(bot.act(simulator, [k])[0]) for k in range(len(simulator))] == actions.tolist()
        simulator.step(actions)  # refuses what is not legal
        simulator.play_random(1)


def test_what_a_seat_may_not_know_changes_no_choice_there_either() -> None:
    rules = preset("nomination_whist", players=3, ramp=(4,), cap=0, first_dealer=2)
    own, others = "AC 2C KD 3D", ("AH 2H KS 3S", "AS 2S KH 3H")
    bot = searching_every_table(worlds=5)
    positions = [wide_position(rules, [own, *hands], "4C", []) for hands in (others, others[::-1])]
    assert bot.action(positions[0]) == bot.action(positions[1])


def test_at_a_cooperative_table_an_option_is_worth_the_hands_that_all_make() -> None:
    simulator = Simulator(preset("cooperative", players=3, ramp=(1,), cap=0, trump="turned"), 8, seed=1, observe=False)
    games, tables = simulator.games, simulator.tables
    for game in games:
        while game["phase"] != HAND_OVER:
            rulebook.apply(game, tables[0], rulebook.action_of(game, int(game["legal"]).bit_length() - 1))
    worth = np.array([rulebook.hand_value(game, tables[0], 0) for game in games])
    margins = np.empty(len(games))
    write_margins(games, tables, 0, margins)
    assert len(set(worth)) == 2 and margins.tolist() == worth.tolist()


# --- Worlds ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("options", [{}, {"bids": "open"}, {"hook": False}])
@pytest.mark.parametrize("decisions", [2, 9, 17])
def test_replayed_in_any_world_the_others_decide_as_they_did(decisions: int, options: dict[str, str]) -> None:
    rules = Rules(players=4, ramp=(6,), **options)  # type: ignore[arg-type]
    simulator = Simulator(rules, 12, seed=4, observe=False)
    simulator.play_random(decisions)
    views, tables = views_of(simulator), simulator.tables
    for view in views.reshape(-1, 1):
        viewer = int(view["player"][0])
        boards = np.empty(5, dtype=GAME)
        assert deal_boards(view, tables, np.zeros(1, dtype=PLAN), 7, boards)
        positions = np.empty(5 * decisions, dtype=GAME)
        actions, worlds = np.empty((2, len(positions)), dtype=np.int64)
        count = recall(boards, tables, np.empty(1, dtype=GAME), positions, actions, worlds)
        assert set(positions["player"][:count].tolist()) == set(range(4)) - {viewer} or decisions < 4
        for position, action, world in zip(positions[:count], actions, worlds):
            dealt = boards[world]["hands"] | boards[world]["played"]
            assert ((position["hands"] | position["played"]) == dealt).all()
            if action == SEALED:
                assert boards[world]["bids"][position["player"]] == SEALED
            else:
                assert rulebook.is_legal(position, int(action))
                seat = int(position["player"])
                if action >= FIRST_BID:
                    assert view["bids"][0, seat] == action - FIRST_BID and position["bids"][seat] == NONE
                else:
                    assert view["played"][0, seat] >> int(action) & 1
                    assert not position["played"][seat] >> int(action) & 1


def bids_of_the_dealer_in_many_worlds(forbidden: int | None, chances: NDArray[np.float64]) -> NDArray[np.int64]:
    """Sealed bids of the three others, drawn in 4,000 worlds where the dealer may not bid ``forbidden``."""
    simulator = Simulator(Rules(ramp=(3,), first_dealer=3), 1, seed=1, observe=False)
    bids = (1, 1, 3 - 2 - forbidden) if forbidden is not None else (2, 2, 1)
    for bid in bids:
        simulator.step([FIRST_BID + bid])
    views = views_of(simulator)
    boards = np.empty(4_000, dtype=GAME)
    boards[:] = views[0]
    likelihoods = np.zeros(len(boards))
    sums = np.zeros((MAX_PLAYERS + 1, MAX_PLAYERS * NUM_BIDS))
    many = np.broadcast_to(chances, (len(boards), *chances.shape)).copy()
    fill_sealed(boards, simulator.tables, many, sums, 3, likelihoods)
    drawn: NDArray[np.int64] = boards["bids"][:, :3].astype(np.int64)
    allowed = [
        (a, b, c)
        for a in range(4)
        for b in range(4)
        for c in range(4)
        if (a + b + c == 3 - forbidden if forbidden is not None else a + b + c > 3)
    ]
    exact = {one: float(np.prod([chances[seat, bid] for seat, bid in enumerate(one)])) for one in allowed}
    assert likelihoods == pytest.approx(np.log(sum(exact.values())))
    counts = {one: int((drawn == one).all(axis=1).sum()) for one in allowed}
    assert sum(counts.values()) == len(boards)
    for one, chance in exact.items():
        share = chance / sum(exact.values())
        assert abs(counts[one] / 4_000 - share) < 5 * np.sqrt(share / 4_000) + 1e-9
    return drawn


@pytest.mark.parametrize("forbidden", [None, 0, 1])
def test_the_dealer_draws_sealed_bids_from_the_policy_given_what_its_mask_tells(forbidden: int | None) -> None:
    chances = np.zeros((MAX_PLAYERS, NUM_BIDS))
    chances[:3, :4] = np.random.default_rng(2).dirichlet(np.ones(4), size=3)
    bids_of_the_dealer_in_many_worlds(forbidden, chances)


def test_weights_are_tempered_only_where_they_would_collapse() -> None:
    even = np.log([1.0, 2.0, 1.0, 2.0])
    assert tempered(even, 2.0) == pytest.approx(np.array([1, 2, 1, 2]) / 6)
    steep = np.array([0.0, -50.0, -100.0, -150.0])
    weights = tempered(steep, 3.0)
    assert 1 / np.square(weights).sum() == pytest.approx(3.0, abs=0.01)
    assert (np.diff(weights) < 0).all()


def test_resampling_takes_each_world_as_often_as_its_weight_says() -> None:
    weights = np.array([0.5, 0.3, 0.2])
    for offset in (0.0, 0.3, 0.999999):
        counts = np.bincount(resampled(weights, 10, offset), minlength=3)
        assert (abs(counts - 10 * weights) < 1).all()


# --- By name, and strength ---------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("checkpoints") / "tiny"
    save_checkpoint(path, tiny_network(), Config(learner="dmc", width=64, depth=1), Counters())
    return path


def test_a_spec_names_the_checkpoint_and_the_number_of_worlds(folder: Path) -> None:
    bot = make_bot(f"search+policy:{folder}:7", seed=3)
    assert isinstance(bot, PolicySearchBot)
    assert (bot.worlds, bot.seed, bot.policy.name) == (7, 3, "tiny")
    assert make_bot(f"search+policy:{folder}").worlds == 20  # type: ignore[attr-defined]
    simulator = some_tables(1, 9)
    same = searching(seed=3, worlds=7).act(simulator)
    assert (bot.act(simulator) == same).all()


@pytest.mark.parametrize("ending", [":0", ":-1", ":many", ":"])
def test_a_spec_with_a_number_that_makes_no_sense_is_refused(folder: Path, ending: str) -> None:
    with pytest.raises(ValueError, match=r"use search\+policy:NAME:K with K determinizations per decision, 1 or more"):
        make_bot(f"search+policy:{folder}{ending}")


def test_a_spec_of_a_checkpoint_that_is_not_there_is_refused_by_name() -> None:
    with pytest.raises(ValueError, match="there is no checkpoint 'nobody'"):
        make_bot("search+policy:nobody:20")


def fast_policy(seed: int) -> PolicyBot:
    torch.manual_seed(seed)
    return PolicyBot(Student().quantised(1 / 15))


def test_a_fast_policy_plays_the_rollouts_and_judges_what_the_others_did() -> None:
    """Looked at through two that differ: the search's choices follow the fast one, its prior the policy."""
    simulator = some_tables(60, 7)
    policy = PolicyBot(tiny_network().frozen())
    by_first, by_second = (
        PolicySearchBot(policy, 1, 1, fast).act(simulator) for fast in (fast_policy(1), fast_policy(2))
    )
    assert (by_first != by_second).any()
    again = PolicySearchBot(policy, 1, 1, fast_policy(1)).act(simulator)
    assert (again == by_first).all()
    mask = simulator.current().action_mask
    assert mask[np.arange(len(simulator)), by_first].all()


def test_a_fast_policy_for_every_table_plays_the_rollouts_too() -> None:
    torch.manual_seed(3)
    fast = PolicyBot(Student(every_table=True).quantised(1 / 15))
    simulator = some_tables(20, 7)
    actions = PolicySearchBot(PolicyBot(tiny_network().frozen()), 1, 1, fast).act(simulator)
    assert simulator.current().action_mask[np.arange(len(simulator)), actions].all()


def test_a_search_by_name_takes_the_shipped_student_of_its_policy(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(folder, tmp_path / "tiny")
    teacher = load_policy(folder)
    told = {"decisions": 1, "hands": 1, "cpu_hours": 0.0, "seed": 1, "config": {"teacher": "tiny"}}
    told["held_out"] = {"agreement": 0.5, "kl": 1.0, "kl_bids": 1.0, "kl_cards": 1.0}
    save_student(tmp_path / "tiny-fast", fast_policy(1).network, "tiny", teacher.meta, told)  # type: ignore[arg-type]
    save_student(tmp_path / "another", fast_policy(2).network, "x", {**teacher.meta, "weights_sha256": "0"}, told)  # type: ignore[arg-type]
    before = contents([f"search+policy:{folder}:5"])
    monkeypatch.setattr(bot_module, "CHECKPOINT_FOLDERS", (tmp_path,))
    bot = make_bot("search+policy:tiny:5")
    assert isinstance(bot, PolicySearchBot) and isinstance(bot.fast.network, FastNetwork)
    assert bot.fast.name == "tiny-fast" and bot.policy.name == "tiny"
    named = contents(["search+policy:tiny:5", "tiny", "tiny-fast"])
    assert named["search+policy:tiny:5"] == f"{named['tiny']}+{named['tiny-fast']}"
    assert before == {f"search+policy:{folder}:5": named["tiny"]}


@pytest.mark.long
def test_search_makes_weak_weights_much_stronger() -> None:
    rules = Rules(ramp=(3,), bids="open")
    mean, error = lead_over_the_table(searching(worlds=40), PolicyBot(tiny_network().frozen()), rules, 60)
    assert mean > 4 * error
