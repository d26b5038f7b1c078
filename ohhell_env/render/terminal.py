"""The table in a terminal, for the person who plays: seats, hand, what happened, hints, results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rich import box
from rich.table import Table
from rich.text import Text

from ohhell_env.render.scene import Scene, by_suit, face_of, sorted_cards
from ohhell_env.rules.cards import SUIT_NAMES, SUIT_SYMBOLS, SUITS, CardSet
from ohhell_env.table.actions import short_text
from ohhell_env.table.events import (
    BidMade,
    BidsShown,
    CardPlayed,
    CardShown,
    CardsSeen,
    Event,
    Said,
    SuitNamed,
    TrickTaken,
    TrumpMade,
)
from ohhell_env.table.game import Game, Viewer

RED, DIM, GOOD, BAD, MARK = "red", "bright_black", "green", "red", "yellow"


def card_text(name: str, style: str = "") -> Text:
    """A card with its suit's symbol, red suits in red: ``10♦``; a joker as ``★1``."""
    face = face_of(name)
    if face.suit is None:
        return Text(name.replace("*", "★"), style=style or "magenta")
    return Text(face.index + SUIT_SYMBOLS[face.suit], style=style or (RED if SUITS[face.suit] in "DH" else ""))


def choice_text(words: str) -> str:
    """An action as text as the screen shows it, cards as `card_text` does: ``play 10♦``, ``bid 3``."""
    name = short_text(words)
    if not words.startswith("play ") or name.isdigit():
        return words
    return f"play {card_text(name).plain}"


def short_choice(words: str) -> str:
    """The shortest text to type for an action, as the screen shows it: ``10♦``, ``3``, ``hearts``."""
    short = short_text(words)
    return choice_text(words).removeprefix("play ") if words.startswith("play ") and not short.isdigit() else short


def seats_from_left(viewer: int | None, players: int) -> list[int]:
    """The order of seats in every table on the screen: from the viewer's left on, the viewer last."""
    return [((viewer or 0) + k) % players for k in range(1, players + 1)]


def heading(scene: Scene) -> Text:
    """Hand, cards, trump, and how the bids stand to the tricks."""
    text = Text(f"Hand {scene.hand_number} of {scene.num_hands}", style="bold")
    text.append(f"   {scene.size_text}   ", style="not bold")
    word, _, suit = scene.trump_text.partition(" ")
    text.append(f"{word} ", style="not bold").append(suit, style="not bold" if scene.trump is None else "bold " + MARK)
    card, how = (scene.turned, "turned up") if scene.turned is not None else (scene.shown, "shown, in play")
    if card is not None:
        text.append(" (", style="not bold").append_text(card_text(card)).append(f" {how})", style="not bold")
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
    for seat in seats_from_left(scene.viewer, len(scene.seats)):
        one = scene.seats[seat]
        card = card_text(played[seat]) if seat in played else Text("")
        if seat in played and seat == scene.trick.winner:
            card.append(" ◂", style=MARK)
        need = need_text(one.need)
        if scene.bidding:
            need = Text()
        who = Text(one.name, style="bold" if seat == scene.viewer else "")
        total = "" if one.score is None else f"{one.score:g}"
        table.add_row("D" if one.dealer else "", who, one.bid_text, str(one.taken), need, card, total)
    return table


def need_text(need: int | None) -> Text:
    """Tricks still to take for the bid: "2", "made", "over by 1"."""
    if need is None:
        return Text()
    if need < 0:
        return Text(f"over by {-need}", style=BAD)
    return Text(str(need), style="" if need else GOOD)


def _cards_text(text: Text, names: Sequence[str], playable: Sequence[str] | None = None) -> Text:
    """Sorted cards by suits; with ``playable``, the others are dim."""
    for suit, cards in by_suit(names):
        for name in cards:
            shut = playable is not None and name not in playable
            style = DIM if shut else ("bold red" if suit in (1, 2) else "bold")
            text.append_text(card_text(name, style)).append(" ")
        text.append("  ")
    return text


