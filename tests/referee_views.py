"""What each seat knows at a table of `referee_variants`: cards seen and not placed, bids as heard, trump once shown."""

from __future__ import annotations

from collections import Counter

from referee_variants import BEFORE_TRUMP, VariantReferee


def asked_before_bids(game: VariantReferee) -> bool:
    """Whether bids are still to come in this hand."""
    return game.phase in BEFORE_TRUMP or (game.phase == "name trump" and game.dealer_names)


# --- Trump -----------------------------------------------------------------------------------------------------------


def card_shown(game: VariantReferee) -> str | None:
    """The card that makes trump, once it is shown. encyclopedia: it is left face down in the nil round."""
    return None if game.phase in BEFORE_TRUMP and not game.tricks else game.top


def trump_known(game: VariantReferee) -> bool:
    """Whether everybody knows by now what is trump, or that nothing is."""
    plain = "no trump" not in game.special
    by_card = plain and game.top is not None and game.phase in BEFORE_TRUMP
    by_bid = plain and not game.bidless and game.trump == "named" and (asked_before_bids(game) or game.phase == "bid")
    return game.phase != "name trump" and not by_card and not by_bid


# --- Cards -----------------------------------------------------------------------------------------------------------


def sees(game: VariantReferee, viewer: int, seat: int) -> bool:
    """Whether `viewer` sees the cards in the hand of `seat`."""
    if game.phase == "blind":
        return False  # encyclopedia: before the cards are dealt
    if "blind" in game.special and (asked_before_bids(game) or game.phase == "bid"):
        return False  # encyclopedia: before the player is allowed to look at the cards
    if game.hands_shown:
        return True  # online: all players' hands face up
    if game.own_cards == "hidden":
        return viewer != seat  # encyclopedia, Penguin Whist: the whole game in this manner
    if game.own_cards == "forehead" and game.size == 1:
        # encyclopedia, seven-down: the card on the forehead, which all others see; Rules: until the first is led
        return viewer != seat or any(game.played)
    return viewer == seat


def seen_hands(game: VariantReferee, viewer: int) -> list[Counter[str] | None]:
    """The cards in each hand, with copies; None where `viewer` does not see them."""
    hands = [Counter(card for card in hand if card is not None) for hand in game.cards]
    return [hand if sees(game, viewer, seat) else None for seat, hand in enumerate(hands)]


def unplaced(game: VariantReferee, viewer: int) -> Counter[str]:
    """The cards, with copies, of which `viewer` does not know where they are."""
    unknown = Counter(game.deck)
    for cards in game.played:
        unknown.subtract(cards)
    for hand in seen_hands(game, viewer):
        unknown.subtract(hand or ())
    shown = card_shown(game)
    if shown is not None and _lies_shown(game, viewer, shown):
        unknown[shown] -= 1
    return +unknown


def _lies_shown(game: VariantReferee, viewer: int, shown: str) -> bool:
    """Whether the card that makes trump lies where all have seen it, neither played nor in a hand that is seen."""
    if game.top_in_stock:
        return True  # base: it stays in the middle of the table
    if not game.top_in_hand or sees(game, viewer, game.dealer):
        return False  # a card that was cut may be anywhere
    return shown not in game.played[game.dealer]  # encyclopedia: it entered the dealer's hand


# --- Bids ------------------------------------------------------------------------------------------------------------


def bids_shown(game: VariantReferee) -> bool:
    """Whether a bid is known to all as it is made, or all bids are by now."""
    return game.bid_style == "open" or not (asked_before_bids(game) or game.phase == "bid")


def bid_seen(game: VariantReferee, viewer: int, seat: int) -> int | str | None:
    """The bid of `seat`: a number, 'hidden' (made, but sealed), or None. Encyclopedia: all hear a nil."""
    bid = game.bids[seat]
    return bid if bid is None or seat == viewer or game.nil[seat] == 0 or bids_shown(game) else "hidden"


def blind_seen(game: VariantReferee, viewer: int, seat: int) -> int | str | None:
    """The blind bid of `seat`: as a bid, or 'pass', which all hear."""
    blind = game.blind[seat]
    return blind if not isinstance(blind, int) or seat == viewer or bids_shown(game) else "hidden"


def bids_before(game: VariantReferee) -> list[int] | None:
    """The bids last shown that fitted the hand, where all bid again."""
    return list(game.knocks[-1]) if game.knocks else None
