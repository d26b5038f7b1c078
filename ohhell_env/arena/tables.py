"""Reports of the arena as tables on the terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields
from typing import Any

from rich import box
from rich.columns import Columns
from rich.console import Console
from rich.table import Table
from rich.text import Text

from ohhell_env.arena.intervals import Estimate
from ohhell_env.arena.report import DifferenceReport, Line, PlayerReport, Report
from ohhell_env.arena.standings import Standings
from ohhell_env.rules.presets import short_value
from ohhell_env.rules.rules import Rules

FEW_DEALS = 30
NAME_WIDTH = 14  # players' names may be folded to this width where there is no room for more


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
    lowest = Rules.from_json(report.settings["rules"][0]).lowest
    parts: list[Any] = [_headline(report), _overall(players)]
    if players[0].together is not None:
        parts.append(_together(players))
    parts.append(_differences(report.differences, players[0].together is not None))
    if len(sizes) > 1:
        by_size = _pair("by hand size", "cards", {size: str(size) for size in sizes}, players, "by_hand_size")
        parts.append(_beside(*by_size, _differences_by_size(report.differences, sizes, lowest)))
    if bids:
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
    told = f"{rules['players']} players, {hands}, {rules['bids']} bids, {hook}, seed {settings['seed']}"
    more = other_options(Rules.from_json(rules), settings["hands"] == "ramp")
    return f"{told}\nRules: {', '.join(more)}" if more else told


def other_options(rules: Rules, with_ramp: bool = True) -> list[str]:
    """What is not said by players, bids and hook: ``["scoring=blob", "trump=none"]``."""
    base = Rules(players=rules.players, bids=rules.bids, hook=rules.hook)
    names = [option.name for option in fields(Rules) if getattr(rules, option.name) != getattr(base, option.name)]
    values = {name: short_value(getattr(rules, name)) for name in names if name != "ramp" or with_ramp}
    return [f"{name}={value}" for name, value in values.items()]


def _headline(report: Report) -> Text:
    settings = report.settings
    a, *rest = settings["players"]
    matches = settings["deals"] * settings["seatings"] * len(settings["rules"])
    seating = {
        "one": f"{a} in one seat",
        "many": "an opponent in one seat",
        "table": "each player at a table of its own",
    }[settings["seating"]]
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


def _together(players: Sequence[PlayerReport]) -> Table:
    """What cooperative tables came to."""
    columns = ["hands made %", "in the first deal %", "deals per hand"]
    table = new_table("Tables at which all want every bid made", "", columns)
    for player in players:
        shared = player.together
        assert shared is not None
        table.add_row(player.name, shared.hands_made.text(100, 1), shared.first_deals.text(100, 1), shared.deals.text())
    return table


def _differences(differences: Sequence[DifferenceReport], cooperative: bool) -> Table:
    name = differences[0].a
    on = "made in the first deal %" if cooperative else "points per hand"
    columns = [on, "bids made %", "wins %", f"verdict on {'hands made' if cooperative else 'points'}"]
    table = new_table(f"Margin of {name} over", "", columns)
    for one in differences:
        verdict = "better" if one.value.low > 0 else "worse" if one.value.high < 0 else "not told apart"
        shown = one.value if cooperative else one.points
        table.add_row(
            one.b,
            Text(shown.text(sign=True), style=_colour(one.value)),
            one.made.text(100, 1, sign=True),
            one.wins.text(100, 1, sign=True),
            Text(verdict, style=_colour(one.value)),
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


def _differences_by_size(differences: Sequence[DifferenceReport], sizes: Sequence[int], lowest: bool) -> Table:
    title = f"Margin of {heading(differences[0].a)} over, points"
    table = new_table(title, "cards", [heading(one.b) for one in differences])
    for size in sizes:
        table.add_row(str(size), *(signed(one.by_hand_size[size], lowest=lowest) for one in differences))
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
        "±: half of the 95 % interval, one observation per deal; between equal players one interval in twenty "
        "excludes zero. Above table: points per hand minus the mean of the player's tables."
    )
    if not standings.cooperative:
        note = (
            "Rating: mean and standard deviation of the skill (Plackett-Luce) by each match's final order; start "
            f"25 ±8.3. Other {note}"
        )
    return [headline, _standings_table(standings), _cross_table(standings, width), Text(note, style="dim")]


def _standings_table(standings: Standings) -> Table:
    measure = "hands made %" if standings.cooperative else "rating"
    columns = ["player", measure, "points per hand", "above table", "bids made %", "wins %", "seats"]
    table = new_table("Standings", "", columns)
    table.columns[1].justify = "left"
    table.columns[1].min_width = min(max(len(heading(player.name)) for player in standings.players), 2 * NAME_WIDTH)
    for place, player in enumerate(standings.players):
        table.add_row(
            _letter(place),
            heading(player.name),
            player.hands_made.text(100, 1) if player.hands_made else f"{player.rating:.1f} ±{player.deviation:.1f}",
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
    intervals = len(names) * 15 + NAME_WIDTH + 2 <= width
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
    """A player's name above a column, where a shipped checkpoint needs no folder; long ones are folded, not cut."""
    return name.removeprefix("checkpoints/")


def signed(one: Estimate, digits: int = 2, lowest: bool = False) -> Text:
    """A difference in points, coloured where it is clear: green where it is better."""
    return Text(one.text(digits=digits, sign=True), style=_colour(one, lowest))


def _colour(one: Estimate, lowest: bool = False) -> str:
    return ("green" if (one.mean > 0) != lowest else "red") if one.clear else ""
