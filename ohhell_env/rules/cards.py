"""Cards and decks: their numbers, their names, and the parsing of both.

The bit order of the whole project is declared here once: card ``c`` is bit ``c`` of a hand, and
``c = 13 * suit + rank`` with suits clubs 0, diamonds 1, hearts 2, spades 3 and ranks 2..A as 0..12. Sets with more
cards number theirs from 52 on (`CARD_SETS`).
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

SUITS = "CDHS"
RANKS = "23456789TJQKA"
SUIT_SYMBOLS = "♣♦♥♠"
SUIT_NAMES = ("clubs", "diamonds", "hearts", "spades")
NUM_SUITS = len(SUITS)
NUM_RANKS = len(RANKS)
NUM_CARDS = NUM_SUITS * NUM_RANKS
JOKERS = NUM_SUITS  # in place of a suit: a joker, where there is no trump suit that it could belong to

_SUIT_OF_SYMBOL = {symbol: suit for suit, symbol in enumerate(SUIT_SYMBOLS)}
_STANDARD_NAMES = tuple(rank + suit for suit in SUITS for rank in RANKS)


def card_id(suit: int, rank: int) -> int:
    """The card (0..51) of a suit (0..3) and a rank (0..12)."""
    return NUM_RANKS * suit + rank


def suit_of(card: int) -> int:
    """Suit 0..3 of a card 0..51."""
    return card // NUM_RANKS


def rank_of(card: int) -> int:
    """Rank 0..12 (deuce..ace) of a card 0..51."""
    return card % NUM_RANKS


@dataclass(frozen=True)
class CardSet:
    """The cards that a deck is made from: what they are called, and which beats which within a suit.

    Attributes:
        name: what the set is called.
        names: of each card, by number: rank then suit; a joker's begins with ``*`` and has no suit.
        order: ranks (and jokers) from the lowest to the highest in a hand with a trump suit.
        order_without_trump: the same without one. Ranks joined by ``=`` are equal: the first one played wins.
    """

    name: str
    names: tuple[str, ...]
    order: str
    order_without_trump: str

    def __len__(self) -> int:
        return len(self.names)

    def rank_name(self, card: int) -> str:
        """A card's rank, or a joker's whole name."""
        name = self.names[card]
        return name if name.startswith("*") else name[:-1]

    def suit(self, card: int) -> int:
        """Suit 0..3 of a card, or `JOKERS`."""
        name = self.names[card]
        return JOKERS if name.startswith("*") else SUITS.index(name[-1])

    def strength(self, card: int, trump: bool) -> int:
        """How high a card stands in its suit, in a hand with or without a trump suit."""
        order = self.order if trump else self.order_without_trump
        rank = self.rank_name(card)
        return next(place for place, ranks in enumerate(order.split()) if rank in ranks.split("="))

    def symbol(self, card: int) -> str:
        """As the name, with the suit's symbol: ``"T♦"``; jokers as ``"★"`` and a letter."""
        suit = self.suit(card)
        rank = self.rank_name(card)
        return rank.replace("*", "★") if suit == JOKERS else rank + SUIT_SYMBOLS[suit]

    @cached_property
    def _numbers(self) -> dict[str, int]:
        return {name: card for card, name in enumerate(self.names)}

    def parse(self, text: str) -> int:
        """The card that a text names: ``"TD"``, ``"10d"`` and ``"T♦"`` are all the ten of diamonds.

        Raises:
            ValueError: if the text names no card of the set.
        """
        name = text.strip().upper()
        suit = _SUIT_OF_SYMBOL.get(name[-1:])
        if suit is not None:
            name = name[:-1] + SUITS[suit]
        if name[:2] == "10":
            name = "T" + name[2:]
        if name.startswith("★"):
            name = "*" + name[1:]
        card = self._numbers.get(name)
        if card is None:
            ranks = RANKS if len(self) == NUM_CARDS else "one of " + " ".join(self.order.replace("=", " ").split())
            raise ValueError(
                f"{text!r} is not a card; a card is a rank ({ranks}) followed by a suit ({SUITS}), for example 'TD'"
            )
        return card


def _suited(*ranks: str, suits: str = SUITS) -> tuple[str, ...]:
    return tuple(rank + suit for rank in ranks for suit in suits)


_LOW_TO_HIGH = " ".join(RANKS)
STANDARD = CardSet("standard", _STANDARD_NAMES, _LOW_TO_HIGH, _LOW_TO_HIGH)
# In Spain the three ranks second, as in tute and brisca.
_ACE_THREE = "2 4 5 6 7 8 9 T J Q K 3 A"
SPANISH = CardSet("spanish", _STANDARD_NAMES, _ACE_THREE, _ACE_THREE)
# Six-handed 500: elevens and twelves in each suit, red thirteens, a joker, which is the highest trump.
_FIVE_HUNDRED = "2 3 4 5 6 7 8 9 T 11 12 13 J Q K A *"
FIVE_HUNDRED = CardSet(
    "five hundred",
    _STANDARD_NAMES + _suited("11", "12") + _suited("13", suits="DH") + ("*",),
    _FIVE_HUNDRED,
    _FIVE_HUNDRED,
)
# "Oh Sh--!" (encyclopedia): super twos S, twos, then super, hi 1, hi 2 and low joker above the ace; last without trump.
OH_SH = CardSet(
    "oh sh",
    _STANDARD_NAMES + ("*S", "*1", "*2", "*L") + _suited("S"),
    "3 4 5 6 7 8 9 T J Q K A *L *2 *1 *S 2 S",
    "*S=*1=*2=*L 2=S 3 4 5 6 7 8 9 T J Q K A",
)
CARD_SETS = {card_set.name: card_set for card_set in (STANDARD, SPANISH, FIVE_HUNDRED, OH_SH)}


