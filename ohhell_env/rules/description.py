"""A table's rules in plain English."""

from __future__ import annotations

from collections.abc import Iterator

from ohhell_env.rules.cards import JOKERS, SUIT_NAMES
from ohhell_env.rules.ramps import (
    BLIND_HAND,
    DRAWN,
    GOLDEN_HAND,
    MISER_HAND,
    NO_TRUMP_HAND,
    RANDOM,
    entry_of,
    ramp_text,
)
from ohhell_env.rules.rules import Rules
from ohhell_env.rules.scoring import TabulatedScoring, resolve

_FULL_DEAL = {
    "none": "when the deal uses the whole deck there is no trump",
    "last": "when the deal uses the whole deck the dealer's last card is shown and makes trump",
    "cut": "when the deal uses the whole deck a card cut before the deal makes trump",
}
_BIDS = {
    "sealed": "bids stay sealed until all are in.",
    "open": "every bid is seen as it is made.",
}
_LEAD_TRUMP = {
    "any": "",
    "broken": "Trump may not be led until one has been played to another suit, unless a hand holds nothing else. ",
    "not first": "Trump may not be led to the first trick, unless a hand holds nothing else. ",
}
_DUPLICATES = {
    "first": "Of two equal cards in a trick the first one played is higher.",
    "ante": "Two equal cards in a trick cancel each other; where no card is left to win, nobody takes the trick, the "
    "same player leads again, and the next trick counts for both.",
    "exception": "Two equal cards in a trick cancel each other; where no card is left to win, the first copy of the "
    "highest takes it.",
}
_OWN_CARDS = {
    "forehead": "In hands of one card everybody sees all cards but their own until the first is led.",
    "hidden": "Everybody sees all cards but their own, and plays them by position",
}


def describe(rules: Rules) -> str:
    """The rules of a table, a line for each part of the game."""
    return "\n".join(_lines(rules))


def _lines(rules: Rules) -> Iterator[str]:
    yield f"{rules.players} players, {_pack(rules)}, {_hands(rules)}."
    yield (
        "A seat drawn at random deals first"
        if rules.first_dealer == "random"
        else f"player_{rules.first_dealer} deals first"
    ) + "; the deal moves one seat to the left after every hand."
    yield from _hand_lines(rules)
    yield _trump(rules)
    yield from _bid_lines(rules)
    if rules.hands_shown:
        yield "All hands lie face up."
    if rules.own_cards in _OWN_CARDS:
        order = "in which neighbours have put the suits in order" if rules.sort_hands else "in the order dealt"
        yield _OWN_CARDS[rules.own_cards] + (f", {order}." if rules.own_cards == "hidden" else "")
    yield (
        "Left of the dealer leads. "
        + _LEAD_TRUMP[rules.lead_trump]
        + "Follow suit if you can"
        + ("; if you cannot, play trump if you can. " if rules.must_trump else ". ")
        + "The highest trump, else the highest card of the suit led, takes the trick and leads the next."
    )
    if rules.deck.pairs:
        yield _DUPLICATES[rules.duplicates]
    yield from _pack_lines(rules)
    yield f"Scoring: {_scoring(rules)}"
    yield f"The {'lowest' if rules.lowest else 'highest'} total wins; a tie is shared."
    if rules.deals:
        yield f"The first {len(rules.deals)} hands are dealt from given decks."


def _pack(rules: Rules) -> str:
    return rules.deck.name if rules.deck.name.endswith("cards") else f"{rules.deck.name} cards"


def _hands(rules: Rules) -> str:
    sizes = rules.hand_sizes
    if rules.ramp == RANDOM:
        return f"{rules.num_hands} hands of 1 to {rules.peak} cards each, every size once, in random order"
    if rules.ramp == DRAWN:
        return f"{rules.num_hands} hands, each of 1 to {rules.peak} cards as a card drawn from a second deck says"
    cards = "card" if set(sizes) == {1} else "cards"
    entries = tuple(map(entry_of, rules.ramp_hands))
    hands = f"one hand of {entries[0]}" if len(sizes) == 1 else f"{len(sizes)} hands of {ramp_text(entries)}"
    return f"{hands} {cards} each"


