"""`ohhell play`: take a seat in the terminal, against bots or checkpoints.

Everything is written to the match's record after every action, so an interrupted match continues with
`--resume`. What is typed may also come from a pipe, a line for each question.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Annotated

import platformdirs
import tyro
from rich.console import Console
from rich.text import Text

from ohhell_env.bots import Bot, make_bot
from ohhell_env.bots.spec import SEARCH_WITH, checkpoint_of
from ohhell_env.commands.typed import read_action
from ohhell_env.kernel.state import BID, MATCH_OVER
from ohhell_env.notice import if_slow
from ohhell_env.options import INTERRUPTED, RulesOptions, run_command
from ohhell_env.records.advice import policy_chances, searched_points
from ohhell_env.records.match import Match, Seating, display_names, load_seating, save_match
from ohhell_env.render.scene import scene_of
from ohhell_env.render.terminal import (
    card_text,
    choice_text,
    choices_line,
    event_text,
    face_up_lines,
    hand_line,
    heading,
    hint_table,
    result_table,
    score_sheet,
    seats_table,
    trick_line,
)
from ohhell_env.rules.description import describe
from ohhell_env.table.game import news
from ohhell_env.table.refusal import refusal

HELP = """Type a card by its name (10♦, 10d and TD are the same) or as much of it as is clear; a bid by its number;
where your own cards are hidden, a card by its position; other choices by their words. Where only one choice is legal,
Enter is enough. Besides:
  h  hint: what the search expects of each choice, and what a trained policy would do
  t  the tricks of this hand so far
  s  the score sheet, hand by hand
  r  the rules of this table
  q  stop; `ohhell play --resume FILE` goes on from there
  ?  this help"""


class Stopped(Exception):
    """The person stops; the match is on record."""


class Session:
    """One person at a table, from the first question to the end of the match or until they stop.

    Args:
        match: the match, new or taken up.
        seating: who plays.
        record: where the match is written after every action.
        console: where it is shown.
        ask: a question's answer; raises EOFError when there are no more.
        adviser: spec of the policy whose probabilities a hint shows; None shows the search's estimates alone.
        pause: seconds for which each move of a bot is shown.
    """

    def __init__(
        self,
        match: Match,
        seating: Seating,
        record: Path,
        console: Console,
        ask: Callable[[str], str],
        adviser: str | None = None,
        pause: float = 0.0,
    ) -> None:
        if seating.person is None:
            raise ValueError("nobody plays: the seating has no person")
        self.match, self.seating, self.record = match, seating, record
        self.person = seating.person
        self.console, self.ask, self.pause = console, ask, pause
        self.names = display_names(seating.players, self.person)
        self.bots: list[Bot | None] = [
            None if seat == self.person else make_bot(spec, seating.seed + seat)
            for seat, spec in enumerate(seating.players)
        ]
        self.adviser = adviser
        for bot in filter(None, self.bots):
            bot.views(match)  # refuses a table that it does not play
        self.told = news(match.game, self.person, (0, 0))[1]  # how far the person has been told

    def run(self) -> None:
        """Play to the end of the match.

        Raises:
            Stopped: when the person stops.
        """
        save_match(self.match, self.seating, self.record)
        while self.match.game.phase != MATCH_OVER:
            player = self.match.game.player
            bot = None if player is None else self.bots[player]
            action = self._choice() if bot is None else self._bots_choice(bot)
            ended = self.match.step(action)
            save_match(self.match, self.seating, self.record)
            self._tell()
            if ended:
                self._hand_over()
            elif bot is not None and self.pause:
                time.sleep(self.pause)
        game = self.match.game
        result = scene_of(game, self.person, self.names).result()
        scores = {f"{score:g}" for score, share in zip(game.scores, game.win_shares, strict=True) if share}
        self.console.print(Text(f"\n{result}{' with ' if scores else ''}{''.join(scores)}.", style="bold yellow"))

    def _bots_choice(self, bot: Bot) -> int:
        player = self.match.game.player
        assert player is not None
        with if_slow(f"{self.names[player]} is thinking ..."):
            return int(bot.act(self.match)[0])

    def _tell(self) -> None:
        events, self.told = news(self.match.game, self.person, self.told)
        for event in events:
            line = event_text(event, self.names, self.person, self.match.rules.deck.card_set)
            if line is not None:
                self.console.print(line)

    def _hand_over(self) -> None:
        game = self.match.game
        self.console.print()
        self.console.print(result_table(game.past_hands[-1], self.names, game.scores, self.person))
        if game.phase != MATCH_OVER:
            self._answer("Enter for the next hand ")

    def _choice(self) -> int:
        """Show the table and ask until the answer is a legal action."""
        self._print_table()
        commands = {"h": self._hint, "t": self._tricks, "s": self._sheet, "r": self._rules, "?": self._help}
        game = self.match.game
        (only, *others) = game.legal_actions
        question = "> " if others else f"Enter: {choice_text(game.action_text(only))} > "
        while True:
            answer = self._answer(question).strip()
            command = commands.get(answer.lower())
            if not answer and not others:
                return only
            if command is not None:
                command()
            elif answer.lower() in ("q", "quit"):
                raise Stopped
            elif answer:
                try:
                    return read_action(answer, game)
                except ValueError as error:
                    self.console.print(Text(str(error), style="red"))

    def _answer(self, question: str) -> str:
        try:
            return self.ask(question)
        except EOFError:
            raise Stopped from None

    def _print_table(self) -> None:
        game = self.match.game
        scene = scene_of(game, self.person, self.names)
        words = [game.action_text(action) for action in game.legal_actions]
        self.console.print()
        self.console.print(heading(scene))
        self.console.print(seats_table(scene))
        for line in (*face_up_lines(scene), trick_line(scene) if not scene.bidding else None):
            if line is not None:
                self.console.print(line)
        self.console.print(hand_line(scene, words))
        self.console.print(
            choices_line(scene, words, self._why_shut()).append("   h hint, ? help", style="bright_black")
        )

    def _why_shut(self) -> str:
        """The rule that shuts the one bid which is not open, where it is one."""
        game = self.match.game
        bids = [game.form.first_bid + bid for bid in range(game.hand_size + 1)]
        shut = [bid for bid in bids if bid not in game.legal_actions]
        return f": {refusal(game, shut[0])}" if game.phase == BID and len(shut) == 1 else ""

    def _sheet(self) -> None:
        hands = self.match.game.past_hands
        if not hands:
            self.console.print("No hand is finished yet.")
            return
        self.console.print(score_sheet(hands, self.names, self.person))

    def _help(self) -> None:
        self.console.print(HELP, highlight=False)

    def _rules(self) -> None:
        self.console.print(describe(self.match.rules), highlight=False)

    def _tricks(self) -> None:
        for number, trick in enumerate(self.match.game.tricks, start=1):
            line = Text(f"{number:>3}  ")
            for seat, card in trick.plays:
                style = "yellow" if seat == trick.winner else "bright_black"
                line.append(f"{self.names[seat]} ", style=style)
                line.append_text(card_text(self.match.rules.deck.card_set.names[card])).append("  ")
            self.console.print(line)
        if not self.match.game.tricks:
            self.console.print("No trick is finished yet.")

    def _hint(self) -> None:
        game = self.match.game
        with if_slow("thinking ..."):
            searched = searched_points(self.match, self.seating.seed)
        chances = None
        if self.adviser is not None:
            try:
                chances = policy_chances(self.adviser, self.match)
            except ValueError as error:
                self.console.print(Text(f"{self.adviser} gives no hint: {error}", style="red"))
        name = "" if self.adviser is None else display_names([self.adviser])[0]
        self.console.print(hint_table(game, searched, chances, name))


def default_record() -> Path:
    """A new file for a match in the user's data folder, named by the date and time; the folder is made if need be."""
    folder = platformdirs.user_data_path("ohhell-env", appauthor=False) / "matches"
    folder.mkdir(parents=True, exist_ok=True)
    name = time.strftime("%Y-%m-%d-%H%M%S")
    names = (folder / f"{name}{'' if k == 1 else f'-{k}'}.jsonl" for k in count(1))
    return next(path for path in names if not path.exists())


