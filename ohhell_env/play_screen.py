"""The table in a terminal, for the person who plays: seats, hand, what happened, hints, results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rich import box
from rich.table import Table
from rich.text import Text

from ohhell_env.cards import SUIT_NAMES, SUIT_SYMBOLS, SUITS, card_name
from ohhell_env.game import (
    BidMade,
    BidsShown,
    CardPlayed,
    Event,
    Game,
    Said,
    SuitNamed,
    TrickTaken,
    TrumpMade,
    action_text,
)
from ohhell_env.render.scene import Scene, by_suit, face_of, sorted_names

RED, DIM, GOOD, BAD, MARK = "red", "bright_black", "green", "red", "yellow"


def card_text(name: str, style: str = "") -> Text:
    """A card with its suit's symbol, red suits in red: ``10♦``."""
    face = face_of(name)
    if face.suit is None:
        return Text(name, style=style or "magenta")
    return Text(face.index + SUIT_SYMBOLS[face.suit], style=style or (RED if SUITS[face.suit] in "DH" else ""))


def heading(scene: Scene) -> Text:
    """Hand, cards, trump, and how the bids stand to the tricks."""
    text = Text(f"Hand {scene.hand_number} of {scene.num_hands}", style="bold")
    text.append(f"   {scene.hand_size} card{'s' * (scene.hand_size != 1)}   ", style="not bold")
    if scene.trump is None:
        text.append("no trump", style="not bold")
    else:
        text.append("trump ", style="not bold").append(SUIT_NAMES[scene.trump], style="bold " + MARK)
    if scene.turned is not None:
        text.append(" (", style="not bold").append_text(card_text(scene.turned)).append(" turned up)", style="not bold")
    if scene.bid_total is not None:
        text.append(f"   {scene.bid_total} bid for {scene.hand_size}", style="not bold")
    return text


def seats_table(scene: Scene) -> Table:
    """Everybody's bid, tricks, need, card in the trick and total, from the seat left of the viewer on."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("")
    table.add_column("player", min_width=12)
    for name in ("bid", "taken", "needs", "trick", "total"):
        table.add_column(name, justify="right", min_width=5)
    played = dict(scene.trick.plays)
    players = len(scene.seats)
    for k in range(1, players + 1):
        seat = ((scene.viewer or 0) + k) % players
        one = scene.seats[seat]
        card = card_text(played[seat]) if seat in played else Text("")
        if seat in played and seat == scene.trick.winner:
            card.append(" ◂", style=MARK)
        need = Text("" if one.need is None or scene.phase == "bid" else str(one.need))
        need.stylize(GOOD if one.need == 0 else BAD if (one.need or 0) < 0 else "")
        bid = "sealed" if one.bid == "hidden" else "" if one.bid is None else str(one.bid)
        who = Text(one.name, style="bold" if seat == scene.viewer else "")
        table.add_row("D" if one.dealer else "", who, bid, str(one.taken), need, card, f"{one.score:g}")
    return table


def hand_line(scene: Scene, playable: frozenset[str] | None) -> Text:
    """The viewer's hand by suits; with ``playable``, cards that may not be played now are dim."""
    text = Text("Your hand  ", style=DIM)
    cards = scene.seats[scene.viewer or 0].cards
    if None in cards:
        return text.append(f"{len(cards)} cards, face down")
    for suit, names in by_suit((name for name in cards if name is not None), scene.trump):
        for name in names:
            shut = playable is not None and name not in playable
            style = DIM if shut else ("bold red" if suit in (1, 2) else "bold")
            text.append_text(card_text(name, style)).append(" ")
        text.append("  ")
    return text


def trick_line(scene: Scene) -> Text | None:
    """The last finished trick in the order played, and who took it."""
    if scene.last_trick is None:
        return None
    text = Text("Last trick ", style=DIM)
    for seat, name in scene.last_trick.plays:
        mark = MARK if seat == scene.last_trick.winner else DIM
        text.append(scene.seats[seat].name + " ", style=mark).append_text(card_text(name))
        text.append(" ◂  " if seat == scene.last_trick.winner else "  ", style=mark)
    return text


