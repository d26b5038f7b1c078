"""Tables for the differential runs: every value of every option, every two values that go together, every preset."""

from __future__ import annotations

import random
from collections.abc import Iterator
from functools import cache
from itertools import combinations
from typing import Any

from referee import FULL_DECK
from referee_table import DOUBLE_DECK, FIVE_HUNDRED_63, OH_SH_64, SCORES, SPANISH_40
from referee_variants import VariantReferee

from ohhell_env import Deck, Rules, preset
from ohhell_env.rules.cards import card_name
from ohhell_env.rules.presets import PRESETS

LEAST_TABLES = 300

# --- What an option may be -------------------------------------------------------------------------------------------

NINE_UP = [card for card in FULL_DECK if card[0] in "9TJQKA"]
SOME_TWICE = NINE_UP + [card for card in FULL_DECK if card[0] in "JA"]
LITTLE_OH_SH = [card for card in OH_SH_64 if card[:-1] in ("3", "K", "A", "2", "S", "*")]
LITTLE_500 = [card for card in FIVE_HUNDRED_63 if card[:-1] in ("2", "11", "12", "13", "A", "")] + ["*"]
DECKS: dict[str, tuple[list[str], str]] = {
    "standard": (FULL_DECK, "standard"),
    "double deck": (DOUBLE_DECK, "standard"),
    "spanish": (SPANISH_40, "spanish"),
    "five hundred": (FIVE_HUNDRED_63, "five hundred"),
    "oh sh": (OH_SH_64, "oh sh"),
    "nine up": (NINE_UP, "standard"),
    "some twice": (SOME_TWICE, "standard"),
    "little oh sh": (LITTLE_OH_SH, "oh sh"),
    "little 500": (LITTLE_500, "five hundred"),  # with two jokers
}
# Cut down to three cards a seat: a joker, then the ends of a suit, two copies of its ace among them, and so on.
SUITS_WITH_JOKERS = [f"{rank}{suit}" for suit in "CDHS" for rank in ("*", "A", "A", "2", "S", "3")]
JOKERS = iter(("*S", "*1", "*2", "*L"))
DEALT_OUT = {
    "three each": NINE_UP + FULL_DECK[:7],
    "three each, jokers": [next(JOKERS) if "*" in card else card for card in SUITS_WITH_JOKERS] + FULL_DECK[4:10],
}
HOLD_PAIRS = ("double deck", "oh sh", "some twice", "little oh sh", "little 500", "three each, jokers")


def of_its_own(bid: int, taken: int, hand_size: int, players: int, trump: int) -> float:
    """A scoring of the table's own that looks at everything."""
    return taken * (trump + 1) - abs(bid - taken) * players / 4 + hand_size


SPECIAL_RAMPS: dict[str, tuple[int | str, ...]] = {
    "sizes": (3, 1, 2),
    "no trump": ("3 no trump", 2, 1),
    "blind": (2, "3 blind", "1 blind"),
    "golden": ("2 golden", 3),
    "miser": ("3 miser", 2),
    "no trump blind": ("2 no trump blind", 1),
    "no trump without bids": ("3 no trump golden", "2 no trump miser", 1),
}
NAMED_RAMPS = ("down-up", "up-down", "down", "up", "up-down, peak twice", "up twice", "random", "drawn")
NAMED_RAMPS += ("up-down, no trump twice",)
SEQUENCE = ("diamonds", "clubs", "hearts", "spades", "none")
WAYS = {"ordinary": {}} | {way: {way: True} for way in ("knocking", "cooperative", "nil_round", "blind_bids")}
OPTIONS: dict[str, tuple[Any, ...]] = {
    "players": tuple(range(2, 11)),
    "deck": (*DECKS, *DEALT_OUT),
    "ramp": (*NAMED_RAMPS, "corners", *SPECIAL_RAMPS),
    "cap": (0, 1, 3, 15),
    "hook": (True, False),
    "bids": ("sealed", "open", "together"),
    "trump": ("turned", "none", "clubs", "diamonds", "hearts", "spades", SEQUENCE, "named", "cut", "drawn"),
    "scoring": ("exact", "basic", "negative", "spades_double", "binary_nil", "scratch", "of its own"),
    "first_dealer": (0, "last seat", "random"),
    "way": tuple(WAYS),
    "attempts": (0, 1, 3),
    "full_deal": ("none", "last", "cut"),
    "lead_trump": ("any", "broken", "not first"),
    "must_trump": (False, True),
    "duplicates": ("first", "ante", "exception"),
    "own_cards": ("seen", "forehead", "hidden"),
    "hands_shown": (False, True),
    "sort_hands": (False, True),
    "lowest_wins": (None, True, False),
    "deals": (0, 2),
}
OTHER_SCORINGS = tuple(name for name in SCORES if name not in OPTIONS["scoring"])  # each once; not with everything

