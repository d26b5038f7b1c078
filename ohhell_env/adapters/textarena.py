"""TextArena's kind of environment: the game as text, for language models and people who type their moves."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from ohhell_env import ohhell_v0
from ohhell_env.adapters import missing_extra
from ohhell_env.kernel.state import NAME_SUIT, NAME_TRUMP, PLAY, WIDE_FIRST_SLOT
from ohhell_env.rules.cards import STANDARD, SUIT_NAMES
from ohhell_env.rules.description import describe
from ohhell_env.rules.rules import Rules
from ohhell_env.table.events import (
    BidMade,
    BidsShown,
    CardPlayed,
    CardShown,
    CardsSeen,
    HandDealt,
    HandScored,
    Said,
    SuitNamed,
    TrickTaken,
    TrumpMade,
)
from ohhell_env.table.game import illegal_action_text, news
from ohhell_env.table.text import table_text

try:
    import textarena as ta
    from textarena.envs.registration import ENV_REGISTRY, register
    from textarena.wrappers import LLMObservationWrapper
except ImportError as error:
    raise missing_extra(error, "textarena") from error

ENV_ID = "OhHell-v0"

_HOW = (
    "Answer with one action in square brackets, as in [bid 2] or [play TD]. {}You may think aloud before it; nobody "
    "else reads that."
)
_CARDS = "A card is its rank (2-9, T, J, Q, K, A) and its suit (C, D, H, S): TD is the ten of diamonds. "
_MORE_CARDS = (
    "A card is its rank, as this table's rules list them, and its suit (C, D, H, S), or * with a letter for a joker: "
    "TD is the ten of diamonds. "
)
_SYMBOLS = str.maketrans("♣♦♥♠★", "CDHS*")
_TEN = re.compile(r"\b10(?= ?[cdhs]\b)")

# What a player has to do, and how that is written.
BID, CARD, POSITION, SUIT = "[bid 2]", "[play TD]", "[play card 2 of the hand]", "[name hearts]"


def rules_prompt(rules: Rules) -> str:
    """The rules of a table as text."""
    order = (
        "In each suit the ace is the highest card and the deuce the lowest." if rules.deck.card_set == STANDARD else ""
    )
    return (
        "Oh Hell! is a trick-taking game in which you must take exactly the tricks you bid. In each hand everybody "
        f"bids, then the cards are played in tricks, one card from each player, clockwise. {order}".rstrip()
        + f"\n\nThis table: {describe(rules)}"
    )


def parse_action(text: str, meanings: Sequence[str], form: str, allowed: Mapping[str, int] | None = None) -> int:
    """The action that a player's message takes: the one in its last square brackets, as the prompt demands.

    Words outside brackets are never read as an action: a player who thinks aloud names cards and numbers. Capital and
    small letters are alike, and so are ``TD``, ``10D`` and ``T♦``.

    Args:
        text: the message.
        meanings: each action as text, ``env.get_action_meanings()``.
        form: what the player has to do: `BID`, `CARD`, `POSITION` (of a card that is not seen) or `SUIT`.
        allowed: the legal actions by the words in which they are offered now, such as "nil".

    Raises:
        ValueError: if there are no brackets, or what stands in them is not an action; the message says what to write.
    """
    actions = {meaning.lower(): action for action, meaning in enumerate(meanings)}
    actions |= {words.lower(): action for words, action in (allowed or {}).items()}
    brackets = re.findall(r"\[([^\[\]]*)\]", text)
    if not brackets:
        raise ValueError(f"your message has no action in square brackets; write one, as in {form}.")
    said = " ".join(brackets[-1].translate(_SYMBOLS).lower().split())
    said = re.sub(r"(?<=\w) (?=[cdhs]$)", "", _TEN.sub("t", said))
    if said not in actions:
        raise ValueError(f"[{brackets[-1]}] is not an action; write one in square brackets, as in {form}.")
    return actions[said]


class OhHellTextEnv(ta.Env):
    """Oh Hell! for TextArena: observations are what a player at the table hears and sees, actions are messages.

    Messages themselves are shown to nobody else, since they may tell a sealed bid or a hand. A message without a legal
    action in square brackets is an invalid move: its player is told why and may try again, ``error_allowance`` times in
    a row; after that the match ends, with reward -1 for the player and 0 for the others. Otherwise the rewards are each
    player's score of the match, by the kind of ``reward``; better when higher, so minus the score where the lowest
    total wins.

    Args:
        rules: the table's `Rules` or the name of a preset; without, the default rules for the number of players.
        reward: "points", "zero_sum" or "win".
        error_allowance: invalid moves in a row that are forgiven.
    """

    def __init__(self, rules: Rules | str | None = None, reward: str = "points", error_allowance: int = 2) -> None:
        self.rules = rules
        self.reward = reward
        self.error_allowance = error_allowance

    def reset(self, num_players: int | None = None, seed: int | None = None) -> None:
        """Start a match.

        Args:
            num_players: as many as the table has seats; may be left out where ``rules`` says it.
            seed: 0..2**63-1 makes the match repeatable: that of ``ohhell_v0.env().reset(seed=seed)``.
        """
        self.table = ohhell_v0.raw_env(self.rules, players=num_players, reward=self.reward)
        self.table.reset(seed)
        self.meanings = self.table.get_action_meanings()
        players = self.table.rules.players
        self._totals = [0.0] * players
        self._told = [(0, 0)] * players  # how far each seat has been told: hand, event in it
        # No seed: TextArena would reset Python's own random numbers, which the game does not use.
        self.state = ta.FFAMultiPlayerState(num_players=players, error_allowance=self.error_allowance)
        names = {seat: f"player_{seat}" for seat in range(players)}
        self.state.reset(game_state={}, player_prompt_function=self._prompt, role_mapping=names)
        self._next_turn()

    def step(self, action: str) -> tuple[bool, dict[str, Any]]:
        """A player's message."""
        seat = self.state.current_player_id
        self.state.add_observation(action, ta.ObservationType.PLAYER_ACTION, from_id=seat, to_id=seat)
        try:
            self._move(parse_action(action, self.meanings, self._form(), self._allowed()))
        except ValueError as reason:
            if self.state.set_invalid_move(str(reason)):
                rewards = {other: -1.0 if other == seat else 0.0 for other in range(len(self._totals))}
                self.state.set_game_outcome(rewards, f"player_{seat} made an invalid move: {reason}")
            self._next_turn()
        result: tuple[bool, dict[str, Any]] = self.state.step(rotate_player=False)
        return result

    def get_board_str(self) -> str:
        """The whole table, for onlookers."""
        return table_text(self.table.game)

    def _allowed(self) -> dict[str, int]:
        """The legal actions by the words in which they are offered."""
        game = self.table.game
        return {game.action_text(action): action for action in game.legal_actions}

    def _form(self) -> str:
        """What the player to act has to write."""
        game = self.table.game
        if game.phase in (NAME_TRUMP, NAME_SUIT):
            return SUIT
        if game.phase != PLAY:
            return BID
        return POSITION if game.legal_actions[0] >= WIDE_FIRST_SLOT else CARD

    def _move(self, action: int) -> None:
        game = self.table.game
        if action not in game.legal_actions:
            raise ValueError(illegal_action_text(game, action))
        self.table.step(action)
        self._totals = [total + self.table.rewards[f"player_{seat}"] for seat, total in enumerate(self._totals)]
        if all(self.table.terminations.values()):
            self._tell()
            for seat, score in enumerate(self.table.game.scores):
                self.state.game_info[seat]["score"] = score
            self.state.set_game_outcome(dict(enumerate(self._totals)), "The match is over.")
        else:
            self._next_turn()

    def _next_turn(self) -> None:
        """Tell everybody what has happened, and the player to act what the table is like and what it may do."""
        self._tell()
        if self.state.done:
            return
        game = self.table.game
        seat = game.player
        if seat != self.state.current_player_id:
            self.state.manually_set_current_player_id(seat, force=True)
        allowed = ", ".join(f"[{words}]" for words in self._allowed())
        board = f"{table_text(game, seat)}\n\nIt is your turn. You may answer: {allowed}"
        self.state.add_observation(board, ta.ObservationType.GAME_BOARD, to_id=seat)

    def _tell(self) -> None:
        for seat, told in enumerate(self._told):
            events, self._told[seat] = news(self.table.game, seat, told)
            for event in events:
                self.state.add_observation(self._announcement(event, seat), ta.ObservationType.GAME_MESSAGE, to_id=seat)

    def _prompt(self, player_id: int, game_state: Any) -> str:
        rules = rules_prompt(self.table.rules)
        how = _HOW.format(_CARDS if self.table.rules.deck.card_set == STANDARD else _MORE_CARDS)
        return f"You are player_{player_id} in a game of Oh Hell!\n\n{rules}\n\n{how}"

    def _card(self, card: int) -> str:
        return self.meanings[card].removeprefix("play ")

    def _cards(self, cards: Sequence[int]) -> str:
        return " ".join(self._card(card) for card in sorted(cards, reverse=True)) or "none"

    def _announcement(self, event: Any, seat: int) -> str:
        """An event as a dealer would announce it to a seat."""
        match event:
            case HandDealt():
                turned = "nothing is" if event.turned is None else f"{self._card(event.turned)} is"
                held = self._held(event.cards, seat)
                unseen = "You do not see your cards. " if event.cards[seat] is None else ""
                return (
                    f"Hand {event.hand_number}: player_{event.dealer} deals {event.hand_size} cards each; "
                    f"{turned} turned up. {unseen}{held}"
                ).rstrip()
            case CardsSeen():
                return self._held(event.cards, seat)
            case CardShown():
                return f"{self._card(event.card)} is shown."
            case TrumpMade():
                trump = "no trump" if event.trump is None else SUIT_NAMES[event.trump]
                return f"Trump: {trump}." if event.seat is None else f"player_{event.seat} names trump: {trump}."
            case Said():
                said = {"pass": "passes", "nil": "goes nil"}.get(event.what, "bids blind")
                number = "" if said != "bids blind" else " face down" if event.bid is None else f" {event.bid}"
                return f"player_{event.seat} {said}{number}."
            case SuitNamed():
                return f"player_{event.seat} names the joker's suit: {SUIT_NAMES[event.suit]}."
            case BidMade():
                return f"player_{event.seat} bids {'face down' if event.bid is None else event.bid}."
            case BidsShown():
                return "The bids: " + ", ".join(f"player_{who} {bid}" for who, bid in enumerate(event.bids)) + "."
            case CardPlayed():
                return f"player_{event.seat} plays {self._card(event.card)}."
            case TrickTaken():
                who: int | None = event.seat
                return f"{'nobody' if who is None else f'player_{who}'} takes the trick."
            case HandScored():
                points = ", ".join(f"player_{who} {points:g}" for who, points in enumerate(event.points))
                return f"Points of this hand: {points}."
        raise TypeError(f"{event!r} is no event")

    def _held(self, hands: Sequence[tuple[int, ...] | None], seat: int) -> str:
        """The hands that a seat sees, as text."""
        whose = [f"player_{other} holds" if other != seat else "Your cards" for other in range(len(hands))]
        shown = [
            f"{who}{':' * (other == seat)} {self._cards(cards)}."
            for other, (who, cards) in enumerate(zip(whose, hands, strict=True))
            if cards is not None
        ]
        return " ".join(shown)


def register_env() -> None:
    """Enter the environment in TextArena's registry: ``textarena.make("OhHell-v0")``."""
    if ENV_ID not in ENV_REGISTRY:
        register(ENV_ID, entry_point=OhHellTextEnv, default_wrappers=[LLMObservationWrapper])


register_env()