def choices_line(scene: Scene, legal: Sequence[int]) -> Text:
    """What is open to the viewer, in words to type."""
    words = [action_text(action) for action in legal]
    verbs = {word.partition(" ")[0] for word in words}
    if verbs == {"play"}:
        names = sorted_names([word.partition(" ")[2] for word in words], scene.trump)
        return Text("You play   ", style=DIM).append(" ".join(names), style="none")
    if verbs == {"bid"}:
        bids = [int(word.partition(" ")[2]) for word in words]
        line = Text("You bid    ", style=DIM).append(" ".join(map(str, bids)))
        shut = [bid for bid in range(scene.hand_size + 1) if bid not in bids]
        return line.append(f"   (not {', '.join(map(str, shut))})", style=DIM) if shut else line
    return Text("You choose ", style=DIM).append(", ".join(words))


def event_text(event: Event, names: Sequence[str]) -> Text | None:
    """What happened, in a line; None for what the next screen says anyway."""
    match event:
        case BidMade(seat, bid):
            bids = "bid" if names[seat] == "you" else "bids"
            return Text(f"  {names[seat]} {bids} {'(sealed)' if bid is None else bid}", style=DIM)
        case BidsShown():
            return Text("  bids are shown", style=DIM)
        case CardPlayed(seat, card):
            verb = "play" if names[seat] == "you" else "plays"
            return Text(f"  {names[seat]} {verb} ", style=DIM).append_text(card_text(card_name(card)))
        case TrickTaken(None):
            return Text("  nobody takes the trick: the next one counts for it too", style=MARK)
        case TrickTaken(int(seat)):
            return Text(f"  {names[seat]} {'take' if names[seat] == 'you' else 'takes'} the trick", style=MARK)
        case Said(seat, what, bid):
            blind = f"bid{'' if names[seat] == 'you' else 's'} blind" + (" (sealed)" if bid is None else f" {bid}")
            return Text(f"  {names[seat]}: {blind if what == 'blind' else what}", style=DIM)
        case TrumpMade(trump, seat):
            suit = "no trump" if trump is None else SUIT_NAMES[trump]
            return Text(f"  trump: {suit}" if seat is None else f"  {names[seat]}: trump is {suit}", style=MARK)
        case SuitNamed(seat, suit):
            return Text(f"  {names[seat]}: the joker is of {SUIT_NAMES[suit]}", style=MARK)
        case _:
            return None


def result_table(hand: Game, names: Sequence[str], totals: Sequence[float]) -> Table:
    """A finished hand: bids, tricks, points, totals."""
    title = f"Hand {hand.hand_number} of {hand.num_hands} is over"
    table = Table(title=title, title_justify="left", title_style="bold", box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("player", min_width=max(12, len(title) - 28))
    for name in ("bid", "taken", "points", "total"):
        table.add_column(name, justify="right", min_width=5)
    for seat, name in enumerate(names):
        bid, taken, points = hand.bids[seat], hand.taken[seat], hand.points[seat]
        colour = GOOD if points > 0 else BAD if bid != taken else ""
        made = "" if bid is None else str(bid)
        table.add_row(name, made, str(taken), Text(f"{points:+g}", style=colour), f"{totals[seat]:g}")
    return table


def hint_table(
    legal: Sequence[int], searched: Mapping[int, float], chances: Mapping[int, float] | None, adviser: str
) -> Table:
    """What the search expects of each action, and how likely a policy is to take it; the best first."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("", min_width=10)
    table.add_column("points by search", justify="right")
    if chances is not None:
        table.add_column(f"{adviser} would", justify="right")
    best = max(searched.values())
    likely = None if chances is None else max(chances.values())
    for action in sorted(legal, key=lambda one: -searched[one]):
        worth = searched[action]
        cells = [Text(action_text(action)), Text(f"{round(worth, 1) + 0.0:.1f}", style=GOOD if worth == best else "")]
        if chances is not None:
            cells.append(Text(f"{chances[action]:.0%}", style=GOOD if chances[action] == likely else ""))
        table.add_row(*cells)
    return table