# What does not go together, with a word of the reason that `Rules` gives. Values of one option, values of another.
_NOT_PATTERNS = ("corners", *SPECIAL_RAMPS)
_NO_PAIRS = tuple(deck for deck in OPTIONS["deck"] if deck not in HOLD_PAIRS)
_BUT_DRAWN = {option: tuple(v for v in OPTIONS[option] if v != "drawn") for option in ("ramp", "trump")}
_BUT_TURNED = tuple(trump for trump in OPTIONS["trump"] if trump != "turned")
CLASHES: list[tuple[str, tuple[Any, ...], str, tuple[Any, ...], str]] = [
    ("bids", ("together",), "hook", (True,), "nobody bids last"),
    ("way", ("knocking",), "bids", ("sealed", "open"), "knocking=True needs bids='together'"),
    ("way", ("knocking",), "hook", (True,), "nobody bids last"),
    ("way", ("cooperative",), "bids", ("sealed", "together"), "cooperative=True needs bids='open'"),
    ("way", ("cooperative",), "hook", (True,), "hook=False"),
    ("way", ("cooperative",), "ramp", ("golden", "miser", "no trump without bids"), "nobody bids in them"),
    ("way", ("cooperative",), "deals", (2,), "may be dealt again"),
    ("hands_shown", (True,), "own_cards", ("forehead", "hidden"), "needs own_cards='seen'"),
    ("hands_shown", (True,), "way", ("blind_bids",), "cannot have blind hands or bids"),
    ("hands_shown", (True,), "ramp", ("blind", "no trump blind"), "cannot have blind hands or bids"),
    ("sort_hands", (True,), "own_cards", ("seen", "forehead"), "sort_hands=True needs own_cards='hidden'"),
    ("sort_hands", (True,), "hands_shown", (True,), "needs own_cards='seen'|needs own_cards='hidden'"),
    ("sort_hands", (True,), "full_deal", ("last",), "would not lie last"),
    ("ramp", ("drawn",), "trump", _BUT_DRAWN["trump"], "draws both or neither"),
    ("trump", ("drawn",), "ramp", _BUT_DRAWN["ramp"], "draws both or neither"),
    ("full_deal", ("last", "cut"), "trump", _BUT_TURNED, "needs trump='turned'"),
    ("full_deal", ("last", "cut"), "ramp", ("drawn",), "draws both or neither|needs trump='turned'"),
    ("duplicates", ("ante", "exception"), "deck", _NO_PAIRS, "holds cards twice"),
    ("cap", (1, 3, 15), "ramp", _NOT_PATTERNS, "names its own sizes"),
]
# The least that has to give way for a value to be possible at all.
NEEDS: dict[tuple[str, Any], dict[str, Any]] = {
    ("bids", "together"): {"hook": False},
    ("way", "knocking"): {"hook": False, "bids": "together"},
    ("way", "cooperative"): {"hook": False, "bids": "open"},
    ("ramp", "drawn"): {"trump": "drawn"},
    ("trump", "drawn"): {"ramp": "drawn"},
    ("sort_hands", True): {"own_cards": "hidden"},
    ("duplicates", "ante"): {"deck": "some twice"},
    ("duplicates", "exception"): {"deck": "some twice"},
}
DEFAULTS = {option: values[0] for option, values in OPTIONS.items()} | {"ramp": "sizes", "players": 4}

Choice = dict[str, Any]
Pair = tuple[tuple[str, Any], tuple[str, Any]]


