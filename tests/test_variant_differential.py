"""The kernel against the slow referee at every other table in the sources, move by move."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import numpy as np
import pytest
from referee_variants import VariantReferee
from tables import random_actions
from variant_kernel import KernelWords, referee_facts
from variant_observation import check_sight
from variant_tables import RARE, preset_tables, variants

from ohhell_env import Rules, ohhell_v0
from ohhell_env.simulator import Simulator

GAMES = 4  # beside each other at a table
PARTS = 8


def what_happened(referee: VariantReferee) -> Iterator[str]:
    """What has happened on the table that does not happen in every hand."""
    yield f"knocked {len(referee.knocks)} times"
    yield f"the trick counts {referee.weight}"
    if referee.phase == "name trump":
        where = "in the stock" if referee.top_in_stock else "in the dealer's hand" if referee.top_in_hand else "cut"
        yield f"a joker {where}" if referee.dealer_names else "the highest bidder names trump"
    if referee.phase == "name suit":
        yield "a joker led"
    if referee.phase == "bid" and referee.hook and len(referee.to_act) == 1 and referee.turn != referee.dealer:
        yield "the last bidder is not the dealer"
    if set(referee.nil) == {0}:
        yield "all went nil"
    if referee.last_points is not None:
        yield from (
            "a blind bid moved"
            for blind, bid in zip(referee.blind, referee.bids, strict=True)
            if blind not in (bid, None, "pass")
        )
        if referee.trick_winners[-1] is None:
            yield "the last trick is lost"
        if referee.cooperative:
            yield "the match is lost" if referee.lost else "dealt again" if referee.attempt else "it worked"


def play_beside_each_other(
    rules: Rules, hands: int, seed: int, sights: float = 0.06, games: int = GAMES
) -> Counter[str]:
    """Random matches on the kernel and the referee until so many hands are over; every move and every fact alike.

    ``games`` are played beside each other. What seats see is slow to compare: of that a share.
    """
    happened: Counter[str] = Counter()
    rng = np.random.default_rng(seed)
    simulator = Simulator([rules], num_games=games, seed=seed)
    kernel = KernelWords(rules)
    referees = [kernel.sit_down(record) for record in simulator.games]
    batch = simulator.current()
    played = 0
    while played < hands:
        actions = random_actions(batch.action_mask, rng)
        viewers = rng.integers(rules.players, size=games)
        views = simulator.observation(viewers)
        for i, referee in enumerate(referees):
            if not rules.standard and rng.random() < sights:
                check_sight(referee, rules, int(batch.player[i]), batch.observation[i])
                check_sight(referee, rules, int(viewers[i]), views[i])
            facts = kernel.facts(simulator.games[i])
            assert facts == referee_facts(referee, set(facts)), rules
            assert kernel.allowed(batch.action_mask[i]) == referee.legal(), rules
            happened.update(what_happened(referee))
            referee.act(kernel.words[int(actions[i])])
        batch = simulator.step(actions)
        for i, referee in enumerate(referees):
            assert (referee.turn is None) == batch.hand_over[i]
            if not batch.hand_over[i]:
                continue
            played += 1
            happened.update(what_happened(referee))
            sign = -1 if referee.lowest else 1  # a reward is better when higher
            assert referee.last_points == (sign * batch.reward[i, : rules.players]).tolist(), rules
            assert (referee.phase == "over") == batch.match_over[i]
            if batch.match_over[i]:
                referees[i] = kernel.sit_down(simulator.games[i])
            else:
                kernel.deal(referee, simulator.games[i])
    return happened


@pytest.mark.parametrize("part", range(PARTS))
def test_kernel_and_referee_agree_at_every_table(part: int) -> None:
    for number, rules in enumerate(variants()):
        if number % PARTS == part:
            play_beside_each_other(rules, 2, number, games=2)


def test_kernel_and_referee_agree_where_what_is_rare_happens() -> None:
    happened: Counter[str] = Counter()
    for number, rules in enumerate(RARE):
        happened += play_beside_each_other(rules, 60, number, sights=0.1)
    assert {event for event, times in happened.items() if times > 1} >= {
        *(f"knocked {times} times" for times in range(7)),
        *(f"the trick counts {times}" for times in (1, 2, 3)),
        *(f"a joker {where}" for where in ("in the stock", "in the dealer's hand", "cut", "led")),
        *("the highest bidder names trump", "the last bidder is not the dealer", "all went nil", "a blind bid moved"),
        *("the last trick is lost", "the match is lost", "dealt again", "it worked"),
    }


@pytest.mark.long
@pytest.mark.parametrize("part", range(PARTS))
def test_kernel_and_referee_agree_in_fifty_hands_at_every_table(part: int) -> None:
    for number, rules in enumerate(variants()):
        if number % PARTS == part:
            play_beside_each_other(rules, 50, 1000 + number, sights=0.1)


@pytest.mark.parametrize("part", range(PARTS))
def test_kernel_and_referee_agree_at_every_preset(part: int) -> None:
    for number, (_, rules) in enumerate(preset_tables()):
        if number % PARTS == part:
            play_beside_each_other(rules, 2, number, games=2)


def play_a_match_in_the_environment(rules: Rules, seed: int) -> None:
    """One random match in the AEC environment, to its end: who acts, what is allowed, points, totals, who wins."""
    rng = np.random.default_rng(seed)
    env, kernel = ohhell_v0.env(rules), KernelWords(rules)
    env.reset(seed=seed)
    table = env.unwrapped
    referee = kernel.sit_down(table.games[0])
    while referee.phase != "over":
        agent = env.agent_selection
        mask = env.infos[agent]["action_mask"]
        assert agent == f"player_{referee.turn}"
        assert kernel.allowed(mask) == referee.legal(), rules
        action = int(rng.choice(np.flatnonzero(mask)))
        referee.act(kernel.words[action])
        env.step(action)
        if referee.turn is None:
            assert list(table.game.past_hands[-1].points) == referee.last_points
            assert list(table.game.scores) == referee.scores
            if referee.phase == "deal":
                kernel.deal(referee, table.games[0])
    assert all(env.terminations.values())
    assert list(table.game.win_shares) == referee.win_shares()


def test_environment_and_referee_agree_to_the_end_of_a_match() -> None:
    for number, rules in enumerate([*RARE, *variants()[::4]]):
        endless = rules.cooperative and not rules.attempts  # at random
        if rules.num_hands < 8 and not endless:
            play_a_match_in_the_environment(rules, number)


@pytest.mark.long
@pytest.mark.parametrize(("name", "rules"), list(preset_tables()))
def test_kernel_and_referee_agree_in_whole_matches_of_every_preset(name: str, rules: Rules) -> None:
    play_beside_each_other(rules, 2 * GAMES * rules.num_hands, len(name))
