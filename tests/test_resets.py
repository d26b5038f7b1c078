"""Resets, the matches after a match, decks uploaded in mid-match, and what rewards mean: in every form alike."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tables import EVERY_TABLE, shortened

from ohhell_env import Rules, SeatEnv, SeatVectorEnv, Simulator, describe, ohhell_v0, preset
from ohhell_env.bots.base import Bot
from ohhell_env.records.match import Match, Seating, save_match
from ohhell_env.records.notation import read_record, write_record
from ohhell_env.table.text import table_text

THREE = Rules(ramp=(3, 2, 1))
PACK = list(range(52))
TABLES = {"standard": THREE, "random dealer and sizes": Rules(ramp="random", cap=4, first_dealer="random")}


def act(env: Any, rng: np.random.Generator, decisions: int = 10**6) -> None:
    """So many random decisions, or fewer where the match ends."""
    while decisions and not any(env.terminations.values()):
        env.step(int(rng.choice(np.flatnonzero(env.infos[env.agent_selection]["action_mask"]))))
        decisions -= 1


def dealt(game: Any) -> tuple[Any, ...]:
    return game.seed, game.dealer, game.hand_size, game.deal_order, game.turned


# --- The matches after a match ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", TABLES)
def test_match_m_of_a_seed_is_the_same_in_every_form_however_far_the_others_got(name: str) -> None:
    rules, seed, matches = TABLES[name], 5, 4
    env = ohhell_v0.env(rules)
    env.reset(seed=seed)
    expected = [dealt(env.unwrapped.game)]
    for _ in range(matches):
        env.reset()
        expected.append(dealt(env.unwrapped.game))
    assert len({one[0] for one in expected}) == matches + 1
    for decisions in (1, 7, 100, 10**6):
        rng = np.random.default_rng(decisions)
        env.reset(seed=seed)
        for one in expected[:-1]:
            assert dealt(env.unwrapped.game) == one
            act(env, rng, decisions)
            env.reset()
        seat = SeatEnv(rules, opponents="random")
        _, info = seat.reset(seed=seed)
        for one in expected[:-1]:
            assert dealt(seat.game)[:2] == one[:2]
            over, left = False, decisions
            while not over and left:
                _, _, over, _, info = seat.step(int(rng.choice(np.flatnonzero(info["action_mask"]))))
                left -= 1
            _, info = seat.reset()
        simulator = Simulator(rules, 1, seed=[seed])
        for one in expected[:-1]:
            assert dealt(simulator[0])[:2] == one[:2]
            simulator.play_random(min(decisions, 5))
            simulator.reset()
        many = SeatVectorEnv(3, rules, opponents="random")
        _, infos = many.reset(seed=[seed, 1, 2])
        for one in expected[:-1]:
            assert many.simulator[0].seed == one[0]
            for _ in range(min(decisions, 2)):
                actions = [int(rng.choice(np.flatnonzero(mask))) for mask in infos["action_mask"]]
                _, _, _, _, infos = many.step(np.array(actions))
            _, infos = many.reset()


def test_matches_that_end_by_themselves_go_on_to_the_same_next_ones() -> None:
    simulator, env = Simulator(THREE, 1, seed=[5]), ohhell_v0.env(THREE)
    env.reset(seed=5)
    seeds = [simulator[0].seed]
    batch, rng = simulator.current(), np.random.default_rng(1)
    while len(seeds) < 4:
        batch = simulator.step([int(rng.choice(np.flatnonzero(batch.action_mask[0])))])
        seeds += [simulator[0].seed] * bool(batch.match_over[0])
    for seed in seeds:
        assert env.unwrapped.game.seed == seed
        env.reset()


# --- Options ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("key", "meant"), [("dealr", "dealer"), ("deal", "deals"), ("Deals", "deals"), ("dealers", "dealer")]
)
def test_a_key_that_is_nearly_a_known_one_is_refused_and_others_are_left_to_wrappers(key: str, meant: str) -> None:
    for env in (ohhell_v0.env(THREE), SeatEnv(THREE), SeatVectorEnv(2, THREE)):
        env.reset(seed=1)
        with pytest.raises(ValueError, match=f"{key!r} is not known; did you mean '{meant[:4]}.*Known are 'deals'"):
            env.reset(seed=2, options={key: 1})
        env.reset(seed=2, options={"video": True, "reset_mask": None, 7: "seven"})


@pytest.mark.parametrize(
    "make",
    [ohhell_v0.env, ohhell_v0.raw_env, ohhell_v0.parallel_env, SeatEnv, SeatVectorEnv],
    ids=lambda one: one.__name__,
)
def test_an_option_of_the_table_given_to_an_environment_is_refused_with_where_it_goes(make: Any) -> None:
    with pytest.raises(TypeError, match=r"hook=False is an option of the table.*rules=Rules\(hook=False\)"):
        make(hook=False)
    with pytest.raises(TypeError, match="unexpected argument hok=False"):
        make(hok=False)


def test_a_seat_is_an_option_of_the_seat_forms() -> None:
    with pytest.raises(ValueError, match="did you mean 'seat'"):
        SeatEnv(THREE).reset(options={"seats": 1})
    ohhell_v0.env(THREE).reset(seed=1, options={"seats": 1})


def test_decks_in_a_cooperative_match_are_refused_everywhere() -> None:
    rules = preset("cooperative", cap=2)
    env, match = ohhell_v0.env(rules), Match(rules, 1)
    env.reset(seed=1)
    for refused in (
        lambda: env.reset(seed=1, options={"deals": [PACK]}),
        lambda: env.upload_decks([PACK]),
        lambda: match.upload_decks([PACK]),
        lambda: SeatEnv(rules).reset(seed=1, options={"deals": [PACK]}),
        lambda: SeatVectorEnv(2, rules).reset(seed=1, options={"deals": [PACK]}),
        lambda: Simulator(rules, 2, seed=1, decks=[PACK]),
    ):
        with pytest.raises(ValueError, match="cooperative=True cannot have given deals: a hand may be dealt again"):
            refused()


def test_the_vector_form_takes_the_options_of_the_single_one() -> None:
    options: dict[str, Any] = {"deals": [PACK, PACK[::-1]], "dealer": 2, "seat": 3}
    many, one = SeatVectorEnv(2, THREE, opponents="random"), SeatEnv(THREE, opponents="random")
    observation, infos = many.reset(seed=7, options=options)
    alone, info = one.reset(seed=7, options=options)
    over, hands = False, []
    while not over:
        assert np.array_equal(observation[0], alone) and np.array_equal(infos["action_mask"][0], info["action_mask"])
        hands.append(many.simulator[0].deal_order[0][:3])
        actions = [int(np.flatnonzero(mask)[0]) for mask in infos["action_mask"]]
        observation, _, _, _, infos = many.step(np.array(actions))
        alone, _, over, _, info = one.step(actions[0])
    assert [*dict.fromkeys(hands)][:2] == [(0, 1, 2), (51, 50, 49)]
    assert many.simulator[0].dealer == 0, "the next match is the table's own again"
    one.reset()
    assert dealt(many.simulator[0])[:3] == dealt(one.game)[:3]
    assert many.simulator[0].deal_order != (tuple(PACK[:12]), tuple(PACK[13:]))
    for bad, message in (({"dealer": 4}, "dealer=4"), ({"seat": 4}, "seat=4"), ({"deals": [PACK[1:]]}, "whole deck")):
        with pytest.raises(ValueError, match=message):
            many.reset(seed=1, options=bad)


# --- Decks uploaded during a match -----------------------------------------------------------------------------------


def test_uploaded_decks_are_dealt_from_the_next_deal_on() -> None:
    env, plain = ohhell_v0.env(Rules(ramp=(3, 3, 3, 3))), ohhell_v0.env(Rules(ramp=(3, 3, 3, 3)))
    for one in (env, plain):
        one.reset(seed=3)
        act(one, np.random.default_rng(1), 6)
    env.upload_decks([PACK, PACK[::-1]])
    match = Match(env.unwrapped.rules, 3)
    match.upload_decks([PACK, PACK[::-1]])
    rng = np.random.default_rng(2)
    while match.game.hand_number < 2:
        match.step(int(rng.choice(match.game.legal_actions)))
    assert match.game.deal_order[0] == tuple(PACK[:12])
    act(env, np.random.default_rng(2))
    act(plain, np.random.default_rng(2))
    played, unchanged = env.unwrapped.game.past_hands, plain.unwrapped.game.past_hands
    assert [hand.deal_order[0][:3] for hand in played[1:3]] == [(0, 1, 2), (51, 50, 49)]
    for hand in (0, 3):
        assert played[hand].deal_order == unchanged[hand].deal_order, "the shuffles do not depend on what is uploaded"
    again = read_record(write_record(env.unwrapped.game))
    assert [hand.deal_order for hand in again.past_hands] == [hand.deal_order for hand in played]


def test_a_later_upload_replaces_an_earlier_one_and_an_empty_one_goes_back_to_the_shuffle() -> None:
    rules = Rules(ramp=(3, 3, 3), deals=(tuple(PACK),) * 3)
    env = ohhell_v0.env(rules)
    env.reset(seed=3)
    env.upload_decks([PACK[::-1]] * 2)
    env.upload_decks([])
    act(env, np.random.default_rng(2))
    hands = env.unwrapped.game.past_hands
    assert hands[0].deal_order[0] == tuple(PACK[:12])
    assert all(hand.deal_order[0][:3] not in ((0, 1, 2), (51, 50, 49)) for hand in hands[1:])
    with pytest.raises(ValueError, match=r"deals\[0\] is not a whole deck"):
        env.upload_decks([PACK[1:]])
    with pytest.raises(ValueError, match="is not a list of decks"):
        env.upload_decks(5)
    with pytest.raises(ValueError, match=r"call reset\(\) first"):
        ohhell_v0.env(rules).upload_decks([PACK])


@pytest.mark.parametrize("rules", [Rules(ramp=(3,) * 5), preset("pocha", ramp=(3,) * 5)], ids=["standard", "wide"])
@pytest.mark.parametrize("given", [False, True], ids=["shuffled", "given"])
def test_decks_that_are_not_dealt_yet_are_still_there_when_a_match_is_resumed(
    rules: Rules, given: bool, tmp_path: Path
) -> None:
    deck = list(rules.deck.cards)
    rules = replace(rules, deals=(tuple(deck[1:] + deck[:1]),) * 5) if given else rules
    for decks in ([deck, deck[::-1]], [], None):
        match = Match(rules, 3)
        play(match, 5)
        if decks is not None:
            match.upload_decks(decks)
        save_match(match, Seating(("random",) * 4, None, 1), tmp_path / "match.jsonl")
        again = Match.load(tmp_path / "match.jsonl")
        for one in (match, again):
            play(one)
        assert [hand.deal_order for hand in again.game.past_hands] == [
            hand.deal_order for hand in match.game.past_hands
        ]
        tops = [hand.deal_order[0][0] for hand in again.game.past_hands[1:]]
        assert tops[:2] == [deck[0], deck[-1]] or not decks
        assert (tops == [deck[1]] * 4) == (given and decks is None)
        written = (tmp_path / "match.jsonl").read_text().count("next_decks")
        assert written == (bool(decks) or (given and decks is not None)), "no line where nothing was uploaded"


def play(match: Match, decisions: int = 10**6) -> None:
    rng = np.random.default_rng(4)
    while match.game.player is not None and decisions:
        match.step(int(rng.choice(match.game.legal_actions)))
        decisions -= 1


# --- Rewards ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("reward", ["points", "zero_sum", "win"])
@pytest.mark.parametrize("scoring", ["exact", "negative"])
def test_higher_rewards_are_better_whichever_total_wins(reward: str, scoring: str) -> None:
    env = ohhell_v0.env(Rules(ramp=(4, 3), scoring=scoring), reward=reward)
    for seed in range(20):
        env.reset(seed=seed)
        paid, rng = np.zeros(4), np.random.default_rng(seed)
        while not any(env.terminations.values()):
            act(env, rng, 1)
            paid += [*env.rewards.values()]
        scores, shares = np.array(env.unwrapped.game.scores), np.array(env.unwrapped.game.win_shares)
        sign = -1 if scoring == "negative" else 1
        due = {"points": sign * scores, "zero_sum": sign * (scores - scores.mean()), "win": shares}[reward]
        assert paid == pytest.approx(due)
        assert set(np.flatnonzero(np.isclose(paid, paid.max()))) == set(np.flatnonzero(shares))


# --- A viewer without a seat -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", EVERY_TABLE)
def test_a_viewer_at_the_table_sees_no_hands_and_what_they_see_depends_on_none(name: str) -> None:
    rules = EVERY_TABLE[name]
    match, rng = Match(rules, 3), np.random.default_rng(3)
    for _ in range(12):
        game = match.game
        if game.player is None:
            break
        text = table_text(game, "table")
        assert not any(game.sees_cards("table", seat) for seat in range(rules.players))
        assert all(f"{len(hand)} card" in line for hand, line in zip(game.hands, text.splitlines()[2:], strict=False))
        told = [repr(event) for event in game.events("table")]
        for seat in range(rules.players):
            others = [repr(event) for event in game.events(seat)]
            open_ones = [event for event in told if not event.startswith(("HandDealt", "CardsSeen", "BidMade", "Said"))]
            assert [event for event in others if event in open_ones] == open_ones, "nothing that a seat has not seen"
        match.step(int(rng.choice(game.legal_actions)))


def test_text_without_totals_does_not_show_them() -> None:
    env = ohhell_v0.env(THREE, render_mode="ansi")
    env.reset(seed=4)
    act(env, np.random.default_rng(4))
    shown = env.render()
    env.unwrapped.totals, env.unwrapped.viewer = False, "table"
    hidden = env.render()
    scores = {f"{score:6g}" for score in env.unwrapped.game.scores if score}
    assert scores and all(score in shown for score in scores)
    assert not any(score in line for score in scores for line in hidden.splitlines() if "player_" in line[:12])


# --- In words --------------------------------------------------------------------------------------------------------


def test_a_description_names_the_cards_of_the_deck_and_who_names_trump() -> None:
    spanish = describe(preset("pocha"))
    assert "Cards from high to low: A 3 K Q J 7 6 5 4 2." in spanish
    joker = "Where that card is a joker the dealer names a suit, or no trump, before the bidding."
    assert joker in describe(preset("oh_sh")) and joker in describe(Rules(players=6, deck="oh sh", trump="cut"))  # type: ignore[arg-type]
    assert joker not in spanish and joker not in describe(preset("oh_sh", trump="spades"))
    assert "deals the hand again." in describe(preset("cooperative"))
    assert "after 4 such deals of one hand the match is lost" in describe(preset("cooperative", attempts=4))
    assert "10 no trump, 10 no trump, 10..1" in describe(preset("oh_sh"))


@pytest.mark.parametrize(
    ("rules", "options"),
    [
        (Rules(), ()),
        (preset("oh_hell", players=8), ("players=8",)),
        (preset("seven_down"), ("lead_trump='not first'", "own_cards='forehead'")),
        (preset("pocha"), ("deck='Spanish 40'", "full_deal='last'")),
        (
            preset("penguin_whist", players=2),
            ("players=2", "hands of 26 cards", "own_cards='hidden'", "sort_hands=True"),
        ),
        (Rules(scoring="spades_double"), ("scoring='spades_double' by trump",)),
    ],
)
def test_the_options_that_make_a_table_wide_are_named(rules: Rules, options: tuple[str, ...]) -> None:
    assert rules.wide_options == options
    assert rules.standard == (not options)


def test_a_player_of_the_standard_form_says_which_option_it_does_not_play() -> None:
    class Narrow(Bot):
        plays_wide = False

        def choose(self, views: Any, tables: Any, keys: Any) -> Any:
            raise AssertionError("not asked")

    for rules in (shortened(preset("seven_down")), preset("oh_hell", players=8)):
        with pytest.raises(ValueError, match=f"this one is of the wide form for {rules.wide_options[0]}"):
            Narrow().act(Simulator(rules, 1, seed=1))