@cache
def clashes() -> frozenset[Pair]:
    """Every two values that cannot be played together, both ways round."""
    found = set()
    for option, values, other, others, _ in CLASHES:
        for one in values:
            for two in others:
                found |= {((option, one), (other, two)), ((other, two), (option, one))}
    return frozenset(found)


def goes_with(option: str, value: Any, choice: Choice) -> bool:
    return not any(((option, value), chosen) in clashes() for chosen in choice.items())


# --- From a choice to a table ----------------------------------------------------------------------------------------


def deck_of(choice: Choice) -> Deck:
    name, players = choice["deck"], choice["players"]
    cards, card_set = DECKS.get(name) or (DEALT_OUT[name][: 3 * players], "oh sh" if "jokers" in name else "standard")
    return Deck.of(cards, name, card_set)


def ramp_of(choice: Choice, most: int) -> Any:
    """Hands that the deck reaches: larger ones are cut down."""
    ramp = choice["ramp"]
    if ramp in NAMED_RAMPS:
        return ramp
    if ramp == "corners":
        return f"{min(most, 4)}..1..{min(most, 2)}"
    entries = [str(entry).partition(" ") for entry in SPECIAL_RAMPS[ramp]]
    sizes = [(min(int(size), most), words) for size, _, words in entries]
    return tuple(f"{size} {words}" if words else size for size, words in sizes)