def hand_line(scene: Scene, words: Sequence[str]) -> Text:
    """The viewer's hand by suits, or by its positions; cards that none of the words play are dim."""
    text = Text("Your hand  ", style=DIM)
    seat = scene.seats[scene.viewer or 0]
    playable = [short_text(word) for word in words] if any(word.startswith("play ") for word in words) else None
    for position in seat.positions:
        text.append(f"[{position}] ", style="bold" if playable is None or str(position) in playable else DIM)
    if seat.positions:
        return text.append("face down")
    if None in seat.cards:
        return text.append(f"{len(seat.cards)} card{'s' * (len(seat.cards) != 1)}, face down")
    return _cards_text(text, [name for name in seat.cards if name is not None], playable)


def face_up_lines(scene: Scene) -> list[Text]:
    """The other hands that lie face up to the viewer."""
    lines = []
    for k in range(1, len(scene.seats)):
        seat = scene.seats[((scene.viewer or 0) + k) % len(scene.seats)]
        names = [name for name in seat.cards if name is not None]
        if names:
            lines.append(_cards_text(Text(f"{seat.name} holds  ", style=DIM), names))
    return lines


def trick_line(scene: Scene) -> Text | None:
    """The last finished trick in the order played, and who took it."""
    if scene.last_trick is None:
        return None
    text = Text("Last trick ", style=DIM)
    for seat, name in scene.last_trick.plays:
        mark = MARK if seat == scene.last_trick.winner else DIM
        text.append(scene.seats[seat].name + " ", style=mark).append_text(card_text(name))
        text.append(" ◂  " if seat == scene.last_trick.winner else "  ", style=mark)
    return text.append("taken by nobody" if scene.last_trick.winner is None else "", style=DIM)


def choices_line(scene: Scene, words: Sequence[str], why: str = "") -> Text:
    """The viewer's choices as they are to be typed, from the texts of its legal actions.

    ``why`` is said of bids that are not open.
    """
    short = [short_text(word) for word in words]
    if scene.phase == "play":
        held = [name for name in dict.fromkeys(scene.seats[scene.viewer or 0].cards) if name in short]
        shown = [card_text(name).plain for name in held if name] or short
        return Text("You play   ", style=DIM).append(" ".join(shown), style="none")
    if scene.phase == "bid":
        line = Text("You bid    ", style=DIM).append(" ".join(short))
        shut = [str(bid) for bid in range(scene.hand_size + 1) if str(bid) not in short]
        return line.append(f"   (not {', '.join(shut)}{why})", style=DIM) if shut else line
    if scene.phase == "blind":
        return Text("You may bid blind ", style=DIM).append(f"{' '.join(short[:-1])}, or pass")
    return Text("You choose ", style=DIM).append(", ".join(short))


def event_text(event: Event, names: Sequence[str], viewer: Viewer, card_set: CardSet) -> Text | None:
    """What happened, in a line for a viewer; None for what the next screen shows anyway."""
    own = viewer if isinstance(viewer, int) else None

    def does(seat: int, verb: str, ending: str = "s") -> str:
        return f"  {names[seat]} {verb}{'' if names[seat] == 'you' else ending}"

    match event:
        case BidMade(seat, bid):
            return Text(f"{does(seat, 'bid')} {'(sealed)' if bid is None else bid}", style=DIM)
        case BidsShown():
            return Text("  bids are shown", style=DIM)
        case CardPlayed(seat, card):
            return Text(f"{does(seat, 'play')} ", style=DIM).append_text(card_text(card_set.names[card]))
        case CardShown(card):
            return Text("  ", style=DIM).append_text(card_text(card_set.names[card])).append(" is shown")
        case CardsSeen(cards) if own is not None and cards[own] is not None:
            held = sorted_cards(cards[own] or (), card_set)
            return _cards_text(Text("  you see your cards: ", style=DIM), [card_set.names[card] for card in held])
        case TrickTaken(None):
            return Text("  nobody takes the trick: the next one counts for it too", style=MARK)
        case TrickTaken(int(seat)):
            return Text(f"{does(seat, 'take')} the trick", style=MARK)
        case Said(seat, "blind", bid):
            return Text(f"{does(seat, 'bid')} blind {'(sealed)' if bid is None else bid}", style=DIM)
        case Said(seat, "nil", _):
            return Text(f"{does(seat, 'go', 'es')} nil", style=DIM)
        case Said(seat, _, _):
            return Text(does(seat, "pass", "es"), style=DIM)
        case TrumpMade(trump, seat):
            suit = "no trump" if trump is None else SUIT_NAMES[trump]
            return Text(f"  trump: {suit}" if seat is None else f"{does(seat, 'name')} trump: {suit}", style=MARK)
        case SuitNamed(seat, suit):
            return Text(f"{does(seat, 'name')} the joker's suit: {SUIT_NAMES[suit]}", style=MARK)
        case _:
            return None


