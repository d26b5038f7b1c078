"""Nobody learns what they may not know: other hands, the stock and sealed bids change no other seat's view.

A twin of a position differs from it in what one seat, the viewer, may not know, and in nothing else.
"""

from collections import Counter
from typing import Any

import numpy as np
import pytest
from aec_play import TABLES, legal, over, plain, play, repeat
from hypothesis import given, settings
from hypothesis import strategies as st

from ohhell_env import ohhell_v0
from ohhell_env.kernel.state import BID
from ohhell_env.observation.decode import decode
from ohhell_env.table.game import Game
from ohhell_env.table.text import table_text

# Tables of several options and player counts; the first three hands say as much as the thirtieth.
NAMES = [
    "3 players",
    "4 players",
    "7 players",
    "bids open",
    "no hook",
    "no trump",
    "short deck",
    "another first dealer",
]
DECISIONS = st.one_of(st.integers(0, 7), st.integers(0, 90))  # many positions with bids still sealed
PLACES = st.tuples(st.sampled_from(NAMES), st.integers(0, 2**32), st.integers(0, 6), DECISIONS)


def reached(name: str, seed: int, decisions: int) -> tuple[Any, list[int]]:
    env = ohhell_v0.env(TABLES[name], render_mode="ansi")
    env.reset(seed=seed)
    return env, play(env, seed, decisions)