# --- The command -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Options(RulesOptions):
    """Play Oh Hell! in the terminal, against bots or checkpoints."""

    opponents: Annotated[tuple[str, ...], tyro.conf.arg(metavar="PLAYER ...")] = ("heuristic",)
    """Who plays the other seats, one for all or one for each: random, heuristic, search:N, checkpoints/NAME, ..."""
    seat: int = 0
    """Your seat; 0 is the first dealer of most tables."""
    seed: int | None = None
    """Seed of the deals, for a match that can be repeated; a random one by default."""
    record: Annotated[Path | None, tyro.conf.arg(metavar="FILE")] = None
    """Where the match is written; a new file in your data folder by default."""
    resume: Annotated[Path | None, tyro.conf.arg(metavar="FILE")] = None
    """Continue the match of this record."""
    adviser: Annotated[str | None, tyro.conf.arg(metavar="NAME")] = None
    """Checkpoint that hints show; the first among the opponents by default."""
    pause: Annotated[float, tyro.conf.arg(metavar="SECONDS")] = 0.4
    """Seconds for which a bot's move is shown."""
    describe: tyro.conf.FlagCreatePairsOff[bool] = False
    """Print the rules of the table and stop."""


def main(arguments: Sequence[str] | None = None, ask: Callable[[str], str] | None = None) -> int:
    """The command; returns the exit status. ``ask`` answers the questions instead of the terminal."""
    return run_command(
        Options,
        lambda options, console: _play(options, console, ask),
        "ohhell play",
        arguments,
        mistakes=(ValueError, OSError),
        page_width=None,
    )


