"""What a table's options mean before a card is dealt: decks, ramps and scorings, written down from the source texts.

For the slow referee of every table (`referee_variants`); like it, this knows nothing of the package it checks. A
comment "encyclopedia:" restates a sentence of that source (docs/sources.md), and so on; "Rules:" one of the docstring
that settles what they leave open.
"""

from __future__ import annotations

from typing import Any

from referee import FULL_DECK

SUIT_LETTERS = {"clubs": "C", "diamonds": "D", "hearts": "H", "spades": "S"}
LONGEST_HAND = 26  # two players, one deck

# --- Decks -------------------------------------------------------------------------------------------------------

# From the lowest rank to the highest, in a hand with trump and in one without; ranks in one word are equal there.
ACES_HIGH = "2 3 4 5 6 7 8 9 T J Q K A"
SPANISH = "2 4 5 6 7 8 9 T J Q K 3 A"  # Spain's trick games rank the three next to the ace
SIX_HANDED_500 = "2 3 4 5 6 7 8 9 T 11 12 13 J Q K A *"  # Rules: the joker is the highest trump
# encyclopedia, 64 cards: Super 2 - 2 - Super Joker - Hi 1 Joker - Hi 2 Joker - Low Joker - Ace - King - .. - 3
OH_SH_TRUMP = "3 4 5 6 7 8 9 T J Q K A *L *2 *1 *S 2 S"
# encyclopedia: no trump rounds, Ace - King - .. - 3 - 2 - Joker; the Super 2 is not higher than the 2, the one
# played first is
OH_SH_NO_TRUMP = "*S/*1/*2/*L 2/S 3 4 5 6 7 8 9 T J Q K A"
ORDERS = {
    "standard": (ACES_HIGH, ACES_HIGH),
    "spanish": (SPANISH, SPANISH),
    "five hundred": (SIX_HANDED_500, SIX_HANDED_500),
    "oh sh": (OH_SH_TRUMP, OH_SH_NO_TRUMP),
}
DOUBLE_DECK = FULL_DECK * 2
SPANISH_40 = [card for card in FULL_DECK if card[0] not in "89T"]
# encyclopedia: the 63-card deck of six-handed 500: elevens, twelves, red thirteens and a joker besides the 52
FIVE_HUNDRED_63 = FULL_DECK + [f"{rank}{suit}" for rank in (11, 12) for suit in "CDHS"] + ["13D", "13H", "*"]
# encyclopedia: the 52 cards, four jokers, a second ace and a second two, the Super, of each suit
OH_SH_64 = FULL_DECK + ["*S", "*1", "*2", "*L"] + [f"{rank}{suit}" for rank in "AS" for suit in "CDHS"]


def is_joker(card: str) -> bool:
    return card.startswith("*")


def strength(card: str, card_set: str, trump: str | None) -> int:
    """How high a card stands in its suit, in a hand with this trump suit."""
    rank = card if is_joker(card) else card[:-1]
    order = ORDERS[card_set][0 if trump else 1].split()
    return next(place for place, ranks in enumerate(order) if rank in ranks.split("/"))


# --- Ramps -------------------------------------------------------------------------------------------------------

Hand = tuple[int, frozenset[str]]  # how many cards each seat gets, and the words for its special rules


