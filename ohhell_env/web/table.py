"""One table of the server: a match, who sits where, the tokens that open the seats, and its files.

A table is three files in one folder: the match's record and seating (`records.match`), and ``ID.table.json`` with what
the browser's table adds: names, tokens, times, what was taken back, and the mistakes found. All are written after
every action, each whole or not at all, so a server that was killed goes on where it stood.
"""

from __future__ import annotations

import json
import os
import secrets
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from ohhell_env.bots import Bot, make_bot
from ohhell_env.files import write_whole
from ohhell_env.kernel.state import MATCH_OVER, PLAY
from ohhell_env.records.match import Match, Seating, display_names, load_seating, save_match
from ohhell_env.rules.rules import Rules
from ohhell_env.table.game import Game

PERSON = "person"
TOKEN_BYTES = 16  # 128 bits: a token cannot be guessed
MAX_NAME = 24
FORMAT, VERSION = "ohhell-table", 2


def clean_name(name: str) -> str:
    """A person's name as it is shown: one line, no control characters, `MAX_NAME` characters at most."""
    return " ".join("".join(c if c.isprintable() else " " for c in name).split())[:MAX_NAME]


@dataclass
class Chair:
    """Who sits in a seat: a person with a token, or a bot by its name.

    Attributes:
        player: `PERSON`, or a bot's spec.
        token: opens the seat; "" for a bot's.
        name: of the person; "" where nobody has given one.
        code: of a study's participant; "" elsewhere.
    """

    player: str
    token: str = ""
    name: str = ""
    code: str = ""


