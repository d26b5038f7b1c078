"""The slow referee of every other table in the sources: each option written down in plain Python, one section each.

As `referee`, which keeps the base rules, it knows nothing of the package it checks: cards are names, options are plain
data, and chance comes from outside (`deal`). A comment "encyclopedia:" restates a sentence of that source
(docs/sources.md), and so on; "Rules:" one of the docstring that settles what the sources leave open. What each seat
knows stands in `referee_views`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from referee import FULL_DECK, IllegalMove, _whole_number
from referee_table import LOWEST_WINS, SCORES, SUIT_LETTERS, Hand, hands_of, is_joker, strength

Play = tuple[int, str]  # (seat, card)
BEFORE_TRUMP = ("deal", "blind", "nil")


class VariantReferee:
    """One match. `deal` a hand, then `act` for the seat in `turn` until `phase` is 'deal' again, or 'over'.

    Phases: 'deal', then of these what the table has: 'blind', 'nil', 'name trump' (the dealer, after a joker), 'bid',
    'name trump' (the highest bidder), 'play', 'name suit' (after a joker led without trump); then 'deal' or 'over'.
    """

    def __init__(
        self,
        players: int = 4,
        ramp: Any = "down-up",
        hook: bool = True,
        bids: str = "sealed",
        trump: str | Sequence[str] = "turned",
        scoring: str | Callable[..., float] = "exact",
        deck: Sequence[str] = FULL_DECK,
        card_set: str = "standard",
        first_dealer: int = 0,
        cap: int = 0,
        knocking: bool = False,
        cooperative: bool = False,
        attempts: int = 0,
        nil_round: bool = False,
        blind_bids: bool = False,
        full_deal: str = "none",
        lead_trump: str = "any",
        must_trump: bool = False,
        duplicates: str = "first",
        own_cards: str = "seen",
        hands_shown: bool = False,
        sort_hands: bool = False,
        lowest_wins: bool | None = None,
    ) -> None:
        self.players, self.deck, self.card_set = players, list(deck), card_set
        self.ramp: list[Hand] = hands_of(ramp, players, len(self.deck), cap)
        self.random_sizes, self.drawn = ramp == "random", ramp == "drawn"
        self.hook, self.bid_style, self.trump, self.full_deal = hook, bids, trump, full_deal
        self.score: Callable[..., float] = SCORES[scoring] if isinstance(scoring, str) else scoring
        # encyclopedia, scoring 9: as in golf, lowest score winning
        self.lowest = scoring in LOWEST_WINS if lowest_wins is None else lowest_wins
        self.knocking, self.cooperative, self.attempts = knocking, cooperative, attempts
        self.nil_round, self.blind_bids = nil_round, blind_bids
        self.lead_trump, self.must_trump, self.duplicates = lead_trump, must_trump, duplicates
        self.own_cards, self.hands_shown, self.sort_hands = own_cards, hands_shown, sort_hands

        self.phase = "deal"
        self.turn: int | None = None
        self.dealer = first_dealer
        self.scores: list[float] = [0] * players
        self.hands_done = 0  # hands of the ramp that are behind us
        self.attempt = 0  # deals so far of the hand on the table
        self.lost = False  # a cooperative match that could not be made to work
        self.sizes_dealt: list[int] = []
        self.size, self.special = 0, frozenset[str]()
        self.drawn_trump: str | None = None
        self.last_points: list[float] | None = None
        self._clear_table()

    def _clear_table(self) -> None:
        self.cards: list[list[str | None]] = [[] for _ in range(self.players)]  # in the order dealt; None once played
        self.top: str | None = None  # the card turned up or cut, or the dealer's last, that makes trump
        self.top_in_stock = self.top_in_hand = False  # where it lies once shown; a card cut may be anywhere
        self.dealer_names = False  # trump, for a joker; otherwise, in phase 'name trump', the highest bidder does
        self.trump_suit: str | None = None
        self.blind: list[int | str | None] = [None] * self.players  # a bid, 'pass', or None
        self.nil: list[int | str | None] = [None] * self.players  # 0, 'pass', or None
        self.bids: list[int | None] = [None] * self.players
        self.knocks: list[list[int]] = []  # bids shown that fitted the hand, so that all bid again
        self.to_act: list[int] = []
        self.taken = [0] * self.players
        self.leader: int | None = None
        self.trick: list[Play] = []
        self.tricks: list[list[Play]] = []
        self.trick_winners: list[int | None] = []
        self.named_suit: str | None = None  # by whoever led a joker to this trick
        self.weight = 1  # tricks that this trick counts for
        self.played: list[list[str]] = [[] for _ in range(self.players)]
        self.voids: list[set[str]] = [set() for _ in range(self.players)]

    def round_from(self, seat: int) -> list[int]:
        return [(seat + k) % self.players for k in range(self.players)]

    # --- The deal ----------------------------------------------------------------------------------------------------

    def deal(
        self,
        order: Sequence[str],
        size: int | None = None,
        drawn_trump: str | None = None,
        cut: str | None = None,
    ) -> None:
        """The next hand from the deck's top; `size`, `drawn_trump` (a suit), `cut` (a card) where chance says them."""
        if self.phase != "deal":
            raise IllegalMove(f"no deal now: the phase is {self.phase!r}")
        if sorted(order) != sorted(self.deck):
            raise ValueError("not the whole deck")
        self._clear_table()
        self._choose_hand(size, drawn_trump)
        self.attempt += 1
        # base: one card at a time, the dealer's left first
        for number, card in enumerate(order[: self.size * self.players]):
            self.cards[(self.dealer + 1 + number) % self.players].append(card)
        if self.sort_hands and self.size >= 3:
            # encyclopedia, Penguin Whist: each neighbour's hand of three or more cards is sorted into suits
            for hand in self.cards:
                hand.sort(key=lambda card: "CDHS*".index("*" if is_joker(str(card)) else str(card)[-1]))
        self.dealt = [[str(card) for card in hand] for hand in self.cards]
        self._choose_trump(order, cut)
        self.last_points = None
        self._begin("blind")

    def _choose_hand(self, size: int | None, drawn_trump: str | None) -> None:
        chosen, self.special = self.ramp[self.hands_done]
        if self.random_sizes or self.drawn:
            if (
                self.attempt
            ):  # encyclopedia, cooperative: the round is re-dealt (Rules: the same hand, the same trump if drawn)
                assert size in (None, self.size) and drawn_trump in (None, self.drawn_trump)
                return
            allowed = {hand_size for hand_size, _ in self.ramp}
            if self.random_sizes:  # Rules: each size once
                allowed -= set(self.sizes_dealt)
            assert size in allowed, f"{size} of {allowed}"
            assert size is not None and (drawn_trump in SUIT_LETTERS) == self.drawn
            chosen = size
            self.drawn_trump = drawn_trump
            self.sizes_dealt.append(chosen)
        self.size = chosen

    def _choose_trump(self, order: Sequence[str], cut: str | None) -> None:
        """Trump, where the table's word makes it, or the card that will make it once it is shown."""
        stock = order[self.size * self.players :]
        way = self.trump if isinstance(self.trump, str) else self.trump[self.hands_done % len(self.trump)]
        if "no trump" in self.special:  # encyclopedia: a trumpless hand (Rules: nothing is turned)
            return
        if way == "turned":
            if stock:  # base: the next card is turned up, and is out of play
                self.top, self.top_in_stock = stock[0], True
                return
            way = self.full_deal  # encyclopedia: several ways where all the cards are dealt out
        if (
            way == "last"
        ):  # encyclopedia: the dealer's last card is turned face up to determine trump, then enters his hand
            self.top, self.top_in_hand = self.cards[self.dealer][-1], True
        elif way == "cut":  # encyclopedia: a card is flipped up to determine trump, then the deck is shuffled and dealt
            assert cut in self.deck
            self.top = cut
        elif way == "drawn":  # encyclopedia, cooperative: the suit of the second deck's card
            self.trump_suit = SUIT_LETTERS[str(self.drawn_trump)]
        else:  # encyclopedia: spades are always trump; or rotated each hand in a sequence; or none ('named': not yet)
            self.trump_suit = SUIT_LETTERS.get(way)

    # --- From one phase to the next -----------------------------------------------------------------------------------

    @property
    def bidless(self) -> bool:
        """encyclopedia: in a golden hand no contract is made; Rules: nor in a miser hand."""
        return bool(self.special & {"golden", "miser"})

    def _begin(self, phase: str) -> None:
        """Start a phase, or whatever comes after it where this hand does not have it."""
        everybody = self.round_from(self.dealer + 1)
        if phase == "blind":
            # encyclopedia: for any hand a player may bid before the cards are dealt (a blind hand: all do so anyway)
            there = self.blind_bids and not self.bidless and "blind" not in self.special
            return self._ask(phase, everybody) if there else self._begin("nil")
        if phase == "nil":
            # encyclopedia: in each round where the number of tricks exceeds the number of players, there are two rounds
            there = self.nil_round and not self.bidless and self.size > self.players
            return self._ask(phase, everybody) if there else self._show_trump()
        if phase == "bid":
            self.dealer_names = False
            # encyclopedia: the players who passed in the first round must now bid; those who went nil have bid
            self.bids = [None if nil != 0 else 0 for nil in self.nil]
            bidders = [seat for seat in everybody if self.bids[seat] is None]
            return self._ask(phase, bidders) if bidders and not self.bidless else self._bidding_over()
        assert phase == "play"
        self.phase = phase
        self.leader = self.turn = everybody[0]

    def _ask(self, phase: str, seats: list[int]) -> None:
        self.phase, self.to_act, self.turn = phase, list(seats), seats[0]

    def _next_asked(self, following: Callable[[], None]) -> None:
        self.to_act.pop(0)
        if self.to_act:
            self.turn = self.to_act[0]
        else:
            following()

    # --- Moves --------------------------------------------------------------------------------------------------------

    def legal(self) -> set[Any]:
        """Bids and positions are whole numbers, cards and suits words; nothing between hands."""
        if self.phase == "blind":
            return {"pass", *range(self.size + 1)}
        if self.phase == "nil":
            return {"pass", 0}  # encyclopedia: players must either pass, or go nil by bidding zero
        if self.phase == "name trump":
            # encyclopedia, 64 cards: the dealer gets to name trump, or can make it a no trump hand
            return {*SUIT_LETTERS, "none"} if self.dealer_names else set(SUIT_LETTERS)
        if self.phase == "bid":
            return self._legal_bids()
        if self.phase == "name suit":
            return set(SUIT_LETTERS)
        if self.phase == "play":
            return self._legal_plays()
        return set()

    def act(self, move: Any) -> None:
        """What the seat in turn decides."""
        seat = self.turn
        number = _whole_number(move)
        if seat is None or (move if isinstance(move, str) else number) not in self.legal():
            raise IllegalMove(f"{move!r} is not allowed in phase {self.phase!r}, which allows {self.legal()}")
        if self.phase == "blind":
            self.blind[seat] = move
            self._next_asked(lambda: self._begin("nil"))
        elif self.phase == "nil":
            self.nil[seat], self.bids[seat] = move, number
            self._next_asked(self._show_trump)
        elif self.phase == "name trump":
            self.trump_suit = SUIT_LETTERS.get(move)
            self._begin("bid" if self.dealer_names else "play")
        elif self.phase == "bid":
            self.bids[seat] = number
            self._next_asked(self._all_have_bid)
        elif self.phase == "name suit":
            self.named_suit = SUIT_LETTERS[move]
            self._next_to_play()
        else:
            self._play(move)

    # --- Trump --------------------------------------------------------------------------------------------------------

    def _show_trump(self) -> None:
        """The card that makes trump is shown, if there is one."""
        if self.top is not None and is_joker(
            self.top
        ):  # encyclopedia: a joker is turned up, the dealer gets to name trump
            self.dealer_names = True
            return self._ask("name trump", [self.dealer])
        if self.top is not None:
            self.trump_suit = self.top[-1]
        self._begin("bid")

    def _bidding_over(self) -> None:
        named = self.trump == "named" and not self.bidless and "no trump" not in self.special
        if not named:
            return self._begin("play")
        # encyclopedia: the highest bid chooses trump after everybody else has bid; of the same number, who bid first
        in_order = self.round_from(self.dealer + 1)
        highest = max(bid for bid in self.bids if bid is not None)
        self._ask("name trump", [next(seat for seat in in_order if self.bids[seat] == highest)])

    # --- Bidding ------------------------------------------------------------------------------------------------------

    def forbidden_bid(self) -> int | None:
        """The number that the hook takes from the seat now bidding."""
        if not self.hook or self.phase != "bid" or len(self.to_act) > 1:  # encyclopedia: the last bidder, dealer or not
            return None
        hooked = self.size - sum(bid for bid in self.bids if bid is not None)
        return hooked if 0 <= hooked <= self.size else None

    def _legal_bids(self) -> set[int]:
        assert self.turn is not None
        bids = set(range(self.size + 1))
        blind = self.blind[self.turn]
        if self.nil[self.turn] == "pass":
            bids -= {0}  # encyclopedia: players who passed in the first round must now bid one or more
        if isinstance(blind, int):
            bids = {
                bid for bid in bids if abs(bid - blind) <= 2
            }  # encyclopedia: can adjust bid up or down by two tricks
        if len(self.knocks) >= 3:
            bids -= {self.knocks[-1][self.turn]}  # encyclopedia: after three bids, everyone has to change their bid
        if self.cooperative:  # encyclopedia: all bids must add up exactly to the number of cards dealt
            left = self.size - sum(bid for bid in self.bids if bid is not None)
            bids = {bid for bid in bids if bid <= left and (bid == left or len(self.to_act) > 1)}
        return bids - {self.forbidden_bid()}

    def _all_have_bid(self) -> None:
        bids = [bid for bid in self.bids if bid is not None]
        # encyclopedia: if the bids "work" then everyone bids again (Rules: the seventh bids stand in any case)
        if self.knocking and sum(bids) == self.size and len(self.knocks) < 6:
            self.knocks.append(bids)
            self._begin("bid")
        else:
            self._bidding_over()

    # --- Which cards may be played ------------------------------------------------------------------------------------

    def suit(self, card: str) -> str | None:
        """The suit a card belongs to; without trump a joker has none. Rules: jokers belong to the trump suit."""
        return self.trump_suit if is_joker(card) else card[-1]

    def led_suit(self) -> str | None:
        """The suit to follow. encyclopedia, 64 cards: who leads a joker in no trump must name the suit."""
        return (self.named_suit or self.suit(self.trick[0][1])) if self.trick else None

    def _legal_plays(self) -> set[Any]:
        assert self.turn is not None
        cards = self._legal_cards(self.turn)
        if self.own_cards == "hidden":  # Rules: told which positions, in the order dealt, may be played
            return {position for position, card in enumerate(self.cards[self.turn]) if card in cards}
        return cards

    def _legal_cards(self, seat: int) -> set[str]:
        hand = {card for card in self.cards[seat] if card is not None}
        trumps = {card for card in hand if self.trump_suit and self.suit(card) == self.trump_suit}
        if not self.trick:
            # online: not until trump was played on a trick, or not to the first trick;
            # seven-down, online: unless only trump is held
            closed = (self.lead_trump == "broken" and not self.broken()) or (
                self.lead_trump == "not first" and not self.tricks
            )
            return (hand - trumps or hand) if closed else hand
        followers = {card for card in hand if self.suit(card) == self.led_suit()}
        if followers:
            # Rules: without trump a joker may be played whatever is led
            return followers | {card for card in hand if self.suit(card) is None}
        # encyclopedia, 64 cards: if you can't follow suit, you must play trump
        return trumps if self.must_trump and trumps else hand

    def broken(self) -> bool:
        """Whether trump has been dumped on a trick (online) that another suit led; a trump that is led is not."""
        if self.trump_suit is None:
            return False
        return any(
            self.suit(card) == self.trump_suit
            for trick in [*self.tricks, self.trick]
            if trick and self.suit(trick[0][1]) != self.trump_suit
            for _, card in trick[1:]
        )

    # --- Playing ------------------------------------------------------------------------------------------------------

    def _play(self, move: Any) -> None:
        seat = self.turn
        assert seat is not None
        # Of two copies in a hand that is seen it does not matter which one is played
        position = move if self.own_cards == "hidden" else self.cards[seat].index(move)
        card = self.cards[seat][position]
        assert card is not None
        led = self.led_suit()
        self.cards[seat][position] = None
        self.trick.append((seat, card))
        self.played[seat].append(card)
        if led is not None and self.suit(card) not in (led, None):
            self.voids[seat].add(led)
        if led is None and self.suit(card) is None:
            self.phase = "name suit"
        else:
            self._next_to_play()

    def _next_to_play(self) -> None:
        assert self.turn is not None
        self.phase = "play"
        if len(self.trick) < self.players:
            self.turn = (self.turn + 1) % self.players
        else:
            self._finish_trick()

    def winning_play(self) -> Play | None:
        """The play that would take the trick as it lies; None where nobody's would."""
        led = self.led_suit()
        copies = Counter(card for _, card in self.trick)
        trumps = [play for play in self.trick if self.trump_suit and self.suit(play[1]) == self.trump_suit]
        # Rules: without trump a joker counts as a card of the suit led
        followers = [play for play in self.trick if self.suit(play[1]) in (led, None)]

        def highest(plays: list[Play]) -> Play:  # encyclopedia, pinochle rule: of equals the first one has precedence
            return max(plays, key=lambda play: strength(play[1], self.card_set, self.trump_suit))

        for plays in (trumps, followers):
            # encyclopedia, cancellation rule: if two of the same card are played on a trick, none of them can win it
            able = [play for play in plays if self.duplicates == "first" or copies[play[1]] == 1]
            if able:
                return highest(able)
        # encyclopedia: all eliminated: nobody, or by the exception the first copy of the highest eligible card
        return highest(trumps or followers) if self.duplicates == "exception" and self.trick else None

    def _finish_trick(self) -> None:
        play = self.winning_play()
        winner = None if play is None else play[0]
        if winner is None:  # encyclopedia, up the ante: the same player leads again, and this trick counts double
            self.weight += 1
        else:
            self.taken[winner] += self.weight
            self.weight = 1
            self.leader = winner  # base: the winner of a trick leads the next one
        self.turn = self.leader
        self.tricks.append(self.trick)
        self.trick_winners.append(winner)
        self.trick, self.named_suit = [], None
        if len(self.tricks) == self.size:
            self._finish_hand()

    # --- Scoring ------------------------------------------------------------------------------------------------------

    def _finish_hand(self) -> None:
        self.last_points = [self._points(seat) for seat in range(self.players)]
        worked = not self.cooperative or self.bids == self.taken
        if worked:
            self.hands_done += 1
            self.attempt = 0
        else:  # encyclopedia, cooperative: the deal moves left and the round is re-dealt (Rules: and nobody scores)
            self.last_points = [0] * self.players
            self.lost = self.attempt == self.attempts  # Rules: with a limit of deals; 0, which no deal has, is none
        self.scores = [total + points for total, points in zip(self.scores, self.last_points, strict=True)]
        self.dealer = (self.dealer + 1) % self.players  # base: the deal passes to the left
        self.turn = self.leader = None
        self.phase = "over" if self.lost or self.hands_done == len(self.ramp) else "deal"

    def _worth(self, bid: int, taken: int) -> float:
        return self.score(bid, taken, self.size, self.players, self.trump_suit)

    def _points(self, seat: int) -> float:
        taken, bid, blind = self.taken[seat], self.bids[seat], self.blind[seat]
        if "golden" in self.special:
            # encyclopedia: as many tricks as he or she can (Rules: a point a trick, taken off where the lowest wins)
            return -taken if self.lowest else taken
        if "miser" in self.special:
            # encyclopedia: who takes the least tricks has fulfilled the contract (Rules: a bid of zero)
            return self._worth(0, 0 if taken == min(self.taken) else taken)
        assert bid is not None
        points = self._worth(bid, taken)
        if not isinstance(blind, int):
            return points
        penalty = points > 0 if self.lowest else points < 0
        if bid != taken and not penalty:
            return points  # Rules: no score was made, and what a miss pays is no penalty
        if bid == blind:
            return 2 * points  # encyclopedia: for double score and double penalties
        return points * (3 if penalty else 1.5)  # encyclopedia: adjusted, for 1.5x score and 3x penalties

    # --- End ----------------------------------------------------------------------------------------------------------

    def win_shares(self) -> list[float]:
        """base: the best total wins, a tie is shared. Rules: of a cooperative match that is lost, nobody."""
        if self.phase != "over":
            raise IllegalMove("nobody has won: the match is not over")
        best = min(self.scores) if self.lowest else max(self.scores)
        return [float(total == best and not self.lost) / self.scores.count(best) for total in self.scores]