def card_name(card: int, card_set: CardSet = STANDARD) -> str:
    """Rank then suit, for example ``"TD"`` for the ten of diamonds.

    Raises:
        ValueError: if ``card`` is not a number of the set, 0..51 in the standard one.
    """
    if not 0 <= card < len(card_set):
        raise ValueError(f"card {card!r} is not a card number; cards are 0..{len(card_set) - 1}")
    return card_set.names[card]


def card_symbol(card: int, card_set: CardSet = STANDARD) -> str:
    """As `card_name`, with the suit's symbol: ``"T♦"``."""
    return card_set.symbol(card)


def parse_card(text: str, card_set: CardSet = STANDARD) -> int:
    """The card that a text names: ``"TD"``, ``"10d"`` and ``"T♦"`` are all the ten of diamonds.

    Raises:
        ValueError: if the text names no card of the set.
    """
    return card_set.parse(text)


def parse_cards(cards: str | Iterable[str | int], card_set: CardSet = STANDARD) -> list[int]:
    """Card numbers from a text (``"2C TD AS"``) or from any mixture of names and numbers.

    Raises:
        ValueError: naming the first entry that is not a card.
    """
    if not isinstance(cards, Iterable):
        raise ValueError(
            f"{cards!r} is not a list of cards; give names as in '2C TD AS', or a list of names or numbers"
        )
    return [_parse_entry(entry, card_set) for entry in (cards.split() if isinstance(cards, str) else cards)]


def _parse_entry(entry: str | int, card_set: CardSet) -> int:
    if isinstance(entry, str):
        return card_set.parse(entry)
    try:
        number = operator.index(entry)
    except TypeError:
        number = -1
    if isinstance(entry, bool) or not 0 <= number < len(card_set):
        raise ValueError(f"card {entry!r} is not a card number; cards are 0..{len(card_set) - 1}")
    return number


def cards_of(mask: int) -> Iterator[int]:
    """The cards of a bit mask, lowest first."""
    rest = int(mask)
    while rest:
        lowest = rest & -rest
        yield lowest.bit_length() - 1
        rest ^= lowest


def mask_of(cards: Iterable[int]) -> int:
    """The bit mask of some cards."""
    mask = 0
    for card in cards:
        mask |= 1 << card
    return mask


def _card_set(name: CardSet | str) -> CardSet:
    """A card set by its name in `CARD_SETS`."""
    card_set = name if isinstance(name, CardSet) else CARD_SETS.get(str(name))
    if card_set is None:
        raise ValueError(f"card_set={name!r} is not known; use one of {', '.join(map(repr, CARD_SETS))}")
    return card_set


@dataclass(frozen=True)
class Deck:
    """The cards that a table plays with.

    Attributes:
        name: what players call it.
        cards: the card numbers in it, ascending, each once or twice.
        card_set: what names and ranks the cards; a name in `CARD_SETS` is accepted too.

    Raises:
        ValueError: if the deck is empty, holds a card more than twice, or holds something that is not a card.
    """

    name: str
    cards: tuple[int, ...]
    card_set: CardSet = STANDARD

    def __post_init__(self) -> None:
        object.__setattr__(self, "card_set", _card_set(self.card_set))
        cards = tuple(sorted(parse_cards(self.cards, self.card_set)))
        if not cards:
            raise ValueError(f"deck {self.name!r} is empty; a deck needs at least one card")
        for card in set(cards):
            if cards.count(card) > 2:
                name = card_name(card, self.card_set)
                raise ValueError(
                    f"deck {self.name!r} holds {name} {cards.count(card)} times; a deck may hold a card at most twice"
                )
        object.__setattr__(self, "cards", cards)

    def __len__(self) -> int:
        return len(self.cards)

    @property
    def pairs(self) -> tuple[int, ...]:
        """The cards that it holds twice, ascending."""
        return tuple(card for card in sorted(set(self.cards)) if self.cards.count(card) == 2)

    @classmethod
    def of(cls, cards: str | Iterable[str | int], name: str | None = None, card_set: CardSet | str = STANDARD) -> Deck:
        """A deck of the cards named, for example ``Deck.of("AC KC AD KD AH KH")``."""
        card_set = _card_set(card_set)
        numbers = tuple(parse_cards(cards, card_set))
        return cls(name or f"{len(numbers)} cards", numbers, card_set)


STANDARD_DECK = Deck("standard 52", tuple(range(NUM_CARDS)))
DOUBLE_DECK = Deck("double deck, 104", STANDARD_DECK.cards * 2)
SPANISH_DECK = Deck("Spanish 40", tuple(c for c in range(NUM_CARDS) if RANKS[rank_of(c)] not in "89T"), SPANISH)
FIVE_HUNDRED_DECK = Deck("six-handed 500, 63", tuple(range(len(FIVE_HUNDRED))), FIVE_HUNDRED)
OH_SH_DECK = Deck(
    "Oh Sh--!, 64", (*range(len(OH_SH)), *(card_id(suit, NUM_RANKS - 1) for suit in range(NUM_SUITS))), OH_SH
)
DECKS = {
    "standard": STANDARD_DECK,
    "double deck": DOUBLE_DECK,
    "spanish": SPANISH_DECK,
    "five hundred": FIVE_HUNDRED_DECK,
    "oh sh": OH_SH_DECK,
}
