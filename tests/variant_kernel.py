"""What the kernel's record of a game says, in the words of the slow referee of every table."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from referee_table import SUIT_LETTERS
from referee_variants import VariantReferee
from referee_views import trump_known
from variant_tables import referee_for

from ohhell_env import Rules
from ohhell_env.kernel import state as s
from ohhell_env.rules.cards import card_name

SUIT_WORDS = (*SUIT_LETTERS, "none")
LETTERS = (*SUIT_LETTERS.values(), None)
PHASES = {
    s.BID: "bid",
    s.PLAY: "play",
    s.BLIND: "blind",
    s.PASS_OR_NIL: "nil",
    s.NAME_TRUMP: "name trump",
    s.NAME_SUIT: "name suit",
}


def words_of(rules: Rules) -> list[Any]:
    """What each action of a table means: a card's or suit's name, a bid or a position as a number, "pass"."""
    form, card_set = s.form_of((rules,)), rules.deck.card_set
    cards = [card_name(card, card_set) if card < len(card_set) else f"card {card}" for card in range(form.kinds)]
    bids = list(range(form.num_bids))
    if form is s.STANDARD_FORM:
        return [*cards, *bids]
    return [*cards, *bids, "pass", *SUIT_WORDS, *range(form.hand_size)]


class KernelWords:
    """One table's records in words."""

    def __init__(self, rules: Rules) -> None:
        self.rules = rules
        self.words = words_of(rules)

    def allowed(self, mask: NDArray[np.int8]) -> set[Any]:
        return {self.words[action] for action in np.flatnonzero(mask).tolist()}

    def card(self, number: Any) -> str | None:
        return None if number == s.NONE else card_name(int(number), self.rules.deck.card_set)

    def deal(self, referee: VariantReferee, record: Any) -> None:
        """The hand that the kernel has dealt, by what chance said there."""
        order = [self.card(card) for card in record["deck"][: len(self.rules.deck)]]
        chance: dict[str, Any] = {}
        if self.rules.ramp in ("random", "drawn"):
            chance["size"] = int(record["hand_size"])
        if self.rules.ramp == "drawn":
            chance["drawn_trump"] = SUIT_WORDS[record["drawn"]]
        if "shown" in record.dtype.names and "cut" in (self.rules.trump, self.rules.full_deal):
            chance["cut"] = self.card(record["shown"])
        referee.deal([str(card) for card in order], **chance)

    def sit_down(self, record: Any) -> VariantReferee:
        """A referee at the table, with the hand that the kernel has dealt first."""
        referee = referee_for(self.rules, int(record["dealer"]))
        self.deal(referee, record)
        return referee

    def facts(self, record: Any) -> dict[str, Any]:
        """What the kernel holds, in the referee's terms."""
        seats = self.rules.players
        phase = PHASES[int(record["phase"])]
        facts = {
            "phase": phase,
            "turn": int(record["player"]),
            "dealer": int(record["dealer"]),
            "size": int(record["hand_size"]),
            "bids": [None if bid == s.NONE else int(bid) for bid in record["bids"][:seats]],
            "taken": record["taken"][:seats].tolist(),
            "scores": record["scores"][:seats].tolist(),
            "voids": [{LETTERS[suit] for suit in range(4) if void >> suit & 1} for void in record["voids"][:seats]],
        }
        if phase in ("play", "name suit"):
            facts["leader"] = int(record["leader"])
            facts["trump"] = LETTERS[record["trump"]]
            facts["led"] = None if record["led_suit"] == s.NONE else LETTERS[record["led_suit"]]
            facts["winning"] = None if record["winning"] == s.NONE else int(record["winning"])
        if "pledges" in record.dtype.names:
            facts |= self._wide_facts(record)
        return facts

    def _wide_facts(self, record: Any) -> dict[str, Any]:
        seats = self.rules.players
        first = [None if bid == s.NONE else int(bid) for bid in record["first_bids"][:seats]]
        said = {s.NONE: None, s.PASSED: "pass", s.NIL: "nil", s.BLIND_BID: "blind"}
        return {
            "attempt": int(record["deals"]),
            "weight": int(record["worth"]),
            "said": [said[int(pledge)] for pledge in record["pledges"][:seats]],
            "first bids": first,
            "knocks": int(record["rounds"]),
            "trump known": bool(record["trump_known"]),
        }


def referee_facts(referee: VariantReferee, names: set[str]) -> dict[str, Any]:
    """The referee's side of `KernelWords.facts`."""
    said: list[str | None] = []
    for blind, nil in zip(referee.blind, referee.nil, strict=True):
        said.append("blind" if isinstance(blind, int) else "nil" if nil == 0 else blind or nil)  # type: ignore[arg-type]
    first: list[Any] = [blind if isinstance(blind, int) else None for blind in referee.blind]
    winning = referee.winning_play()
    facts = {
        "phase": referee.phase,
        "turn": referee.turn,
        "dealer": referee.dealer,
        "size": referee.size,
        "bids": referee.bids,
        "taken": referee.taken,
        "scores": referee.scores,
        "voids": referee.voids,
        "leader": referee.leader,
        "trump": referee.trump_suit,
        "led": referee.led_suit(),
        "winning": None if winning is None else winning[0],
        "attempt": referee.attempt,
        "weight": referee.weight,
        "said": said,
        "first bids": referee.knocks[-1] if referee.knocks else first,
        "knocks": len(referee.knocks),
        "trump known": trump_known(referee),
    }
    return {name: facts[name] for name in names}
