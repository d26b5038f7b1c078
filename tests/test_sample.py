"""Random tables: valid, of their split alone, over all options, told in words, played to the end by everybody."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from ohhell_env import Rules, Simulator, describe, preset
from ohhell_env.rules.rules import BIDS, DUPLICATES, FULL_DEALS, LEAD_TRUMP, OWN_CARDS
from ohhell_env.rules.sample import FAMILIES, SPLITS, families_of, random_rules, split_of, table_key
from ohhell_env.rules.scoring import SCORINGS

TABLES = 250


@pytest.fixture(scope="module")
def drawn() -> dict[str, list[Rules]]:
    return {split: [random_rules(seed, split) for seed in range(TABLES)] for split in SPLITS}


def test_one_seed_and_split_always_give_the_same_table() -> None:
    assert [random_rules(3, split) for split in SPLITS] == [random_rules(3, split) for split in SPLITS]
    golden = {split: table_key(random_rules(7, split))[:12] for split in SPLITS}
    assert golden == {"train": "36630a0b22f9", "test": "0fc6bbfc6213", "test-families": "3d3729703d5c"}, (
        "a benchmark's tables never change"
    )


def test_splits_never_overlap_and_tables_rarely_repeat(drawn: dict[str, list[Rules]]) -> None:
    keys = {split: {table_key(rules) for rules in tables} for split, tables in drawn.items()}
    for split, tables in drawn.items():
        assert len(keys[split]) > 0.98 * TABLES
        assert {split_of(rules) for rules in tables} == {split}
        for other in SPLITS:
            assert other == split or not keys[split] & keys[other]


def test_families_are_in_their_split_alone_each_of_them_often(drawn: dict[str, list[Rules]]) -> None:
    for split in ("train", "test"):
        assert not any(families_of(rules) for rules in drawn[split])
    count = Counter(family for rules in drawn["test-families"] for family in families_of(rules))
    assert all(families_of(rules) for rules in drawn["test-families"])
    assert set(count) == set(FAMILIES) and min(count.values()) > TABLES / 5


def test_a_table_has_one_key_however_it_is_written_and_another_for_every_other_rule() -> None:
    base = Rules(ramp=(3, 2, 1), trump="spades")
    same = [
        replace(base, ramp="3..1"),
        replace(base, trump=("spades",)),
        replace(base, trump=("spades", "spades")),
        replace(base, scoring=lambda bid, taken, size: 10 + bid if bid == taken else 0),
        replace(base, scoring="bid+10 / zero", lowest_wins=False),
        replace(base, first_dealer=2),
        replace(base, ramp="down", cap=3),
    ]
    assert {table_key(rules) for rules in same} == {table_key(base)}
    bare = Rules(ramp=("3 no trump", "2 no trump"))
    assert table_key(bare) == table_key(Rules(ramp=(3, 2), trump="none", lead_trump="broken"))
    others = [
        replace(base, players=5),
        replace(base, ramp=(3, 2)),
        replace(base, ramp=(2, 3, 1)),
        replace(base, ramp=("3 blind", 2, 1)),
        replace(base, hook=False),
        replace(base, bids="open"),
        replace(base, trump="hearts"),
        replace(base, trump=("spades", "none")),
        replace(base, scoring="basic"),
        replace(base, lowest_wins=True),
        replace(base, lead_trump="broken"),
        replace(base, must_trump=True),
        replace(base, own_cards="hidden"),
        replace(base, own_cards="hidden", sort_hands=True),
        replace(base, hands_shown=True),
        replace(base, nil_round=True),
        replace(base, blind_bids=True),
        preset("pocha"),
        preset("oh_sh"),
    ]
    assert len({table_key(rules) for rules in [base, *others]}) == 1 + len(others)


def test_every_value_of_every_option_comes_up(drawn: dict[str, list[Rules]]) -> None:
    every = [rules for tables in drawn.values() for rules in tables]
    plain = drawn["train"]
    assert {rules.players for rules in plain} == set(range(2, 11))
    assert {rules.scoring for rules in every} == set(SCORINGS)
    for option, values in (("bids", BIDS), ("lead_trump", LEAD_TRUMP), ("duplicates", DUPLICATES)):
        assert {getattr(rules, option) for rules in plain} == set(values), option
    for option in ("hook", "knocking", "cooperative", "nil_round", "blind_bids", "must_trump", "hands_shown", "lowest"):
        assert {getattr(rules, option) for rules in plain} == {False, True}, option
    families = drawn["test-families"]
    assert {rules.own_cards for rules in families} == set(OWN_CARDS)
    assert {rules.sort_hands for rules in families} == {False, True}
    assert {rules.full_deal for rules in every} == set(FULL_DEALS)
    kinds = {rules.ramp if isinstance(rules.ramp, str) else "hands" for rules in every}
    assert kinds == {"hands", "up", "down", "random", "drawn"}
    assert {bit for rules in every for hand in rules.ramp_hands for bit in (1, 2, 4, 8) if hand.special & bit} == {
        1,
        2,
        4,
        8,
    }
    assert {rules.deck.name for rules in every} >= {"standard 52", "double deck, 104", "Spanish 40", "Oh Sh--!, 64"}


def test_no_table_is_a_lottery_or_endless(drawn: dict[str, list[Rules]]) -> None:
    for rules in (rules for tables in drawn.values() for rules in tables):
        assert 3 <= max(rules.hand_sizes) <= 10
        assert 2 <= rules.num_hands <= 10
        assert not rules.cooperative or rules.attempts
        assert Rules.from_json(rules.to_json()) == rules
        assert len(describe(rules).splitlines()) > 6


@pytest.mark.parametrize("split", SPLITS)
def test_random_play_ends_every_match(drawn: dict[str, list[Rules]], split: str) -> None:
    tables = drawn[split][:40]
    simulator = Simulator(tables, len(tables), seed=1, observe=False)
    over = np.zeros(len(tables), dtype=bool)
    batch, rng = simulator.current(), np.random.default_rng(1)
    for _ in range(5000):
        actions = np.argmax(batch.action_mask * (1 + rng.random(batch.action_mask.shape)), axis=1)
        batch = simulator.step(actions)
        over |= batch.match_over
        if over.all():
            return
    raise AssertionError(f"{(~over).sum()} matches have not ended")


@pytest.mark.parametrize(
    ("seed", "split", "message"),
    [
        (-1, "train", "seed=-1 is not allowed"),
        (1.5, "train", r"seed=1.5 is not allowed"),
        (True, "train", "seed=True is not allowed"),
        (1, "valid", "split='valid' is not known; use one of 'train', 'test', 'test-families'"),
    ],
)
def test_what_is_not_allowed_is_refused(seed: int, split: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        random_rules(seed, split)