def hands_of(ramp: Any, players: int, cards: int, cap: int = 0) -> list[Hand]:
    """The hands of a match in the order played; of "random" and "drawn" ones as many, of the sizes that may come."""
    peak = min(cards // players, LONGEST_HAND, cap or LONGEST_HAND)  # encyclopedia: as many as each can receive
    if ramp == "drawn":
        peak = min(peak, 13)  # Rules: ace is one card, the king thirteen
    up, down = list(range(1, peak + 1)), list(range(peak, 0, -1))
    named = {
        "down-up": down[:-1] + up,  # base; encyclopedia, "inverse of the stated order"
        "up-down": up[:-1] + down,  # encyclopedia, 1
        "up-down, peak twice": up + down,  # encyclopedia, 2
        "up": up,  # encyclopedia, 3
        "down": down,  # encyclopedia, 4
        "up twice": up + up,  # encyclopedia, 5
        "random": up,  # Rules: each size once
        "drawn": up[:-1] + down,  # Rules: as many as "up-down" has
    }
    if ramp == "up-down, no trump twice":  # encyclopedia, 64 cards: 2 no trump hands in the middle
        return [
            *((n, frozenset[str]()) for n in up),
            *[(peak, frozenset({"no trump"}))] * 2,
            *((n, frozenset[str]()) for n in down),
        ]
    if isinstance(ramp, str) and ramp in named:
        return [(size, frozenset()) for size in named[ramp]]
    if isinstance(ramp, str):
        return [(size, frozenset()) for size in by_corners([int(corner) for corner in ramp.split("..")])]
    return [special_hand(str(entry)) for entry in ramp]


def by_corners(corners: list[int]) -> list[int]:
    """online: start, switch and end number of cards, one card more or fewer from each hand to the next."""
    sizes = corners[:1]
    for corner in corners[1:]:
        while sizes[-1] != corner:
            sizes.append(sizes[-1] + (1 if corner > sizes[-1] else -1))
    return sizes


def special_hand(text: str) -> Hand:
    """encyclopedia, Order of Hands, 8: "8 no trump", "5 blind", "5 golden", "5 miser"."""
    size, *_ = text.split()
    return int(size), frozenset(word for word in ("no trump", "blind", "golden", "miser") if word in text)


# --- Scoring -----------------------------------------------------------------------------------------------------


def off(bid: int, taken: int) -> int:
    return max(bid, taken) - min(bid, taken)


def made_or(made: float, missed: float, bid: int, taken: int) -> float:
    return made if bid == taken else missed


ONLINE_MADE = {  # online: made bids score
    "bid+10": lambda b: b + 10,
    "2bid+10": lambda b: 2 * b + 10,
    "3bid+10": lambda b: 3 * b + 10,
    "10bid+10": lambda b: 10 * b + 10,
    "bid^2+10": lambda b: b**2 + 10,
}
ONLINE_MISSED = {  # online: failed bids score
    "zero": lambda b, t: 0,
    "tricks taken": lambda b, t: t,
    "-off": lambda b, t: -off(b, t),
    "-5 off": lambda b, t: -5 * off(b, t),
}
# Points from (bid, taken, hand size, players, trump: a suit's letter or None), the encyclopedia's in its order.
SCORES: dict[str, Any] = {
    "basic": lambda b, t, n, p, s: t + (10 if b == t else 0),
    "exact": lambda b, t, n, p, s: made_or(10 + b, 0, b, t),
    "exact_with_penalty": lambda b, t, n, p, s: made_or(10 + b, -b, b, t),
    "exact_with_set_penalty": lambda b, t, n, p, s: 10 + b if b == t else t if t > b else -10,
    "reduced_zero": lambda b, t, n, p, s: 5 if b == t == 0 else t + (10 if b == t else 0),
    "adjusted_zero": lambda b, t, n, p, s: 5 + n if b == t == 0 else t + (10 if b == t else 0),
    "progressive": lambda b, t, n, p, s: made_or(10 + b * b, t, b, t),
    "montreal": lambda b, t, n, p, s: made_or(10 + 2 * t, 0, b, t),
    "negative": lambda b, t, n, p, s: sum(range(1, off(b, t) + 1)),  # each further trick a point more than the last
    "simplified_negative": lambda b, t, n, p, s: off(b, t) ** 2,
    "spades_double": lambda b, t, n, p, s: made_or(10 + b, 0, b, t) * (2 if s == "S" else 1),
    "trick": lambda b, t, n, p, s: made_or(b if b else 0.5, -off(b, t), b, t),
    "binary": lambda b, t, n, p, s: made_or(10, 0, b, t),
    "binary_nil": lambda b, t, n, p, s: made_or(20, -10, b, t) if b == 0 and n > p else made_or(10, 0, b, t),
    "scratch": lambda b, t, n, p, s: made_or(b / 8192, -1, b, t),  # fewest scratches, then most made bids
    # seven-down: zero made 5, others made 10 + bid, missed minus the difference
    "seven_down": lambda b, t, n, p, s: made_or(10 + b if b else 5, -off(b, t), b, t),
    "blob": lambda b, t, n, p, s: made_or(10 + b, -off(b, t), b, t),  # up-and-down: miss your bid and you lose points
    # encyclopedia, 64 cards: 10 + 3 for every trick bid; missed, minus 3 for every trick bid, a zero 5
    "oh_sh": lambda b, t, n, p, s: made_or(10 + 3 * b, -3 * b if b else -5, b, t),
}
for _made, _reward in ONLINE_MADE.items():
    for _missed, _cost in ONLINE_MISSED.items():
        SCORES[f"{_made} / {_missed}"] = lambda b, t, n, p, s, reward=_reward, cost=_cost: (
            reward(b) if b == t else cost(b, t)
        )
LOWEST_WINS = {"negative", "simplified_negative"}  # encyclopedia: as in golf, the lowest score wins
