"""`make demo`: one hand as it was played, full four-player matches, a table of the results, and how to read it."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from ohhell_env.arena.tournament import tournament
from ohhell_env.bots import make_bot
from ohhell_env.options import progress, run_command
from ohhell_env.records.match import Match, display_names
from ohhell_env.render.terminal import card_text
from ohhell_env.rules.rules import Rules
from ohhell_env.table.events import HandDealt
from ohhell_env.table.game import Game
from training.publish import best_shipped

PLAYERS = 4
HAND_SIZE = 5  # of the hand that is shown


@dataclass(frozen=True)
class Options:
    """Full matches between the best players that come with the package, the same deals in every seat."""

    deals: int = 16
    """Deals, each replayed with every player in every seat; more take longer and narrow the intervals."""
    rollouts: int = 400
    """Rollouts per decision of the searching player."""
    seed: int = 0
    """Seed of the deals and of the players; the same seed gives the same table."""
    workers: int = 2
    """Processes to play in; they change the time taken and nothing else."""


def contestants(rollouts: int) -> list[str]:
    """Who plays: the best shipped checkpoint, where there is one, and the players that need no training."""
    trained = best_shipped()
    return [*([trained] if trained else []), f"search:{rollouts}", "heuristic", "random"]


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; returns the exit status."""
    return run_command(Options, _run, "python -m training.demo", arguments)


def _run(options: Options, console: Console) -> None:
    from ohhell_env.arena.tables import print_standings

    players = contestants(options.rollouts)
    if len(players) < PLAYERS:
        console.print("No checkpoint is shipped with this version: the players are those that need no training.")
    console.print(hand_table(played_hand(players, options.seed), display_names(players)))
    with progress("playing", options.deals, "deals") as meter, tempfile.TemporaryDirectory() as folder:
        standings = tournament(
            players,
            folder,
            players=PLAYERS,
            deals=options.deals,
            seed=options.seed,
            workers=options.workers,
            on_progress=meter.advance,
        )
    print_standings(standings, console)
    console.print(_how_to_read(players))


def played_hand(players: Sequence[str], seed: int) -> Game:
    """One hand, played to its end by these players; where they are fewer than the seats, the first has two."""
    match = Match(Rules(players=PLAYERS, ramp=(HAND_SIZE,)), seed)
    bots = [make_bot(players[seat % len(players)], seed + seat) for seat in range(PLAYERS)]
    while not match.game.past_hands:
        seat = match.game.player
        assert seat is not None
        match.step(int(bots[seat].act(match)[0]))
    return match.game.past_hands[-1]


def hand_table(hand: Game, names: Sequence[str]) -> Table:
    """A finished hand, a line for each player in the order of bidding: cards, bid, a column for each trick, points."""
    kinds = hand.rules.deck.card_set.names
    dealt = next(event for event in hand.events(None) if isinstance(event, HandDealt))
    assert hand.turned is not None  # the deal leaves cards in the stock
    title = (
        f"One hand first: {hand.hand_size} cards each, {card_text(kinds[hand.turned]).plain} is turned up and its suit "
        "is trump.\nThe columns with numbers are the tricks; ◂ marks the card that takes one."
    )
    table = Table(title=title, title_justify="left", title_style="bold", box=box.SIMPLE_HEAD, pad_edge=False)
    for column in ("player", "hand", "bid", *(str(k + 1) for k in range(hand.hand_size)), "taken", "points"):
        table.add_column(column, justify="left" if column in ("player", "hand") else "right")
    for k in range(1, PLAYERS + 1):
        seat = (hand.dealer + k) % PLAYERS
        cards = Text(" ").join(card_text(kinds[card]) for card in sorted(dealt.cards[seat] or (), reverse=True))
        tricks = []
        for trick in hand.tricks:
            card = card_text(kinds[dict(trick.plays)[seat]])
            tricks.append(card + Text(" ◂", style="yellow") if trick.winner == seat else card + Text("  "))
        name = names[seat % len(names)] + (" (dealer)" if seat == hand.dealer else "")
        table.add_row(name, cards, str(hand.bids[seat]), *tricks, str(hand.taken[seat]), f"{hand.points[seat]:g}")
    return table


def _how_to_read(players: Sequence[str]) -> str:
    best = players[0]
    return f"""
[bold]How to read it[/bold]
A bid made exactly brings 10 points and as many more as were bid, a missed one nothing. "Points per hand" are what a \
player has of them, "above table" is how much more than the mean of its tables: 0 is average. "Wins" are its share of \
the matches won: {100 / PLAYERS:.0f} % is fair. All players had the same cards in every seat, so a difference whose \
interval leaves out zero is skill, not luck.

[bold]What to try next[/bold]
Take a seat:       .venv/bin/ohhell play --opponents {best}
Watch them play:   .venv/bin/ohhell watch {best} heuristic   (in a window)
See your match:    .venv/bin/ohhell view FILE --search 400   (in the browser)
Other tables:      .venv/bin/ohhell rules
Compare two:       .venv/bin/ohhell evaluate {best} --vs heuristic --hands 5
More deals:        .venv/bin/python -m training.demo --deals 100
Train your own:    .venv/bin/ohhell train --help"""


if __name__ == "__main__":
    sys.exit(main())