def table_of(choice: Choice) -> Rules:
    """The table that somebody chose, with two given decks where they wanted `deals`."""
    deck, players = deck_of(choice), choice["players"]
    rng = random.Random(repr(sorted(choice.items(), key=str)))
    names = [card_name(card, deck.card_set) for card in deck.cards]
    plain = ("hook", "bids", "trump", "attempts", "full_deal", "lead_trump", "must_trump", "duplicates")
    return Rules(
        players=players,
        ramp=ramp_of(choice, len(deck) // players),
        deck=deck,
        cap=choice["cap"],
        scoring=of_its_own if choice["scoring"] == "of its own" else choice["scoring"],
        first_dealer=players - 1 if choice["first_dealer"] == "last seat" else choice["first_dealer"],
        own_cards=choice["own_cards"],
        hands_shown=choice["hands_shown"],
        sort_hands=choice["sort_hands"],
        lowest_wins=choice["lowest_wins"],
        deals=tuple(rng.sample(names, len(names)) for _ in range(choice["deals"])),  # type: ignore[misc]
        **{option: choice[option] for option in plain},
        **WAYS[choice["way"]],
    )


# --- Every value, and every two that go together ---------------------------------------------------------------------


@cache
def pairs_that_go_together() -> frozenset[Pair]:
    pairs = set()
    for (one, values), (two, others) in combinations(OPTIONS.items(), 2):
        pairs |= {((one, a), (two, b)) for a in values for b in others}
    return frozenset(pairs - clashes())


def pairs_in(choice: Choice) -> set[Pair]:
    return set(combinations(((option, choice[option]) for option in OPTIONS), 2))


def _complete(start: Choice, missing: set[Pair], rng: random.Random) -> Choice | None:
    """A whole choice from the values fixed so far: each next option takes what covers most pairs that are missing."""
    choice = dict(start)
    for option in rng.sample(sorted(OPTIONS), len(OPTIONS)):
        if option in choice:
            continue
        best: tuple[float, Any] | None = None
        for value in OPTIONS[option]:
            if goes_with(option, value, choice):
                new = (
                    0
                    if not missing
                    else sum(
                        ((option, value), chosen) in missing or (chosen, (option, value)) in missing
                        for chosen in choice.items()
                    )
                )
                best = max(best or (-1.0, None), (new + rng.random(), value), key=lambda scored: scored[0])
        if best is None:
            return None
        choice[option] = best[1]
    return {option: choice[option] for option in OPTIONS}


@cache
def choices() -> tuple[Choice, ...]:
    """At least 300 whole choices in a fixed order; greedy, so that the first ones cover most."""
    rng = random.Random(5)
    missing = set(pairs_that_go_together())
    in_turn = sorted(missing, key=repr)
    rng.shuffle(in_turn)
    made: list[Choice] = []
    while missing or len(made) < LEAST_TABLES:
        pair = next((pair for pair in in_turn if pair in missing), ())
        choice = None
        while choice is None:  # a few beginnings cannot be completed
            choice = _complete(dict(pair), missing, rng)
        missing -= pairs_in(choice)
        made.append(choice)
    # The scorings that are left take the place of one that needs nothing of its table.
    exact = [choice for choice in made if choice["scoring"] == "exact"]
    again = [dict(choice, scoring=scoring) for choice, scoring in zip(exact, OTHER_SCORINGS, strict=False)]
    return (*made, *again)


@cache
def variants() -> tuple[Rules, ...]:
    """The tables of `choices`."""
    return tuple(table_of(choice) for choice in choices())


# --- Tables at which what is rare elsewhere happens often -------------------------------------------------------------

FEW_JOKERS = Deck.of("*S *1 *L AC AC KD 2H SH", "few jokers", "oh sh")
RARE = (
    Rules(players=2, ramp=(1, 2, 1, 1, 1), bids="together", hook=False, knocking=True),
    Rules(players=2, ramp=(3, 2), deck=Deck.of("AC AC KD KD QH QH"), duplicates="ante", bids="open"),
    Rules(players=2, ramp=(1, 2), bids="open", hook=False, cooperative=True, attempts=2),
    Rules(players=2, ramp="drawn", cap=2, trump="drawn", bids="open", hook=False, cooperative=True, attempts=4),
    Rules(players=2, ramp=(1, 2, "2 golden", "3 no trump"), deck=FEW_JOKERS, bids="open"),
    Rules(players=2, ramp=(4, 2), deck=FEW_JOKERS, full_deal="last", must_trump=True, duplicates="exception"),
    Rules(players=2, ramp=(2, 3), deck=FEW_JOKERS, trump="cut", own_cards="hidden", lead_trump="broken"),
    Rules(players=3, ramp=(4, 5), nil_round=True, trump="named"),
    Rules(players=2, ramp=(3,), blind_bids=True, scoring="negative"),
    Rules(players=2, ramp=(3, 2), deck=FEW_JOKERS, blind_bids=True),
    Rules(players=2, ramp=("3 blind", "1 blind"), deck=FEW_JOKERS, full_deal="cut", own_cards="forehead"),
    Rules(players=2, ramp=("4 blind",), deck=FEW_JOKERS, full_deal="last", own_cards="hidden", nil_round=True),
)


# --- Presets ---------------------------------------------------------------------------------------------------------

# The most players that the hands of a preset leave cards for; all go down to two.
MOST_PLAYERS = dict.fromkeys(PRESETS, 10) | {
    "seven_down": 7,
    "hassenpfeffer": 7,
    "seven_up_seven_down": 7,
    "trickster": 5,
    "crazy_whist": 6,
}


def preset_tables() -> Iterator[tuple[str, Rules]]:
    """Every preset at every number of players that it allows, with a name."""
    for name, most in MOST_PLAYERS.items():
        for players in range(2, most + 1):
            yield f"{name}, {players} players", preset(name, players=players)


# --- To the referee --------------------------------------------------------------------------------------------------


def referee_for(rules: Rules, first_dealer: int) -> VariantReferee:
    """The slow referee of a table, told in plain data; `first_dealer` as it was drawn, where it is."""
    scoring: Any = rules.scoring
    if not isinstance(scoring, str):
        letters = {"C": 0, "D": 1, "H": 2, "S": 3, None: 4}
        function = scoring

        def scoring(bid: int, taken: int, size: int, players: int, trump: str | None) -> float:
            return float(function(bid, taken, size, players, letters[trump]))

    options = ("ramp", "hook", "bids", "trump", "cap", "knocking", "cooperative", "attempts", "nil_round", "blind_bids")
    options += (
        "full_deal",
        "lead_trump",
        "must_trump",
        "duplicates",
        "own_cards",
        "hands_shown",
        "sort_hands",
        "lowest_wins",
    )
    return VariantReferee(
        players=rules.players,
        scoring=scoring,
        deck=[card_name(card, rules.deck.card_set) for card in rules.deck.cards],
        card_set=rules.deck.card_set.name,
        first_dealer=first_dealer if rules.first_dealer == "random" else int(rules.first_dealer),
        **{option: getattr(rules, option) for option in options},
    )
