"""What a seat must see at a table of the wide form, section by section, by the slow referee's account."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from referee_table import SUIT_LETTERS
from referee_variants import VariantReferee
from referee_views import (
    bid_seen,
    bids_shown,
    blind_seen,
    card_shown,
    seen_hands,
    trump_known,
    unplaced,
)

from ohhell_env import Rules
from ohhell_env.observation.wide import SECTIONS

KINDS, BIDS = 63, 27
SUITS = list(SUIT_LETTERS.values())
HIDDEN, NOT_YET = BIDS, BIDS + 1
PHASES = ("bid", "play", "hand over", "match over", "blind", "nil", "name trump", "name suit")
GAPS = (-80, -50, -30, -20, -15, -12, -10, -5, -2, 0, 1, 3, 6, 11, 13, 16, 21, 31, 51, 81)
SPECIAL = ("no trump", "blind", "golden", "miser")


def sections_of(observation: NDArray[np.int8]) -> dict[str, list[int]]:
    """Where the ones stand in each section."""
    found, at = {}, 0
    for section in SECTIONS:
        found[section.name] = np.flatnonzero(observation[at : at + section.size]).tolist()
        at += section.size
    assert at == len(observation)
    assert set(np.unique(observation).tolist()) <= {0, 1}
    return found


class Sight:
    """What `viewer` sees."""

    def __init__(self, game: VariantReferee, rules: Rules, viewer: int) -> None:
        self.game, self.rules, self.viewer = game, rules, viewer
        self.seats = game.round_from(viewer)
        self.number = rules.deck.card_set.parse

    def sections(self) -> dict[str, list[int]]:
        """Where the ones must stand in each section."""
        parts = (self.cards(), self.table_top(), self.bidding(), self.hand(), self.table())
        return {name: sorted(ones) for part in parts for name, ones in part}

    def place(self, seat: int | None) -> list[int]:
        return [] if seat is None else [self.seats.index(seat)]

    def copies(self, cards: Counter[str], least: int) -> list[int]:
        return [self.number(card) for card, count in cards.items() if count >= least]

    def rows(self, rows: Iterable[Iterable[int]], width: int) -> list[int]:
        return [width * k + one for k, row in enumerate(rows) for one in row]

    def cards(self) -> Iterator[tuple[str, list[int]]]:
        game = self.game
        seen = seen_hands(game, self.viewer)
        mine, *others = [seen[seat] or Counter() for seat in self.seats]
        played = [Counter(game.played[seat]) for seat in self.seats]
        unseen = unplaced(game, self.viewer)
        for least, (hand, rest, gone, faced) in (
            (1, ("hand", "unseen", "played", "others")),
            (2, ("hand_twice", "unseen_twice", "played_twice", "others_twice")),
        ):
            yield hand, self.copies(mine, least)
            yield rest, self.copies(unseen, least)
            yield gone, self.rows([self.copies(cards, least) for cards in played], KINDS)
            yield faced, self.rows([self.copies(cards, least) for cards in others], KINDS)
        yield "slots", [place for place, card in enumerate(game.cards[self.viewer]) if card is not None]
        yield "voids", self.rows(([SUITS.index(suit) for suit in game.voids[seat]] for seat in self.seats), 4)

    def table_top(self) -> Iterator[tuple[str, list[int]]]:
        game = self.game
        shown = card_shown(game)
        card = [] if shown is None else [self.number(shown)]
        yield "turned", card if game.top_in_stock else []
        yield "shown", [] if game.top_in_stock else card
        trump = 4 if game.trump_suit is None else SUITS.index(game.trump_suit)
        yield "trump", [trump if trump_known(game) else 5]
        yield "trick", [KINDS * self.seats.index(seat) + self.number(card) for seat, card in game.trick]
        yield "leader", self.place((game.dealer + 1) % game.players if game.leader is None else game.leader)
        led = game.led_suit()
        yield "led_suit", [] if not game.trick else [4 if led is None else SUITS.index(led)]
        play = game.winning_play()
        yield "winning", self.place(None if play is None else play[0])
        yield "worth", [min(game.weight, 5) - 1]
        yield "broken", [0] if game.broken() else []

    def bidding(self) -> Iterator[tuple[str, list[int]]]:
        game = self.game
        bids = [bid_seen(game, self.viewer, seat) for seat in self.seats]
        first: list[Any] = [blind_seen(game, self.viewer, seat) for seat in self.seats]
        if game.knocks:
            first = [game.knocks[-1][seat] for seat in self.seats]
        numbers = {"hidden": HIDDEN, None: NOT_YET, "pass": NOT_YET}
        yield "bids", self.rows(([numbers.get(bid, bid)] for bid in bids), BIDS + 2)
        yield "first_bids", self.rows(([numbers.get(bid, bid)] for bid in first), BIDS + 2)
        yield "pledges", self.rows((self.pledge(seat) for seat in self.seats), 3)
        yield "rounds", [len(game.knocks)]
        taken = [game.taken[seat] for seat in self.seats]
        yield "taken", self.rows(([tricks] for tricks in taken), BIDS)
        need = [[bid - t] if isinstance(bid, int) else [] for bid, t in zip(bids, taken, strict=True)]
        yield "need", self.rows(([max(-3, min(9, n)) + 3 for n in row] for row in need), 13)
        total = sum(bid for bid in game.bids if bid is not None) - game.size
        yield "bid_sum", [max(-8, min(8, total)) + 8] if bids_shown(game) else []
        may_bid = game.phase == "bid" and game.turn == self.viewer
        yield "forbidden", sorted(set(range(game.size + 1)) - game.legal()) if may_bid else []

    def pledge(self, seat: int) -> list[int]:
        said = (self.game.blind[seat], self.game.nil[seat])
        if isinstance(said[0], int):
            return [2]
        return [0] if "pass" in said else [1] if said[1] == 0 else []

    def hand(self) -> Iterator[tuple[str, list[int]]]:
        game = self.game
        yield "hands_left", list(range(min(32, len(game.ramp) - 1 - game.hands_done)))
        ahead = [game.scores[self.viewer] - game.scores[seat] for seat in self.seats[1:]]
        yield "score_gap", self.rows(([k for k, least in enumerate(GAPS) if gap >= least] for gap in ahead), len(GAPS))
        yield "turn", self.place(game.turn)
        yield "dealer", self.place(game.dealer)
        yield "players", [game.players - 2]
        yield "hand_size", [game.size - 1]
        yield "tricks_left", [game.size - len(game.tricks)]
        yield "special", [k for k, word in enumerate(SPECIAL) if word in game.special]
        yield "deals", list(range(min(game.attempt, 8)))
        yield "phase", [PHASES.index(game.phase)]

    def table(self) -> Iterator[tuple[str, list[int]]]:
        rules, game = self.rules, self.game
        deck = Counter(game.deck)
        yield "deck", self.copies(deck, 1)
        yield "pairs", self.copies(deck, 2)
        flags = (
            rules.bids != "open",
            rules.hook,
            game.lowest,
            rules.ramp == "random",
            rules.must_trump,
            rules.hands_shown,
            rules.knocking,
            rules.cooperative,
            rules.nil_round,
            rules.blind_bids,
            rules.sort_hands,
        )
        ways = ("turned", "fixed", "named", "cut", "drawn")
        choices = (
            (ways, rules.trump if rules.trump in ways else "fixed"),
            (("none", "last", "cut"), rules.full_deal),
            (("any", "broken", "not first"), rules.lead_trump),
            (("first", "ante", "exception"), rules.duplicates),
            (("seen", "forehead", "hidden"), rules.own_cards),
        )
        ones, at = [k for k, flag in enumerate(flags) if flag], len(flags)
        for values, value in choices:
            ones.append(at + values.index(value))
            at += len(values)
        yield "table", ones


def check_sight(game: VariantReferee, rules: Rules, viewer: int, observation: NDArray[np.int8]) -> None:
    """The observation holds what the viewer may know, and nothing else."""
    seen, due = sections_of(observation), Sight(game, rules, viewer).sections()
    parse = rules.deck.card_set.parse
    if game.own_cards != "hidden":  # which of two copies was played is not said
        dealt = game.dealt[viewer]
        for sections in (seen, due):
            sections["slots"] = sorted(parse(dealt[place]) for place in sections["slots"])
    wrong = {name: (seen[name], due.get(name)) for name in seen if seen[name] != due.get(name)}
    assert not wrong, (wrong, game.phase, viewer, rules)
