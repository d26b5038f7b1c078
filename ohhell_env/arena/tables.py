"""Reports of the arena as tables on the terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from rich import box
from rich.columns import Columns
from rich.console import Console
from rich.table import Table
from rich.text import Text

from ohhell_env.arena.intervals import Estimate
from ohhell_env.arena.report import DifferenceReport, Line, PlayerReport, Report
from ohhell_env.arena.standings import Standings

FEW_DEALS = 30
HEADING_WIDTH = 14  # names of players above columns; the first table has them in full


def print_report(report: Report, console: Console) -> None:
    """Every table of a report, at the console's width."""
    for part in report_parts(report):
        console.print()
        console.print(part)


def report_parts(report: Report) -> list[Any]:
    """The report's tables as rich draws them, in order."""
    players = report.players
    sizes, seats = list(players[0].by_hand_size), list(players[0].by_seat)
    bids = sorted({bid for player in players for bid in player.by_bid})
    parts: list[Any] = [_headline(report), _overall(players), _differences(report.differences)]
    if len(sizes) > 1:
        by_size = _pair("by hand size", "cards", {size: str(size) for size in sizes}, players, "by_hand_size")
        parts.append(_beside(*by_size, _differences_by_size(report.differences, sizes)))
    parts.append(_by_bid(bids, players))
    names = {seat: "dealer" if seat == seats[-1] else f"{seat} left" for seat in seats}
    parts.append(_beside(*_pair("by seat from the dealer", "seat", names, players, "by_seat")))
    note = f"±: half of the 95 % interval, one observation per deal; n: deals, where they are fewer than {FEW_DEALS}."
    parts.append(Text(note, style="dim"))
    return parts


def describe_settings(settings: Mapping[str, Any]) -> str:
    """Table, rules and seed in a line."""
    rules = settings["rules"][0]
    hands = "full matches" if settings["hands"] == "ramp" else f"single hands of {settings['hands']} cards"
    hook = "hook" if rules["hook"] else "no hook"
    return f"{rules['players']} players, {hands}, {rules['bids']} bids, {hook}, seed {settings['seed']}"


def _headline(report: Report) -> Text:
    settings = report.settings
    a, *rest = settings["players"]
    matches = settings["deals"] * settings["seatings"] * len(settings["rules"])
    seating = f"{a} in one seat" if settings["seating"] == "one" else "an opponent in one seat"
    return Text.assemble(
        (a, "bold"), " against ", (", ".join(rest), "bold"), f"\n{describe_settings(settings)}\n",
        f"{settings['deals']:,} deals in {settings['seatings']} seatings each, {seating}: {matches:,} matches",
    )  # fmt: skip


def _overall(players: Sequence[PlayerReport]) -> Table:
    fair = 100 / len(players[0].by_seat)
    table = new_table("Players", "", ["points per hand", "bids made %", f"wins % (fair: {fair:.1f})", "hands"])
    for player in players:
        points, made, wins = player.points.text(), player.made.text(100, 1), player.wins.text(100, 1)
        table.add_row(player.name, points, made, wins, f"{player.hands:,}")
    return table


def _differences(differences: Sequence[DifferenceReport]) -> Table:
    name = differences[0].a
    table = new_table(f"Margin of {name} over", "", ["points per hand", "bids made %", "wins %", "verdict on points"])
    for one in differences:
        verdict = "better" if one.points.low > 0 else "worse" if one.points.high < 0 else "not told apart"
        table.add_row(
            one.b,
            signed(one.points),
            one.made.text(100, 1, sign=True),
            one.wins.text(100, 1, sign=True),
            Text(verdict, style=_colour(one.points)),
        )
    return table


def _pair(title: str, key: str, rows: Mapping[int, str], players: Sequence[PlayerReport], group: str) -> list[Table]:
    """Points and bids made of all players."""
    return [
        _breakdown(f"Points per hand {title}", key, rows, players, group, lambda line: line.points.text()),
        _breakdown(f"Bids made % {title}", key, rows, players, group, lambda line: line.made.text(100, 1)),
    ]


def _by_bid(bids: Iterable[int], players: Sequence[PlayerReport]) -> Columns:
    rows = {bid: str(bid) for bid in bids}
    return _beside(
        _breakdown("Bids made % by bid", "bid", rows, players, "by_bid", lambda line: _few(line.made, 100, 1)),
        _breakdown("Points per hand by bid", "bid", rows, players, "by_bid", lambda line: _few(line.points, 1, 2)),
        _breakdown("How often % each bid", "bid", rows, players, "by_bid", lambda line: f"{line.share.mean:.1%}"[:-1]),
    )


