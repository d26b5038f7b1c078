"""TextArena: the game as text; what a player hears, what it may write, what happens when nobody can read it."""

import random
import re
from collections.abc import Callable
from typing import Any

import pytest
from libraries import library
from tables import EVERY_TABLE

from ohhell_env import Rules, ohhell_v0
from ohhell_env.rules.description import describe

ta = library("textarena")

from ohhell_env.adapters.textarena import (  # noqa: E402
    BID,
    CARD,
    POSITION,
    SUIT,
    OhHellTextEnv,
    parse_action,
    register_env,
    rules_prompt,
)

MEANINGS = ohhell_v0.raw_env().get_action_meanings()
RULES = Rules(ramp=(2, 1))


def started(**arguments: Any) -> OhHellTextEnv:
    env = OhHellTextEnv(RULES, **arguments)
    env.reset(num_players=4, seed=3)
    return env


def heard(env: OhHellTextEnv) -> dict[int, str]:
    """What each seat has been told and has not yet read."""
    return {seat: "\n".join(text for _, text, _ in seen) for seat, seen in env.state.observations.items()}


def play(env: Any, write: Callable[[str], str] = "[{}]".format, rng: int = 1) -> dict[int, str]:
    """A match of random legal actions; everything that each seat read and heard."""
    choice, done = random.Random(rng), False
    told = dict.fromkeys(range(env.state.num_players), "")
    while not done:
        seat, seen = env.get_observation()
        told[seat] += "".join(text + "\n" for _, text, _ in seen)
        done, _ = env.step(write(env.meanings[choice.choice(env.table.game.legal_actions)]))
    rest = heard(env)
    return {seat: text + rest[seat] for seat, text in told.items()}


@pytest.mark.parametrize("reward", ["points", "zero_sum", "win"])
def test_rewards_are_the_scores_and_no_move_is_invalid(reward: str) -> None:
    env = started(reward=reward)
    play(env)
    rewards, info = env.close()
    scores = env.table.game.scores
    due = {"points": scores, "win": env.table.game.win_shares, "zero_sum": [s - sum(scores) / 4 for s in scores]}
    assert list(rewards.values()) == pytest.approx(list(due[reward]))
    assert [info[seat]["score"] for seat in range(4)] == list(scores)
    assert not any(info[seat]["invalid_move"] for seat in range(4))
    assert [info[seat]["turn_count"] for seat in range(4)] == [5] * 4, "two bids and three cards each"


def test_it_is_the_match_of_the_aec_environment() -> None:
    env, table = started(), ohhell_v0.env(RULES)
    table.reset(seed=3)
    assert env.table.game.events() == table.game.events()


def test_a_player_hears_what_its_seat_may_know_in_words() -> None:
    env = started()
    hands = env.table.game.hands
    told = play(env)
    assert "You are player_2 in a game of Oh Hell!" in told[2]
    assert "Hand 1: player_0 deals 2 cards each; 2C is turned up. Your cards: AS TS." in told[0]
    assert hands[0] == (47, 51)
    assert all("Hand 2: player_1 deals 1 cards each" in text for text in told.values())
    for text in told.values():
        assert text.count("The bids: ") == 2 and text.count("takes the trick.\n") == 3 and text.count(" plays ") >= 12
        assert text.count("Points of this hand: ") == 2
        assert text.count("Your cards: ") == 2
        assert "It is your turn. You may answer: [bid 0]" in text
    for seat in range(4):
        others = [f"Your cards: {env._cards(hand)}." for other, hand in enumerate(hands) if other != seat]
        assert not any(line in told[seat] for line in others)


def test_nobody_hears_a_sealed_bid_or_what_another_player_writes() -> None:
    env = started()
    assert env.state.current_player_id == 1
    env.get_observation()
    env.step("I hold nothing but the secret word, so [bid 1]")
    told = heard(env)
    assert "secret" in told[1] and "player_1 bids 1." in told[1]
    for seat in (0, 2, 3):
        assert "player_1 bids face down." in told[seat]
        assert "secret" not in told[seat] and "bids 1" not in told[seat] and "[bid 1]\n" not in told[seat]


def test_an_invalid_move_is_explained_to_its_player_who_may_try_again() -> None:
    env = started(error_allowance=3)
    env.get_observation()
    for message, reason in [
        ("[play AS]", "is not legal; player_1 bids now, allowed: bid 0, bid 1, bid 2"),
        ("hello", "your message has no action in square brackets; write one, as in [bid 2]."),
        ("bid 1", "your message has no action in square brackets"),
    ]:
        done, _ = env.step(message)
        assert not done and env.state.current_player_id == 1
        assert reason in heard(env)[1] and reason not in heard(env)[0]
        assert "It is your turn" in heard(env)[1], "the table and the options once more"
    assert env.table.game.bids == (None,) * 4, "nothing changed"
    env.step("[bid 1]")
    assert env.table.game.bids[1] == 1 and env.state.current_player_id == 2


def test_too_many_invalid_moves_in_a_row_end_the_match() -> None:
    env = started(error_allowance=1)
    assert env.step("?") == (False, {})
    env.step("[bid 0]")
    assert env.step("?")[0] is False, "the count starts anew with a valid move"
    assert env.step("?")[0] is True
    rewards, info = env.close()
    assert rewards == {0: 0, 1: 0, 2: -1, 3: 0}
    assert info[2]["invalid_move"] and "player_2 made an invalid move" in info[0]["reason"]