def _play(options: Options, console: Console, ask: Callable[[str], str] | None) -> int:
    if options.describe:
        console.print(describe(options.table_rules()), soft_wrap=True)
        return 0
    session = _session(options, console, ask)
    status = 0
    try:
        session.run()
    except Stopped:
        pass  # where the match stands is said below
    except KeyboardInterrupt:
        status = INTERRUPTED
    over = session.match.game.phase == MATCH_OVER
    then = f"look at it: ohhell view {session.record}"
    if not over:
        then = f"go on: ohhell play --resume {session.record}"
    console.print(Text(f"\nThe match is on record in {session.record}\n{then}", style="bright_black"), soft_wrap=True)
    return status


def _session(options: Options, console: Console, ask: Callable[[str], str] | None) -> Session:
    """A new match, or the one to take up."""
    if options.resume is not None:
        record = options.resume
        match = Match.load(record)
        seating = load_seating(record, match.rules.players)
        if match.game.phase == MATCH_OVER:
            raise ValueError(f"the match of {record} is over; look at it with: ohhell view {record}")
    else:
        rules = options.table_rules()
        if not 0 <= options.seat < rules.players:
            raise ValueError(f"--seat {options.seat} is not a seat; seats are 0..{rules.players - 1}")
        seating = Seating(_seat_opponents(options, rules.players), options.seat, options.seed or 0)
        match = Match(rules, options.seed)
        record = options.record or default_record()
        if record.exists():
            raise ValueError(f"{record} is there already; continue it with --resume {record}, or name another --record")
    others = (spec for seat, spec in enumerate(seating.players) if seat != seating.person)
    trained = (spec for spec in others if not spec.startswith(SEARCH_WITH) and checkpoint_of(spec) is not None)
    adviser = options.adviser or next(trained, None)
    scripted = ask is not None or not sys.stdin.isatty()
    return Session(
        match, seating, record, console, ask or console.input, adviser, pause=0.0 if scripted else options.pause
    )


def _seat_opponents(options: Options, players: int) -> tuple[str, ...]:
    """The specs by seat, "you" at the person's."""
    specs = list(options.opponents)
    if len(specs) == 1:
        specs *= players - 1
    if len(specs) != players - 1:
        raise ValueError(f"--opponents names {len(specs)} players; name one for all seats, or {players - 1}")
    specs.insert(options.seat, "you")
    return tuple(specs)


if __name__ == "__main__":
    sys.exit(main())