def _few(one: Estimate, scale: float, digits: int) -> str:
    """A mean with its interval, or with the number of deals where these are too few for one to be trusted."""
    return one.text(scale, digits) if one.n >= FEW_DEALS else f"{one.mean * scale:.{digits}f} (n={one.n})"


def _breakdown(
    title: str,
    key: str,
    rows: Mapping[int, str],
    players: Sequence[PlayerReport],
    group: str,
    cell: Callable[[Line], str],
) -> Table:
    table = new_table(title, key, [heading(player.name) for player in players])
    for row, name in rows.items():
        lines = [getattr(player, group).get(row) for player in players]
        table.add_row(name, *(cell(line) if line else "–" for line in lines))
    return table


def _differences_by_size(differences: Sequence[DifferenceReport], sizes: Sequence[int]) -> Table:
    title = f"Margin of {heading(differences[0].a)} over, points"
    table = new_table(title, "cards", [heading(one.b) for one in differences])
    for size in sizes:
        table.add_row(str(size), *(signed(one.by_hand_size[size]) for one in differences))
    return table


def print_standings(standings: Standings, console: Console) -> None:
    """Every table of a tournament, at the console's width."""
    for part in standings_parts(standings, console.width):
        console.print()
        console.print(part)


def standings_parts(standings: Standings, width: int) -> list[Any]:
    """A tournament's tables as rich draws them, in order."""
    replays = standings.settings["rules"][0]["players"] * len(standings.settings["rules"])
    headline = Text.assemble(
        ("Tournament", "bold"),
        f"\n{describe_settings(standings.settings)}\n",
        f"{standings.deals:,} deals in {replays // len(standings.settings['rules'])} seatings each: "
        f"{standings.deals * replays:,} matches",
    )
    note = (
        "Rating: mean and standard deviation of the skill (Plackett-Luce) by each match's final order; start 25 ±8.3. "
        "Other ±: half of the 95 % interval, one observation per deal; between equal players one interval in twenty "
        "excludes zero. Above table: points per hand minus the mean of the player's tables."
    )
    return [headline, _standings_table(standings), _cross_table(standings, width), Text(note, style="dim")]


def _standings_table(standings: Standings) -> Table:
    columns = ["player", "rating", "points per hand", "above table", "bids made %", "wins %", "seats"]
    table = new_table("Standings", "", columns)
    table.columns[1].justify = "left"
    table.columns[1].min_width = min(max(len(player.name) for player in standings.players), HEADING_WIDTH)
    for place, player in enumerate(standings.players):
        table.add_row(
            _letter(place),
            player.name,
            f"{player.rating:.1f} ±{player.deviation:.1f}",
            player.points.text(),
            signed(player.above),
            player.made.text(100, 1),
            player.wins.text(100, 1),
            f"{player.matches:,}",
        )
    return table


def _cross_table(standings: Standings, width: int) -> Table:
    """Row minus column; without the intervals where the terminal is too narrow for them."""
    names = [player.name for player in standings.players]
    intervals = len(names) * 15 + HEADING_WIDTH + 2 <= width
    title = "Points per hand, row minus column" + ("" if intervals else " (* the interval excludes zero)")
    table = new_table(title, "", [_letter(place) for place in range(len(names))])
    for place, name in enumerate(names):
        cells = []
        for other in names:
            if other == name:
                cells.append(Text("·"))
                continue
            one = standings.differences[name, other]
            short = Text(f"{one.mean:+.2f}{'*' if one.clear else ' '}", style=_colour(one))
            cells.append(signed(one) if intervals else short)
        table.add_row(f"{_letter(place)} {heading(name)}", *cells)
    return table


def _letter(place: int) -> str:
    return chr(ord("A") + place) if place < 26 else f"A{chr(ord('A') + place - 26)}"


def _beside(*tables: Table) -> Columns:
    """As many tables beside each other as the terminal has room for."""
    return Columns(tables, padding=(1, 4))


def new_table(title: str, key: str, columns: Iterable[str]) -> Table:
    """A table with one column of names and others of numbers."""
    table = Table(title=title, title_justify="left", title_style="bold", box=box.SIMPLE_HEAD, min_width=len(title))
    table.show_edge = table.pad_edge = False
    table.add_column(key, overflow="fold")
    for column in columns:
        table.add_column(column, justify="right", overflow="fold")
    return table


def heading(name: str) -> str:
    """A player's name cut to the width of a column; its end tells more than its beginning."""
    return name if len(name) <= HEADING_WIDTH else "…" + name[1 - HEADING_WIDTH :]


def signed(one: Estimate, digits: int = 2) -> Text:
    """A difference in points, coloured where it is clear."""
    return Text(one.text(digits=digits, sign=True), style=_colour(one))


def _colour(one: Estimate) -> str:
    return ("green" if one.mean > 0 else "red") if one.clear else ""