@pytest.mark.parametrize(
    ("message", "form", "meant"),
    [
        ("[bid 3]", BID, "bid 3"),
        ("[ BID  3 ]", BID, "bid 3"),
        ("I have 2 aces, so I bid 3: [bid 3]", BID, "bid 3"),
        ("[bid 1] no, wait: [bid 0]", BID, "bid 0"),
        ("[play TD]", CARD, "play TD"),
        ("[play td]", CARD, "play TD"),
        ("[play 10d]", CARD, "play TD"),
        ("[Play T♦]", CARD, "play TD"),
        ("[play 10 ♦]", CARD, "play TD"),
        ("I could play AS or KS; [play 2S]", CARD, "play 2S"),
    ],
)
def test_the_action_in_the_last_brackets_counts(message: str, form: str, meant: str) -> None:
    assert MEANINGS[parse_action(message, MEANINGS, form)] == meant


@pytest.mark.parametrize("card", range(52))
def test_every_card_is_read_in_every_notation(card: int) -> None:
    rank, suit = MEANINGS[card].removeprefix("play ")
    symbol = dict(zip("CDHS", "♣♦♥♠", strict=True))[suit]
    for text in (f"{rank}{suit}", f"{rank}{suit}".lower(), f"{rank}{symbol}", f"{rank.replace('T', '10')}{symbol}"):
        assert parse_action(f"[play {text}]", MEANINGS, CARD) == card


@pytest.mark.parametrize(
    ("message", "form", "reason"),
    [
        ("", BID, "no action in square brackets"),
        ("bid 3", BID, "no action in square brackets"),
        ("3", BID, "no action in square brackets"),
        ("play the ten of diamonds", CARD, "no action in square brackets"),
        ("[3]", BID, r"\[3\] is not an action"),
        ("[TD]", CARD, r"\[TD\] is not an action"),
        ("[bid 99]", BID, r"\[bid 99\] is not an action"),
        ("[bid 1, or bid 2]", BID, "is not an action"),
        ("[bid 2] [what else]", BID, r"\[what else\] is not an action"),
        ("[]", CARD, r"\[\] is not an action"),
    ],
)
def test_any_other_form_is_refused_with_what_to_write(message: str, form: str, reason: str) -> None:
    with pytest.raises(ValueError, match=f"{reason}.*write one.*{re.escape(form)}"):
        parse_action(message, MEANINGS, form)


def test_textarena_makes_it_with_its_wrapper_for_language_models() -> None:
    register_env()
    env = ta.make("OhHell-v0", rules=Rules(players=5, ramp=(3,), bids="open"))
    env.reset(num_players=5, seed=1)
    seat, text = env.get_observation()
    assert seat == 1 and isinstance(text, str)
    assert "5 players" in text and "[bid 3]" in text and "sealed" not in text


def test_the_prompt_tells_the_tables_own_rules() -> None:
    for rules in (Rules(), Rules(players=6, hook=False, bids="open", trump="none", scoring="basic")):
        assert describe(rules) in rules_prompt(rules)


@pytest.mark.parametrize("name", EVERY_TABLE)
def test_any_table_is_played_to_the_end_in_its_own_words(name: str) -> None:
    env, choice, done = OhHellTextEnv(EVERY_TABLE[name]), random.Random(1), False
    env.reset(seed=3)
    while not done:
        seat, seen = env.get_observation()
        game = env.table.game
        told = "".join(text for _, text, _ in seen)
        action = choice.choice(game.legal_actions)
        words = game.action_text(action)
        assert f"[{words}]" in told
        if not game.sees_cards(seat, seat):
            held = {game.rules.deck.card_set.names[card] for card in game.hands[seat]}
            assert not held & set(re.findall(r"\[play ([^\]]+)\]", told.rpartition("It is your turn")[2]))
        done, _ = env.step(choice.choice([f"[{words}]", f"I say: [{words.upper()}]", f"[pass] or 2S? [{words}]"]))
    rewards, info = env.close()
    sign = -1 if env.table.rules.lowest else 1
    assert list(rewards.values()) == pytest.approx([sign * score for score in env.table.game.scores])
    assert not any(info[seat]["invalid_move"] for seat in range(env.state.num_players))


@pytest.mark.parametrize(
    ("name", "message", "meant"),
    [
        ("oh_sh", "[play *1]", "play *1"),
        ("oh_sh", "[play ★L]", "play *L"),
        ("oh_sh", "[play SC]", "play SC"),
        ("jokers led", "[play 11H]", "play 11H"),
        ("jokers led", "[play 12♦]", "play 12D"),
        ("penguin_whist", "[play card 3 of the hand]", "play card 3 of the hand"),
        ("nomination_whist", "I have four spades: [name hearts]", "name hearts"),
        ("pass or nil", "[pass]", "pass"),
    ],
)
def test_what_only_some_tables_have_is_read_too(name: str, message: str, meant: str) -> None:
    meanings = ohhell_v0.raw_env(EVERY_TABLE[name]).get_action_meanings()
    form = POSITION if "hand" in meant else SUIT if "name" in meant else CARD if "play" in meant else BID
    assert meanings[parse_action(message, meanings, form)] == meant