@dataclass
class Table:
    """A match in play.

    Attributes:
        id: names the table's files; it opens nothing.
        match: the match.
        chairs: by seat.
        watch: the spectators' token.
        seed: of the bots.
        path: of the match's record.
        number: how many things have happened; clients say which table they answer to.
        unseen: seats of people who are still looking at the last hand's result; play waits for them.
        taken_back: what was taken back: hand number, seat, and action as text.
        times: how long each person took for each action: hand number, seat, action as text, seconds from when the
            choice was shown.
        review: whether people are shown their own mistakes of each hand.
        mistakes: those found so far: index of the hand in ``game.past_hands`` -> seat -> as `mistakes` makes them.
        awaited: seats of participants who have never come; play begins when all have.
        stand_ins: seats that a bot took over because their person was away: hand number, seat, the bot.
    """

    id: str
    match: Match
    chairs: list[Chair]
    watch: str
    seed: int
    path: Path
    number: int = 0
    unseen: set[int] = field(default_factory=set)
    taken_back: list[dict[str, Any]] = field(default_factory=list)
    times: list[dict[str, Any]] = field(default_factory=list)
    review: bool = False
    mistakes: dict[int, dict[int, list[dict[str, Any]]]] = field(default_factory=dict)
    awaited: set[int] = field(default_factory=set)
    stand_ins: list[dict[str, Any]] = field(default_factory=list)
    _undo: tuple[Any, int, int] | None = None  # the game before a person's last action, the seat, the action

    def __post_init__(self) -> None:
        self.bots: list[Bot | None] = [None] * len(self.chairs)
        for seat, chair in enumerate(self.chairs):
            if chair.player != PERSON:
                self.seat_bot(seat, chair.player)

    @classmethod
    def open(
        cls, folder: Path, rules: Rules, players: list[str], seed: int | None = None, name: str | None = None
    ) -> Table:
        """A new table; ``players`` names each seat's, `PERSON` for a person's; ``name`` the files', else a new one.

        Raises:
            ValueError: if there is not one player for each seat, nobody is a person, or a bot does not play the table.
        """
        if len(players) != rules.players:
            raise ValueError(f"{len(players)} players for {rules.players} seats")
        if PERSON not in players:
            raise ValueError("nobody sits at this table; give at least one seat to a person")
        name = name or secrets.token_hex(8)
        chairs = [Chair(player, _token() if player == PERSON else "") for player in players]
        match = Match(rules, seed)
        return cls(name, match, chairs, _token(), match.game.seed % 2**31, folder / f"{name}.jsonl")

    @classmethod
    def load(cls, path: Path) -> Table:
        """The table of ``ID.table.json``, as it stood when it was last saved.

        Raises:
            ValueError: if one of its files is damaged or missing.
        """
        try:
            data = json.loads(path.read_text(encoding="utf-8"))
            if (data["table"], data["version"]) != (FORMAT, VERSION):
                raise ValueError(f"not a table of format {FORMAT!r}, version {VERSION}")
            name = path.name.removesuffix(".table.json")
            record = path.with_name(f"{name}.jsonl")
            match = Match.load(record)
            load_seating(record, match.rules.players)
            chairs = [Chair(**chair) for chair in data["chairs"]]
            if len(chairs) != match.rules.players:
                raise ValueError("it does not seat everybody")
            table = cls(name, match, chairs, data["watch"], int(data["seed"]), record)
            table.number, table.unseen = int(data["number"]), set(data["unseen"])
            table.taken_back, table.times = list(data["taken_back"]), list(data["times"])
            table.review, table.awaited, table.stand_ins = data["review"], set(data["awaited"]), data["stand_ins"]
            table.mistakes = {
                int(hand): {int(seat): list(found) for seat, found in seats.items()}
                for hand, seats in data["mistakes"].items()
            }
            return table
        except (KeyError, TypeError, ValueError, OSError) as error:
            raise ValueError(f"{path} is not a table that can go on: {error}") from error

    # --- Facts ---------------------------------------------------------------------------------------------------

    @property
    def game(self) -> Game:
        """The table as it stands."""
        return self.match.game

    @property
    def over(self) -> bool:
        """Whether the match is over."""
        return self.game.phase == MATCH_OVER

    @property
    def people(self) -> list[int]:
        """Seats of people."""
        return [seat for seat, chair in enumerate(self.chairs) if chair.player == PERSON]

    def names(self, viewer: int | None) -> list[str]:
        """Everybody's name, as shown to a seat, to which its own is "you"; None for spectators."""
        study = any(chair.code for chair in self.chairs)
        given = [
            chair.player if chair.player != PERSON else "participant" if study else chair.name or "guest"
            for chair in self.chairs
        ]
        return display_names(given, viewer)

    @property
    def can_take_back(self) -> int | None:
        """The seat that may take back its last action: against bots, before they have acted or anything was shown."""
        return self._undo[1] if self._undo is not None and len(self.people) == 1 else None

    # --- What happens --------------------------------------------------------------------------------------------

    def seat_bot(self, seat: int, player: str) -> None:
        """Give a seat to a bot.

        Raises:
            ValueError: if there is no such bot, or it does not play this table.
        """
        bot = make_bot(player, self.seed + seat)
        bot.views(self.match)
        chair = self.chairs[seat]
        self.chairs[seat] = Chair(player, chair.token, chair.name, chair.code)  # the token can take the seat back
        self.bots[seat] = bot

    def seat_person(self, seat: int) -> None:
        """Give a seat back to its person."""
        self.chairs[seat].player = PERSON
        self.bots[seat] = None

    def step(self, action: int, seconds: float | None = None) -> None:
        """Take an action for the seat to act, a person's with the seconds that it took; if it is illegal, do nothing.

        Raises:
            ValueError: if it is not legal.
        """
        seat, game = self.game.player, self.game.copy()
        before = self.match.games.copy()
        chosen = len(game.legal_actions) > 1
        hand, words = self.game.hand_number, self.game.action_text(action)
        ended = self.match.step(action)
        if seconds is not None:
            self.times.append({"hand": hand, "seat": seat, "action": words, "seconds": round(seconds, 3)})
        self.number += 1
        self._undo = None
        if ended:
            self.unseen = set() if self.over else set(self.people)
        elif seat is not None and chosen and self.chairs[seat].player == PERSON:
            self._undo = None if _shows_more(game, self.game, seat) else (before, seat, action)

    def leave_result(self, seat: int) -> None:
        """A person has looked at the result of the last hand."""
        self.unseen.discard(seat)

    def take_back(self) -> None:
        """Undo the last action of a person; it stays in the table's file.

        Raises:
            ValueError: if there is nothing that may be taken back.
        """
        if self._undo is None or self.can_take_back is None:
            raise ValueError(
                "nothing may be taken back: only your own last choice, against bots, before anybody has acted on it "
                "or you have seen something because of it"
            )
        games, seat, action = self._undo
        self.match.games[0] = games[0]
        game = self.game
        self.taken_back.append({"hand": game.hand_number, "seat": seat, "action": game.action_text(action)})
        self.number += 1
        self._undo = None

    def save(self) -> None:
        """Write the table's files."""
        alone = self.people[0] if len(self.people) == 1 and not self.chairs[self.people[0]].code else None
        players = tuple("you" if seat == alone else _player_of_record(chair) for seat, chair in enumerate(self.chairs))
        save_match(self.match, Seating(players, alone, self.seed), self.path)
        data = {
            "table": FORMAT,
            "version": VERSION,
            "chairs": [asdict(chair) for chair in self.chairs],
            "watch": self.watch,
            "seed": self.seed,
            "number": self.number,
            "unseen": sorted(self.unseen),
            "taken_back": self.taken_back,
            "times": self.times,
            "review": self.review,
            "mistakes": self.mistakes,
            "awaited": sorted(self.awaited),
            "stand_ins": self.stand_ins,
            "over": self.over,
        }
        path = self.path.with_name(f"{self.id}.table.json")
        write_whole(path, json.dumps(data) + "\n")
        os.chmod(path, 0o600)  # it holds the tokens


def _shows_more(before: Game, after: Game, seat: int) -> bool:
    """Whether a seat sees more after its own action than the action: others' bids, cards, or which card it was."""
    others = [other for other in range(before.players) if other != seat]
    bids = [
        [visible(seat)[other] for visible in (game.visible_bids, game.visible_first_bids) for other in others]
        for game in (before, after)
    ]
    cards = [[game.sees_cards(seat, other) for other in range(game.players)] for game in (before, after)]
    by_position = before.phase == PLAY and not before.sees_cards(seat, seat)
    turned = (before.turned, before.shown) != (after.turned, after.shown)
    return by_position or turned or bids[0] != bids[1] or cards[0] != cards[1]


def _player_of_record(chair: Chair) -> str:
    """A seat's player as the record names it; a participant's code stays, also where a bot has taken over."""
    if chair.player == PERSON:
        return chair.code or chair.name or "guest"
    return f"{chair.code} (then {chair.player})" if chair.code else chair.player


def _token() -> str:
    return secrets.token_urlsafe(TOKEN_BYTES)