def redealt(hand: Game, viewer: int, rng: np.random.Generator) -> list[int]:
    """The hand's deck with the cards that the viewer cannot place put elsewhere, voids that were shown respected."""
    dealt, stock = hand.deal_order
    turned = [] if hand.turned is None else [hand.turned]
    deck = [*dealt, *turned, *stock]
    owner = [(hand.dealer + 1 + k) % hand.players for k in range(len(dealt))] + [None] * (len(deck) - len(dealt))
    played = {card for trick in hand.tricks for _, card in trick.plays} | {card for _, card in hand.trick}
    hidden = [k for k, card in enumerate(deck) if owner[k] != viewer and card not in played and card not in turned]
    voids = hand._game["voids"]
    for _ in range(100):
        i, j = (hidden[k] for k in rng.integers(0, len(hidden), 2)) if hidden else (0, 0)
        moved = ((owner[i], deck[j]), (owner[j], deck[i]))
        if all(seat is None or not voids[seat] >> card // 13 & 1 for seat, card in moved):
            deck[i], deck[j] = deck[j], deck[i]
    return deck


def rebid(env: Any, moves: list[int], viewer: int, rng: np.random.Generator) -> list[int]:
    """The moves with other sealed bids; the dealer's options betray their sum where that is at most the hand size."""
    game = env.game
    bids = len([bid for bid in game.bids if bid is not None])
    if game.phase != BID or game.rules.bids == "open" or not bids:
        return moves
    seats = [(game.dealer + 1 + k) % game.players for k in range(bids)]
    others = [k for k, seat in enumerate(seats) if seat != viewer]
    new = moves[-bids:]
    if game.player == viewer == game.dealer:
        shuffled = rng.permutation([new[k] for k in others])
    else:
        shuffled = 52 + rng.integers(0, game.hand_size + 1, len(others))
    for k, bid in zip(others, shuffled, strict=True):
        new[k] = int(bid)
    return [*moves[:-bids], *new]


def twin_of(env: Any, moves: list[int], viewer: int, rng: np.random.Generator) -> Any:
    twin = ohhell_v0.env(env.rules)
    hands = [*env.game.past_hands, *([] if over(env) else [env.game])]
    deals = [redealt(hand, viewer, rng) for hand in hands]
    twin.reset(seed=env.game.seed, options={"deals": deals, "dealer": hands[0].dealer})
    repeat(twin, rebid(env, moves, viewer, rng))
    return twin


def seen_by(env: Any, viewer: int) -> dict[str, Any]:
    """Whatever the environment tells one seat."""
    agent, game = f"player_{viewer}", env.game
    return {
        **plain(env.observe(agent)),
        "info": plain(env.infos[agent]),
        "reward": env.rewards[agent],
        "due": env._cumulative_rewards[agent],
        "turn": env.agent_selection,
        "done": dict(env.terminations),
        "text": table_text(game, viewer),
        "events": game.events(viewer),
        "bids": game.visible_bids(viewer),
    }


@settings(derandomize=True, max_examples=200, deadline=None, database=None)
@given(PLACES)
def test_what_a_seat_may_not_know_does_not_change_what_it_sees(place: tuple[str, int, int, int]) -> None:
    name, seed, viewer, decisions = place
    env, moves = reached(name, seed, decisions)
    viewer %= env.rules.players
    twin = twin_of(env, moves, viewer, np.random.default_rng(seed))
    assert seen_by(twin, viewer) == seen_by(env, viewer)
    differs = (twin.game.hands, twin.game.bids) != (env.game.hands, env.game.bids)
    assert (twin.state().tolist() != env.state().tolist()) == differs, "the state shows what is hidden"


def test_the_twins_do_differ_where_anything_is_hidden() -> None:
    """The property above would hold of twins that are all alike."""
    count: Counter[str] = Counter()
    rng = np.random.default_rng(1)
    for seed in range(120):
        env, moves = reached(NAMES[seed % len(NAMES)], seed, int(rng.integers(90 if seed % 2 else 8)))
        viewer = int(rng.integers(env.rules.players))
        if seed % 4 == 0 and env.game.player is not None:
            viewer = env.game.player
        twin = twin_of(env, moves, viewer, rng)
        count["hands"] += twin.game.hands != env.game.hands
        count["bids"] += twin.game.bids != env.game.bids
        count["dealer's bids"] += twin.game.bids != env.game.bids and env.game.player == viewer == env.game.dealer
        count["past stock"] += any(
            one.deal_order != other.deal_order
            for one, other in zip(twin.game.past_hands, env.game.past_hands, strict=True)
        )
        count["voids"] += bool(env.games[0]["voids"].any())
    assert count["hands"] > 90 and count["voids"] > 30 and count["past stock"] > 15
    assert count["bids"] > 10 and count["dealer's bids"] > 0


def test_each_other_seat_sees_a_swap_of_cards_only_where_it_holds_one() -> None:
    env, _ = reached("5 players", 3, 0)
    for one, other in ((0, 1), (2, 4)):
        deck = [*env.game.deal_order[0], env.game.turned, *env.game.deal_order[1]]
        i, j = ((seat - 1) % 5 for seat in (one, other))  # the places of their first cards: player_1 is dealt first
        deck[i], deck[j] = deck[j], deck[i]
        twin = ohhell_v0.env(env.rules)
        twin.reset(seed=env.game.seed, options={"deals": [deck]})
        changed = [seat for seat in range(5) if seen_by(twin, seat) != seen_by(env, seat)]
        assert changed == [one, other]


@pytest.mark.parametrize("name", ["3 players", "4 players", "bids open"])
def test_bids_show_when_the_rules_say_so(name: str) -> None:
    env, _ = reached(name, 1, 0)
    rng = np.random.default_rng(1)
    rules, p = env.rules, env.rules.players
    for bids in range(p + 1):
        for viewer in range(p):
            shown = decode(env.observe(f"player_{viewer}")["observation"])["bids"]
            absolute = [shown[(seat - viewer) % p] for seat in range(p)]
            for k in range(p):
                seat = (env.game.dealer + 1 + k) % p
                sealed = rules.bids == "sealed" and bids < p and seat != viewer
                bid = None if k >= bids else "hidden" if sealed else env.game.bids[seat]
                assert absolute[seat] == env.game.visible_bids(viewer)[seat] == bid
                assert k >= bids or env.game.bids[seat] is not None
            events = [event.bid for event in env.game.events(viewer) if type(event).__name__ == "BidMade"]
            assert len(events) == bids
            assert ("bid ?" in table_text(env.game, viewer)) == ("hidden" in absolute)
        assert "bid ?" not in env.render(), "the whole table is shown to whoever watches"
        play(env, rng, 1)


def test_the_hook_tells_the_dealer_the_sum_and_nobody_else_anything() -> None:
    env, _ = reached("4 players", 1, 0)
    for first, second in (((60, 53, 52), (53, 54, 58)), ((65, 65, 60), (64, 65, 65))):
        views = []
        for bids in (first, second):
            env.reset(seed=1)
            repeat(env, list(bids))
            assert env.agent_selection == "player_0" and env.game.dealer == 0
            forbidden = 13 - (sum(bids) - 3 * 52)
            assert legal(env) == [52 + bid for bid in range(14) if bid != forbidden]
            views.append(plain(env.observe("player_0")))
        assert views[0] == views[1]


def test_a_seat_is_told_of_other_hands_only_what_was_played() -> None:
    for seed in range(30):
        env, _ = reached(NAMES[seed % len(NAMES)], seed, 5 + seed)
        for viewer in range(env.rules.players):
            for event in env.game.events(viewer):
                if type(event).__name__ == "HandDealt":
                    assert [seat for seat, cards in enumerate(event.cards) if cards is not None] == [viewer]
            text = table_text(env.game, viewer)
            for seat, hand in enumerate(env.game.hands):
                line = next(line for line in text.splitlines() if f" player_{seat} " in line[:12])
                count = f"{len(hand)} card{'s' * (len(hand) != 1)}"
                assert line.endswith(count) == (seat != viewer)
