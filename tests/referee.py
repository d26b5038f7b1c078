"""The slow referee: Oh Hell! written down from the texts in plain Python, to check the fast engine move by move.

It knows nothing of the package it checks: cards are names ('2C', 'TD', 'AS'), hands are sets, tricks are lists, and it
never shuffles. A comment "base:" restates a sentence of the base rules (docs/sources.md), "rules.md:" one of the page
that settles what they leave open. The sections below follow the headings of the base rules; each method answers one
question about the game, so that a variant can later give another answer to that question only.
"""

import operator
from collections.abc import Callable, Iterable, Sequence
from typing import Any

SUITS = "CDHS"
RANKS = "23456789TJQKA"  # base: aces are high
FULL_DECK = [rank + suit for suit in SUITS for rank in RANKS]  # base: one standard deck of 52

Score = Callable[[int, int, int], float]  # (bid, taken, hand size) -> points


class IllegalMove(Exception):
    """The rules do not allow this now; the message says what and why. The game is as it was before."""


def suit_of(card: str) -> str:
    """The letter of the card's suit."""
    return card[-1]


def rank_of(card: str) -> int:
    """How high the card stands in its suit, 0 for the deuce."""
    return RANKS.index(card[:-1])


def default_ramp(players: int, deck_size: int = len(FULL_DECK)) -> list[int]:
    """base: the longest hand is floor(52 / players); shrink by one to a single card, then grow back to it."""
    longest = deck_size // players
    down = list(range(longest, 0, -1))
    up = list(range(2, longest + 1))  # rules.md: the single card hand comes once
    return down + up


def exact_score(bid: int, taken: int, hand_size: int) -> int:
    """base: make it exactly, 10 points plus 1 for each trick bid; miss it, over or under, 0."""
    return 10 + bid if taken == bid else 0


def trick_winner(trick: Sequence[tuple[int, str]], trump_suit: str | None) -> int:
    """base: the highest trump in it wins; if it contains no trump, the highest card of the led suit."""
    led = suit_of(trick[0][1])
    trumps = [(rank_of(card), seat) for seat, card in trick if suit_of(card) == trump_suit]
    followers = [(rank_of(card), seat) for seat, card in trick if suit_of(card) == led]
    _, winner = max(trumps or followers)
    return winner