def _hand_lines(rules: Rules) -> Iterator[str]:
    specials = 0
    for hand in rules.ramp_hands:
        specials |= hand.special
    if specials & NO_TRUMP_HAND:
        yield "A hand marked no trump has none."
    if specials & BLIND_HAND:
        yield "In a blind hand everybody bids before looking at their cards."
    if specials & GOLDEN_HAND:
        points = "takes a point off" if rules.lowest else "is a point"
        yield f"In a golden hand nobody bids; each trick {points}."
    if specials & MISER_HAND:
        yield "In a miser hand nobody bids; the fewest tricks score as a zero bid made, more as one missed."


def _trump(rules: Rules) -> str:
    jokers = any(rules.deck.card_set.suit(card) == JOKERS for card in rules.deck.cards)
    by_card = rules.trump in ("turned", "cut")
    return _trump_made(rules) + (
        " Where that card is a joker the dealer names a suit, or no trump, before the bidding."
        if jokers and by_card
        else ""
    )


def _trump_made(rules: Rules) -> str:
    trump = rules.trump
    if trump == "turned":
        return f"The card after the deal is turned up and its suit is trump; {_FULL_DEAL[rules.full_deal]}."
    if trump == "none":
        return "There is no trump."
    if trump == "named":
        return "The highest bidder (the first, where bids are equal) names trump after the bidding."
    if trump == "cut":
        return "A card is turned up before the deal, makes trump, and is shuffled back in."
    if trump == DRAWN:
        return "The suit of the second deck's card is trump."
    if trump in SUIT_NAMES:
        return f"{str(trump).capitalize()} are always trump."
    return f"Trump goes by turns: {', '.join('no trump' if one == 'none' else one for one in trump)}."


def _bid_lines(rules: Rules) -> Iterator[str]:
    start = "Each player bids the exact number of tricks to take, "
    if rules.bids == "together":
        yield start + "all at once."
    else:
        yield start + "left of the dealer first, the dealer last; " + _BIDS[rules.bids]
    if rules.blind_bids:
        yield (
            "Before the cards are dealt each may bid blind, which gains twice and loses twice the points; moved by up "
            "to two after seeing the cards, such a bid gains one and a half times and loses three times the points. "
            "Only a bid that is made gains more."
        )
    if rules.nil_round:
        yield (
            "In hands of more tricks than players each first passes or bids zero, trump unseen; whoever passed then "
            "bids one or more."
        )
    if rules.knocking:
        yield (
            "When the bids add up to the number of tricks all bid again; from the fourth time on each must change "
            "their bid; the seventh bids stand."
        )
    elif rules.cooperative:
        lost = f"; after {rules.attempts} such deals of one hand the match is lost" if rules.attempts else ""
        yield (
            "The bids must add up to the number of tricks. Unless everybody makes their bid, nobody scores and the "
            f"next dealer deals the hand again{lost}."
        )
    elif rules.hook:
        who = "The last to bid" if rules.nil_round else "The dealer"
        yield f"{who} may not make the bids add up to the number of tricks."
    else:
        yield "The bids may add up to the number of tricks."


def _pack_lines(rules: Rules) -> Iterator[str]:
    card_set = rules.deck.card_set
    if card_set.name == "standard":
        return
    differ = card_set.order != card_set.order_without_trump
    yield f"Cards from high to low: {_order(rules, card_set.order)}{', with trump' if differ else ''}."
    if differ:
        yield f"Without trump: {_order(rules, card_set.order_without_trump)}."
    if any(card_set.suit(card) == JOKERS for card in rules.deck.cards):
        yield (
            "Jokers (*) belong to the trump suit. Without trump a joker may be played to any lead, and whoever leads "
            "one names the suit to follow."
        )


def _order(rules: Rules, order: str) -> str:
    """The ranks and jokers that the deck holds, from high to low; equal ones joined by ``=``."""
    held = {rules.deck.card_set.rank_name(card) for card in rules.deck.cards}
    ranks = ("=".join(rank for rank in ranks.split("=") if rank in held) for ranks in reversed(order.split()))
    return " ".join(rank for rank in ranks if rank)


def _scoring(rules: Rules) -> str:
    function = resolve(rules.scoring)
    if isinstance(function, TabulatedScoring):
        return "by a table of points."
    words = (function.__doc__ or "").strip().split("\n")[0].rstrip(".")
    name = getattr(function, "__name__", "<custom>")
    named = "a custom function" if name.startswith("<") else name
    return f"{named}. {words}." if words else f"{named}."
