"""The slow referee of every other table by itself: random matches to the end, and what must hold all the way."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import pytest
from referee import FULL_DECK, IllegalMove, Referee
from referee_table import SCORES, SUIT_LETTERS, hands_of
from referee_variants import VariantReferee
from referee_views import bid_seen, blind_seen, card_shown, seen_hands, trump_known, unplaced
from variant_tables import (
    CLASHES,
    DEFAULTS,
    LEAST_TABLES,
    MOST_PLAYERS,
    NEEDS,
    OPTIONS,
    Choice,
    choices,
    pairs_in,
    pairs_that_go_together,
    preset_tables,
    referee_for,
    table_of,
    variants,
)

from ohhell_env import Rules, preset
from ohhell_env.rules.presets import PRESETS
from ohhell_env.rules.scoring import SCORINGS, num_arguments, resolve

# --- The tables ------------------------------------------------------------------------------------------------------


def test_the_tables_hold_every_value_and_every_two_that_go_together() -> None:
    covered = set().union(*map(pairs_in, choices()))
    assert pairs_that_go_together() <= covered
    for option, values in OPTIONS.items():
        assert set(values) <= {choice[option] for choice in choices()}, option
    assert set(SCORINGS) <= {choice["scoring"] for choice in choices()}
    assert len(variants()) >= LEAST_TABLES
    assert len(set(variants())) > 0.99 * len(variants())


def nearest(*fixed: tuple[str, Any]) -> Choice:
    """The default choice with some values fixed, and with what those values need unless that is fixed too."""
    choice = dict(DEFAULTS)
    for value in fixed:
        choice |= NEEDS.get(value, {})
    return choice | dict(fixed)


@pytest.mark.parametrize(("option", "values", "other", "others", "reason"), CLASHES)
def test_what_cannot_be_played_together_is_refused_with_the_reason(
    option: str, values: tuple[Any, ...], other: str, others: tuple[Any, ...], reason: str
) -> None:
    for one in values:
        for two in others:
            with pytest.raises(ValueError, match=reason):
                table_of(nearest((option, one), (other, two)))


@pytest.mark.parametrize("option", OPTIONS)
def test_every_value_of_an_option_is_accepted_where_its_needs_are_met(option: str) -> None:
    for value in OPTIONS[option]:
        ramp = {"ramp": "up-down"} if option == "cap" else {}
        assert isinstance(table_of(nearest((option, value)) | ramp), Rules)


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_is_refused_beyond_the_players_that_its_deck_reaches(name: str) -> None:
    assert preset(name, players=MOST_PLAYERS[name]).players == MOST_PLAYERS[name]
    with pytest.raises(ValueError, match="hand sizes are" if MOST_PLAYERS[name] < 10 else "from 2 to 10"):
        preset(name, players=MOST_PLAYERS[name] + 1)


def test_rules_and_referee_read_every_ramp_alike() -> None:
    words = {1: "no trump", 2: "blind", 4: "golden", 8: "miser"}
    for rules in [*variants(), *(rules for _, rules in preset_tables())]:
        read = [(hand.size, {word for bit, word in words.items() if hand.special & bit}) for hand in rules.ramp_hands]
        assert read == hands_of(rules.ramp, rules.players, len(rules.deck), rules.cap)


@pytest.mark.parametrize("name", SCORES)
def test_package_and_referee_score_alike(name: str) -> None:
    scoring = resolve(name)
    for size in (1, 2, 5, 13):
        for bid in range(size + 1):
            for taken in range(size + 1):
                for suit, trump in enumerate((*SUIT_LETTERS.values(), None)):
                    arguments = (bid, taken, size, 4, suit)[: num_arguments(scoring)]
                    assert scoring(*arguments) == SCORES[name](bid, taken, size, 4, trump)


# --- The game of the base rules --------------------------------------------------------------------------------------


@pytest.mark.parametrize("players", [3, 4, 7])
@pytest.mark.parametrize("sealed", [True, False])
def test_with_every_option_at_its_default_it_is_the_referee_of_the_default_game(players: int, sealed: bool) -> None:
    rng = random.Random(players)
    plain = Referee(players, sealed=sealed)
    wide = VariantReferee(players, bids="sealed" if sealed else "open")
    while plain.phase == "deal":
        order = rng.sample(FULL_DECK, len(FULL_DECK))
        plain.deal(order)
        wide.deal(order)
        while plain.turn is not None:
            assert (plain.phase, plain.turn, plain.legal()) == (wide.phase, wide.turn, wide.legal())
            assert (plain.bids, plain.taken, plain.leader) == (wide.bids, wide.taken, wide.leader)
            assert (plain.turned, plain.trump_suit, plain.voids) == (card_shown(wide), wide.trump_suit, wide.voids)
            seat = rng.randrange(players)
            assert plain.view(seat)["bids"] == [bid_seen(wide, seat, other) for other in range(players)]
            assert plain.view(seat)["unseen"] == set(unplaced(wide, seat))
            assert plain.view(seat)["hand"] == set(seen_hands(wide, seat)[seat] or ())
            move = rng.choice(sorted(plain.legal(), key=str))
            plain.act(move)
            wide.act(move)
        assert (plain.last_points, plain.scores) == (wide.last_points, wide.scores)
    assert wide.phase == "over"
    assert plain.win_shares() == wide.win_shares()


# --- Random matches at every table -----------------------------------------------------------------------------------


def deal(game: VariantReferee, rules: Rules, rng: random.Random) -> None:
    """The next hand, with whatever else chance decides."""
    order = rng.sample(game.deck, len(game.deck))
    chance: dict[str, Any] = {"cut": rng.choice(game.deck)}
    if rules.ramp in ("random", "drawn") and not game.attempt:
        left = {size for size, _ in game.ramp}
        chance["size"] = rng.choice(sorted(left - set(game.sizes_dealt) if rules.ramp == "random" else left))
        chance["drawn_trump"] = rng.choice(sorted(SUIT_LETTERS)) if rules.ramp == "drawn" else None
    game.deal(order, **chance)


def check_cards(game: VariantReferee, dealt: Counter[str]) -> None:
    """Every card is in one place, and nobody can place a card that they have not seen."""
    hands = [Counter(card for card in hand if card is not None) for hand in game.cards]
    held = sum(hands, Counter())
    on_table = Counter(card for trick in [*game.tricks, game.trick] for _, card in trick)
    assert held + on_table == dealt
    assert on_table == sum(map(Counter, game.played), Counter())
    stock = Counter(game.deck) - dealt
    shown = card_shown(game) is not None
    for viewer in range(game.players):
        seen = seen_hands(game, viewer)
        out_of_sight = stock + sum((hand for hand, known in zip(hands, seen, strict=True) if known is None), Counter())
        placed = out_of_sight - unplaced(game, viewer)
        assert not unplaced(game, viewer) - out_of_sight
        assert placed.total() in ((0, 1) if shown and game.top_in_hand else (int(shown and game.top_in_stock),))


def check_hand(game: VariantReferee, rules: Rules, trump: str | None, dealer: int) -> None:
    """The hand that has just ended, against its rules once more."""
    assert len(game.tricks) == game.size
    lost = [winner for winner in game.trick_winners if winner is None]
    assert sum(game.taken) == game.size or (lost and sum(game.taken) < game.size)
    assert not lost or rules.duplicates == "ante"
    assert game.dealer == (dealer + 1) % game.players
    bids = game.bids
    if game.bidless:
        assert bids == [None] * game.players
        return
    total = sum(bid for bid in bids if bid is not None)
    assert None not in bids
    assert total == game.size if rules.cooperative else not (rules.hook and total == game.size)
    scoring = resolve(rules.scoring)
    number = [*SUIT_LETTERS.values(), None].index(trump)
    for seat, points in enumerate(game.last_points or []):
        plain = scoring(*(bids[seat], game.taken[seat], game.size, game.players, number)[: num_arguments(scoring)])
        blind = game.blind[seat]
        if rules.cooperative:
            assert points == (plain if bids == game.taken else 0)
        elif blind in (None, "pass"):
            assert points == plain
        else:
            penalty = plain > 0 if rules.lowest else plain < 0
            kept, made = blind == bids[seat], bids[seat] == game.taken[seat]
            assert points == plain * ((2 if kept else 3) if penalty else (2 if kept else 1.5) if made else 1)
            assert abs(blind - (bids[seat] or 0)) <= 2


@pytest.mark.parametrize("part", range(8))
def test_random_matches_play_to_the_end_and_keep_every_card_and_every_point(part: int) -> None:
    rng = random.Random(part)
    phases: set[str] = set()
    for rules in variants()[part::8]:
        game = referee_for(rules, rng.randrange(rules.players))
        deals, totals = 0, [0.0] * rules.players
        while game.phase == "deal" and deals < 4:  # of the longest matches the beginning
            deal(game, rules, rng)
            deals += 1
            dealt = Counter(card for hand in game.cards for card in hand if card is not None)
            dealer, trump = game.dealer, game.trump_suit
            while game.turn is not None:
                phases.add(game.phase)
                if rng.random() < 0.1:
                    check_cards(game, dealt)
                    assert trump_known(game) or game.phase not in ("play", "name suit")
                assert game.legal()
                assert all(blind_seen(game, 0, seat) is not None for seat in range(game.players) if game.blind[seat])
                game.act(rng.choice(sorted(game.legal(), key=str)))
                trump = game.trump_suit if game.turn is not None else trump
            check_hand(game, rules, trump, dealer)
            totals = [a + b for a, b in zip(totals, game.last_points or [], strict=True)]
            assert game.scores == totals
        if game.phase == "over":
            assert deals == rules.num_hands or rules.cooperative
            assert sum(game.win_shares()) == pytest.approx(0 if game.lost else 1)
            best = (min if game.lowest else max)(game.scores)
            assert all((share > 0) <= (total == best) for share, total in zip(game.win_shares(), totals, strict=True))
    assert {"bid", "play"} <= phases


def test_what_is_not_allowed_is_refused_and_changes_nothing() -> None:
    game = VariantReferee(3, ramp=(2,), blind_bids=True, first_dealer=2)
    game.deal(FULL_DECK)
    for move in (True, None, 3, -1, "2C", "name", 1.0):
        with pytest.raises(IllegalMove, match="blind"):
            game.act(move)
    assert (game.phase, game.turn, game.blind) == ("blind", 0, [None] * 3)