def result_table(hand: Game, names: Sequence[str], totals: Sequence[float], viewer: int | None = None) -> Table:
    """A finished hand: bids, tricks, points, totals; seats in the order of `seats_table`."""
    title = f"Hand {hand.hand_number} of {hand.num_hands} is over"
    title += ": a bid was missed, so nobody scores" if hand.failed else ""
    table = Table(title=title, title_justify="left", title_style="bold", box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("player", min_width=max(12, min(len(title), 60) - 28))
    for name in ("bid", "taken", "points", "total"):
        table.add_column(name, justify="right", min_width=5)
    for seat in seats_from_left(viewer, len(names)):
        bid, taken, points = hand.bids[seat], hand.taken[seat], hand.points[seat]
        made = "" if bid is None else str(bid)
        who = Text(names[seat], style="bold" if seat == viewer else "")
        table.add_row(who, made, str(taken), Text(f"{points:+g}", style=_colour(hand, seat)), f"{totals[seat]:g}")
    return table


def _colour(hand: Game, seat: int) -> str:
    """Green for a hand that brought points, red for a bid that was missed."""
    return GOOD if hand.points[seat] > 0 else BAD if hand.bids[seat] != hand.taken[seat] else ""


def score_sheet(hands: Sequence[Game], names: Sequence[str], viewer: int | None = None) -> Table:
    """Every finished hand by itself: each seat's bid, tricks taken and total after it."""
    table = Table(title="bid/taken total", title_justify="left", title_style=DIM, box=box.SIMPLE_HEAD, pad_edge=False)
    for name in ("hand", "cards"):
        table.add_column(name, justify="right")
    table.add_column("trump")
    seats = seats_from_left(viewer, len(names))
    for seat in seats:
        table.add_column(Text(names[seat], style="bold" if seat == viewer else ""), justify="right")
    for hand in hands:
        trump = "none" if hand.trump is None else SUIT_SYMBOLS[hand.trump]
        cells = []
        for seat in seats:
            bid = "–" if hand.bids[seat] is None else str(hand.bids[seat])
            cells.append(Text(f"{bid}/{hand.taken[seat]} ").append(f"{hand.scores[seat]:g}", style=_colour(hand, seat)))
        table.add_row(str(hand.hand_number), str(hand.hand_size), trump, *cells)
    return table


def hint_table(game: Game, searched: Mapping[int, float], chances: Mapping[int, float] | None, adviser: str) -> Table:
    """What the search expects of each action, and how likely a policy is to take it; the best first."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("", min_width=10)
    table.add_column("points by search", justify="right")
    if chances is not None:
        table.add_column(f"{adviser} would", justify="right")
    best = max(searched.values())
    likely = None if chances is None else max(chances.values())
    for action in sorted(searched, key=lambda one: -searched[one]):
        worth = searched[action]
        cells = [
            Text(choice_text(game.action_text(action))),
            Text(f"{round(worth, 1) + 0.0:.1f}", style=GOOD if worth == best else ""),
        ]
        if chances is not None:
            cells.append(Text(f"{chances[action]:.0%}", style=GOOD if chances[action] == likely else ""))
        table.add_row(*cells)
    return table