class Referee:
    """One match. `deal` a hand, then `act` for the seat in `turn` until `phase` is 'deal' again, or 'over'."""

    def __init__(
        self,
        players: int = 4,
        ramp: Iterable[int] | None = None,
        hook: bool = True,
        sealed: bool = True,
        trump: str = "turned",  # 'turned': the next stock card, if there is one; 'none': nothing is turned
        score: Score | None = None,
        deck: Iterable[str] | None = None,
        first_dealer: int = 0,
    ) -> None:
        self.players = players
        self.deck = list(FULL_DECK if deck is None else deck)
        self.ramp = default_ramp(players, len(self.deck)) if ramp is None else list(ramp)
        self.hook = hook
        self.sealed = sealed
        self.trump = trump
        self.score: Score = exact_score if score is None else score
        self._check_table(first_dealer)

        self.phase = "deal"  # 'deal' (waiting for the cards) | 'bid' | 'play' | 'over'
        self.turn: int | None = None  # the seat to act; nobody between hands
        self.dealer = first_dealer  # base: seat 1 deals the first hand (rules.md: that is player_0)
        self.hands_dealt = 0
        self.scores: list[float] = [0] * players
        self._clear_table()

    def _check_table(self, first_dealer: int) -> None:
        if not 3 <= self.players <= 7:
            raise ValueError(f"players is {self.players}; the game is for 3 to 7")
        if not set(self.deck) <= set(FULL_DECK) or len(set(self.deck)) != len(self.deck):
            raise ValueError("the deck must be different cards of the 52")
        if not self.ramp:
            raise ValueError("the ramp has no hands")
        for size in self.ramp:
            if size < 1 or size * self.players > len(self.deck):
                raise ValueError(f"{self.players} hands of {size} cards cannot be dealt from {len(self.deck)} cards")
        if self.trump not in ("turned", "none"):
            raise ValueError(f"trump is {self.trump!r}; it must be 'turned' or 'none'")
        if not 0 <= first_dealer < self.players:
            raise ValueError(f"first_dealer is {first_dealer}; seats are 0 to {self.players - 1}")

    def _clear_table(self) -> None:
        """Everything that belongs to one hand, as it is before the cards are dealt."""
        self.hands: list[set[str]] = [set() for _ in range(self.players)]
        self.turned: str | None = None
        self.trump_suit: str | None = None
        self.bids: list[int | None] = [None] * self.players
        self.taken = [0] * self.players
        self.leader: int | None = None  # who leads, or led, the current trick; nobody outside the play
        self.trick: list[tuple[int, str]] = []  # the current trick in the order played
        self.tricks: list[list[tuple[int, str]]] = []  # the finished tricks of this hand
        self.trick_winners: list[int] = []
        self.played: list[set[str]] = [set() for _ in range(self.players)]
        self.voids: list[set[str]] = [set() for _ in range(self.players)]  # suits a seat failed to follow
        self.last_points: list[float] | None = None

    def left_of(self, seat: int) -> int:
        """rules.md: "to the left" is seat + 1, round the table."""
        return (seat + 1) % self.players

    # --- The ramp ------------------------------------------------------------------------------------------------

    @property
    def hand_number(self) -> int:
        """0-based: the hand on the table, which a finished hand is until the next deal (0 before the first deal)."""
        return max(self.hands_dealt - 1, 0)

    @property
    def hand_size(self) -> int:
        """How many cards each seat gets in the hand of `hand_number`."""
        return self.ramp[self.hand_number]

    @property
    def next_hand_size(self) -> int | None:
        """How many cards each seat gets at the next deal, None when no hand is left to deal."""
        return self.ramp[self.hands_dealt] if self.hands_dealt < len(self.ramp) else None

    # --- Deal and trump ------------------------------------------------------------------------------------------

    def deal(self, order: Sequence[str]) -> None:
        """Start the next hand from `order`: the deck from its top, or as much of it as is dealt and turned."""
        size = self.next_hand_size
        if self.phase != "deal" or size is None:
            raise IllegalMove(f"no deal now: the phase is {self.phase!r}")
        dealt = size * self.players
        # base: when any card remains after the deal, the top card of the stock is turned face up
        turn_up = self.trump == "turned" and len(self.deck) > dealt
        self._check_order(order, dealt + turn_up)

        self._clear_table()
        self.hands_dealt += 1
        # base: one card at a time until every seat has that hand's count (rules.md: left of the dealer first)
        seat = self.left_of(self.dealer)
        for card in order[:dealt]:
            self.hands[seat].add(card)
            seat = self.left_of(seat)
        # base: the turned card's suit is trump and it stays out of play; with nothing turned there is no trump
        if turn_up:
            self.turned = order[dealt]
            self.trump_suit = suit_of(self.turned)
        # base: the player to the dealer's left bids first
        self.phase = "bid"
        self.turn = self.left_of(self.dealer)

    def _check_order(self, order: Sequence[str], needed: int) -> None:
        if len(order) < needed:
            raise ValueError(f"this deal needs {needed} cards, not {len(order)}")
        if len(set(order)) != len(order):
            raise ValueError("the same card comes twice in the deal")
        strangers = set(order) - set(self.deck)
        if strangers:
            raise ValueError(f"not in this deck: {sorted(strangers)}")

    # --- Moves ---------------------------------------------------------------------------------------------------

    def legal(self) -> set[int] | set[str]:
        """What the seat in turn may do: bids while bidding, cards while playing, nothing between hands."""
        if self.phase == "bid":
            return self._legal_bids()
        if self.phase == "play":
            return self._legal_cards()
        return set()

    def act(self, move: Any) -> None:
        """The seat in turn bids `move` (a whole number) or plays `move` (a card)."""
        if self.phase == "bid":
            self._bid(move)
        elif self.phase == "play":
            self._play(move)
        else:
            raise IllegalMove(f"nobody can move: the phase is {self.phase!r}")

    # --- Bidding -------------------------------------------------------------------------------------------------

    def forbidden_bid(self) -> int | None:
        """The number the hook takes from the seat now bidding, None when every number is open to it."""
        # base: only the dealer is hooked, and bids last, so the other bids are all there
        if not self.hook or self.phase != "bid" or self.turn != self.dealer:
            return None
        # base: not the one number that makes the bids add up to the number of tricks in the hand
        hooked = self.hand_size - sum(bid for bid in self.bids if bid is not None)
        # base: when the other bids already sum to more than the hand, every number is open
        return hooked if 0 <= hooked <= self.hand_size else None

    def _legal_bids(self) -> set[int]:
        # base: each bid is a whole number from 0 through the number of cards in the hand
        hooked = self.forbidden_bid()
        return {bid for bid in range(self.hand_size + 1) if bid != hooked}

    def _bid(self, move: Any) -> None:
        seat = self.turn
        assert seat is not None
        bid = _whole_number(move)
        if bid is None:
            raise IllegalMove(f"seat {seat} is to bid, and {move!r} is not a whole number")
        if bid not in self._legal_bids():
            why = f"bids are 0 to {self.hand_size}"
            if bid == self.forbidden_bid():
                why = f"the bids would add up to {self.hand_size}, and the dealer is hooked"
            raise IllegalMove(f"seat {seat} may not bid {bid}: {why}")
        self.bids[seat] = bid
        if seat != self.dealer:
            self.turn = self.left_of(seat)  # base: bidding continues clockwise, and the dealer bids last
        else:
            self.phase = "play"
            self.leader = self.turn = self.left_of(self.dealer)  # base: the dealer's left leads the first trick

    # --- Play ----------------------------------------------------------------------------------------------------

    def led_suit(self) -> str | None:
        """The suit to be followed, None while nothing has been led."""
        return suit_of(self.trick[0][1]) if self.trick else None

    def winning_seat(self) -> int | None:
        """Who would take the trick as it lies."""
        return trick_winner(self.trick, self.trump_suit) if self.trick else None

    def _legal_cards(self) -> set[str]:
        assert self.turn is not None
        hand = self.hands[self.turn]
        led = self.led_suit()
        # base: any card may lead; the others follow suit if they can; with none of the led suit anything may be played
        followers = {card for card in hand if suit_of(card) == led}
        return followers or set(hand)

    def _play(self, card: Any) -> None:
        seat = self.turn
        assert seat is not None
        if not isinstance(card, str) or card not in self.hands[seat]:
            raise IllegalMove(f"seat {seat} may not play {card!r}: it is not in its hand")
        led = self.led_suit()
        if card not in self._legal_cards():
            raise IllegalMove(f"seat {seat} may not play {card}: it holds {led}, the led suit")
        self.hands[seat].remove(card)
        self.trick.append((seat, card))
        self.played[seat].add(card)
        if led is not None and suit_of(card) != led:
            self.voids[seat].add(led)
        if len(self.trick) < self.players:
            self.turn = self.left_of(seat)
        else:
            self._finish_trick()

    def _finish_trick(self) -> None:
        winner = trick_winner(self.trick, self.trump_suit)
        self.taken[winner] += 1
        self.tricks.append(self.trick)
        self.trick_winners.append(winner)
        self.trick = []
        if len(self.tricks) < self.hand_size:
            self.leader = self.turn = winner  # base: the winner of a trick leads the next one
        else:
            self._finish_hand()

    # --- Scoring -------------------------------------------------------------------------------------------------

    def _finish_hand(self) -> None:
        # base: when the hand's last trick is taken, each player is scored on their bid
        self.last_points = []
        for seat, bid in enumerate(self.bids):
            assert bid is not None
            points = self.score(bid, self.taken[seat], self.hand_size)
            self.last_points.append(points)
            self.scores[seat] += points
        self.dealer = self.left_of(self.dealer)  # base: the deal passes to the left at the start of every later hand
        self.turn = self.leader = None
        self.phase = "deal" if self.hands_dealt < len(self.ramp) else "over"

    # --- End -----------------------------------------------------------------------------------------------------

    def win_shares(self) -> list[float]:
        """base: the highest total wins, and a tie on it is shared (rules.md: 1/k of the win for each of k seats)."""
        if self.phase != "over":
            raise IllegalMove("nobody has won: the match is not over")
        best = max(self.scores)
        on_top = self.scores.count(best)
        return [1 / on_top if total == best else 0.0 for total in self.scores]

    # --- What a seat knows ---------------------------------------------------------------------------------------

    def bids_shown(self) -> bool:
        """Whether a bid is known to everybody as soon as it is made, or all are by now."""
        # base: until everyone has bid each player sees only their own number; then the bids stay face up for the hand
        return not self.sealed or None not in self.bids

    def bid_seen_by(self, viewer: int, seat: int) -> int | str | None:
        """The bid of `seat` as `viewer` sees it: a number, 'hidden' (made, but sealed) or None (not yet made)."""
        # rules.md: of the others a seat sees whether they have bid
        bid = self.bids[seat]
        if bid is None or seat == viewer or self.bids_shown():
            return bid
        return "hidden"

    def bid_sum(self) -> int | None:
        """How far the bids made so far are above (+) or below (-) the tricks of the hand, if everybody may know."""
        if self.hands_dealt == 0 or not self.bids_shown():
            return None
        return sum(bid for bid in self.bids if bid is not None) - self.hand_size

    def unseen_by(self, viewer: int) -> set[str]:
        """The cards `viewer` cannot place: in another hand or in the stock."""
        return set(self.deck).difference(self.hands[viewer], {self.turned}, *self.played)

    def view(self, seat: int) -> dict[str, Any]:
        """Everything `seat` may know, in absolute seats; all of it copies."""
        if not 0 <= seat < self.players:
            raise ValueError(f"seat is {seat}; seats are 0 to {self.players - 1}")
        bids = [self.bid_seen_by(seat, other) for other in range(self.players)]
        need = [bid - taken if isinstance(bid, int) else None for bid, taken in zip(bids, self.taken, strict=True)]
        return {
            "hand": set(self.hands[seat]),
            "turned": self.turned,
            "trump": self.trump_suit,
            "bids": bids,
            "taken": list(self.taken),
            "need": need,
            "trick": list(self.trick),
            "leader": self.leader,
            "led_suit": self.led_suit(),
            "winning": self.winning_seat(),
            "voids": [set(suits) for suits in self.voids],
            "unseen": self.unseen_by(seat),
            "played": [set(cards) for cards in self.played],
            "bid_sum": self.bid_sum(),
            # rules.md: what the hook tells, it tells the dealer only
            "forbidden": self.forbidden_bid() if seat == self.dealer else None,
            "dealer": self.dealer,
            "hand_size": self.hand_size,
            "tricks_left": self.hand_size - len(self.tricks),
            "hands_left": len(self.ramp) - 1 - self.hand_number,
            "scores": list(self.scores),
            "turn": self.turn,
            "phase": self.phase,
        }

    def __repr__(self) -> str:
        return (
            f"<Referee hand {self.hand_number} of {self.hand_size} cards, {self.phase}, dealer {self.dealer}, "
            f"turn {self.turn}, trump {self.trump_suit}, bids {self.bids}, taken {self.taken}, trick {self.trick}, "
            f"hands {[sorted(hand) for hand in self.hands]}, scores {self.scores}>"
        )


def _whole_number(move: Any) -> int | None:
    """`move` as a plain int (other integer types count, True and False do not), or None."""
    if isinstance(move, bool):
        return None
    try:
        return operator.index(move)
    except TypeError:
        return None
