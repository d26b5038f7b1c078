"""Cards and decks: their numbers, their names, and the parsing of both.

The bit order of the whole project is declared here once: card ``c`` is bit ``c`` of a hand, and
``c = 13 * suit + rank`` with suits clubs 0, diamonds 1, hearts 2, spades 3 and ranks 2..A as 0..12.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

SUITS = "CDHS"
RANKS = "23456789TJQKA"
SUIT_SYMBOLS = "♣♦♥♠"
SUIT_NAMES = ("clubs", "diamonds", "hearts", "spades")
NUM_SUITS = len(SUITS)
NUM_RANKS = len(RANKS)
NUM_CARDS = NUM_SUITS * NUM_RANKS

_SUIT_OF_SYMBOL = {symbol: suit for suit, symbol in enumerate(SUIT_SYMBOLS)}


def card_id(suit: int, rank: int) -> int:
    """The card (0..51) of a suit (0..3) and a rank (0..12)."""
    return NUM_RANKS * suit + rank


def suit_of(card: int) -> int:
    """Suit 0..3 of a card 0..51."""
    return card // NUM_RANKS


def rank_of(card: int) -> int:
    """Rank 0..12 (deuce..ace) of a card 0..51."""
    return card % NUM_RANKS


def card_name(card: int) -> str:
    """Rank then suit, for example ``"TD"`` for the ten of diamonds.

    Raises:
        ValueError: if ``card`` is not in 0..51.
    """
    if not 0 <= card < NUM_CARDS:
        raise ValueError(f"card {card!r} is not a card number; cards are 0..{NUM_CARDS - 1}")
    return RANKS[rank_of(card)] + SUITS[suit_of(card)]


def card_symbol(card: int) -> str:
    """As `card_name`, with the suit's symbol: ``"T♦"``."""
    return RANKS[rank_of(card)] + SUIT_SYMBOLS[suit_of(card)]


def parse_card(text: str) -> int:
    """The card that a text names: ``"TD"``, ``"10d"`` and ``"T♦"`` are all the ten of diamonds.

    Raises:
        ValueError: if the text names no card of a 52-card pack.
    """
    name = text.strip().upper()
    rank, suit = name[:-1].replace("10", "T"), name[-1:]
    suit_number = _SUIT_OF_SYMBOL.get(suit, SUITS.find(suit) if suit else -1)
    if len(rank) != 1 or rank not in RANKS or suit_number < 0:
        raise ValueError(
            f"{text!r} is not a card; a card is a rank ({RANKS}) followed by a suit ({SUITS}), for example 'TD'"
        )
    return card_id(suit_number, RANKS.index(rank))


def parse_cards(cards: str | Iterable[str | int]) -> list[int]:
    """Card numbers from a text (``"2C TD AS"``) or from any mixture of names and numbers.

    Raises:
        ValueError: naming the first entry that is no card.
    """
    if not isinstance(cards, Iterable):
        raise ValueError(f"{cards!r} is no list of cards; give names as in '2C TD AS', or a list of names or numbers")
    return [_parse_entry(entry) for entry in (cards.split() if isinstance(cards, str) else cards)]


def _parse_entry(entry: str | int) -> int:
    if isinstance(entry, str):
        return parse_card(entry)
    try:
        number = operator.index(entry)
    except TypeError:
        number = -1
    if isinstance(entry, bool) or not 0 <= number < NUM_CARDS:
        raise ValueError(f"card {entry!r} is not a card number; cards are 0..{NUM_CARDS - 1}")
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


@dataclass(frozen=True)
class Deck:
    """The pack that a table plays with.

    Attributes:
        name: what players call it.
        cards: the card numbers in it, ascending, each once.

    Raises:
        ValueError: if the deck is empty, repeats a card, or holds something that is no card.
    """

    name: str
    cards: tuple[int, ...]

    def __post_init__(self) -> None:
        cards = tuple(sorted(parse_cards(self.cards)))
        if not cards:
            raise ValueError(f"deck {self.name!r} is empty; a deck needs at least one card")
        if len(set(cards)) < len(cards):
            twice = next(card for card in cards if cards.count(card) > 1)
            raise ValueError(f"deck {self.name!r} holds {card_name(twice)} more than once; each card stands once")
        object.__setattr__(self, "cards", cards)

    def __len__(self) -> int:
        return len(self.cards)

    @classmethod
    def of(cls, cards: str | Iterable[str | int], name: str | None = None) -> Deck:
        """A deck of the cards named, for example ``Deck.of("AC KC AD KD AH KH")``."""
        numbers = tuple(parse_cards(cards))
        return cls(name or f"{len(numbers)} cards", numbers)


STANDARD_DECK = Deck("standard 52", tuple(range(NUM_CARDS)))
