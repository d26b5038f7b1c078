"""`ohhell watch`: watch bots play, in a window, or as a picture or an animation."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Annotated, Any

import tyro
from rich.console import Console

from ohhell_env.bots import make_bot
from ohhell_env.files import whole_file
from ohhell_env.kernel.state import MATCH_OVER
from ohhell_env.notice import if_slow
from ohhell_env.options import RulesOptions, run_command
from ohhell_env.records.match import Match, Seating, display_names, save_match
from ohhell_env.render.scene import Scene, scene_of
from ohhell_env.table.game import TABLE_VIEWER, Viewer

KEYS = "space: stop and go   right: one step   up and down: faster and slower   q: close"
GIF_WIDTH = 800
HAND_OVER_FRAMES = 3  # how many frames a finished hand stays


def play_steps(match: Match, players: Sequence[str], seed: int) -> Iterator[bool]:
    """Play a match, one action a turn; yields whether a hand has just ended."""
    bots = [make_bot(spec, seed + seat) for seat, spec in enumerate(players)]
    while match.game.phase != MATCH_OVER:
        seat = match.game.player
        assert seat is not None
        with if_slow(f"{players[seat]} is thinking ..."):
            action = int(bots[seat].act(match)[0])
        yield match.step(action)


def scenes(
    match: Match, players: Sequence[str], seed: int = 0, viewer: Viewer = None, first_hand: int = 1, totals: bool = True
) -> Iterator[Scene]:
    """What a spectator sees: the table before each action, each finished hand, and the end.

    Args:
        match: a match that has just begun; it is played to its end as the scenes are taken.
        players: spec of each seat's player.
        seed: of the players.
        viewer: the seat whose view it is; "table" sees no hands; None sees everything.
        first_hand: the hand with which the scenes begin; those before are played unseen.
        totals: whether the totals of the match are shown.
    """
    names = display_names(players)
    if match.game.hand_number >= first_hand:
        yield scene_of(match.game, viewer, names, totals)
    for ended in play_steps(match, players, seed):
        game = match.game
        if ended and game.phase != MATCH_OVER and game.past_hands[-1].hand_number >= first_hand:
            yield scene_of(game.past_hands[-1], viewer, names, totals)
        if game.hand_number >= first_hand:
            yield scene_of(game, viewer, names, totals)


def save_picture(scene: Scene, path: Path, width: int) -> None:
    """One scene as a file, whole or not at all; the name's ending says of which kind (.png)."""
    from ohhell_env.render.paint import pygame
    from ohhell_env.render.table import TablePainter

    with whole_file(path) as temporary:
        pygame.image.save(TablePainter(width).draw(scene), str(temporary))


def save_animation(shown: Iterator[Scene], path: Path, fps: float, width: int = GIF_WIDTH) -> int:
    """Scenes as an animated GIF, whole or not at all; returns how many.

    Raises:
        ModuleNotFoundError: without Pillow, which the extra ``render`` installs.
        ValueError: if there is no scene.
    """
    try:
        from PIL import Image
    except ModuleNotFoundError:
        raise ModuleNotFoundError('animations need Pillow: pip install "ohhell-env[render]"', name="PIL") from None
    from ohhell_env.render.table import TablePainter

    painter = TablePainter(width)
    frames: list[Any] = []
    times: list[int] = []
    palette: Any = None
    for scene in shown:
        picture = Image.fromarray(painter.frame(scene))
        palette = palette or _palette(picture)  # one for all: colours do not flicker from frame to frame
        frames.append(picture.quantize(palette=palette, dither=Image.Dither.NONE))
        times.append(round(1000 / fps * (HAND_OVER_FRAMES if "over" in scene.phase else 1)))
    if not frames:
        raise ValueError("there is nothing to show: the match has no such hand or action")
    with whole_file(path) as temporary:
        frames[0].save(
            temporary, "GIF", save_all=True, append_images=frames[1:], duration=times, loop=0, optimize=False
        )
    return len(frames)


def _palette(picture: Any) -> Any:
    """A palette of a scene's colours, and of those that later scenes will need."""
    from ohhell_env.render.faces import NAVY, SKIN
    from ohhell_env.render.paint import CREAM, GOLD, GREEN, INK, MUTED, RED, ROSE

    needed = (GOLD, GREEN, ROSE, RED, INK, CREAM, MUTED, NAVY, SKIN)
    sample = picture.resize((len(needed) * 64, 2 * picture.height))
    for k, colour in enumerate(needed):
        sample.paste(colour, (k * 64, picture.height, (k + 1) * 64, 2 * picture.height))
    return sample.quantize(160)


def show_window(shown: Iterator[Scene], fps: float) -> None:
    """Scenes in a window, paced, until the last one or until it is closed; see `KEYS`."""
    from ohhell_env.render.paint import pygame
    from ohhell_env.render.window import TableWindow

    window = TableWindow(fps)
    stopped = False
    for scene in shown:
        events = window.show(scene)
        if "over" in scene.phase:
            events += window.wait((HAND_OVER_FRAMES - 1) / window.fps)
        while not window.closed:
            keys = [event.key for event in events if event.type == pygame.KEYDOWN]
            if pygame.K_q in keys or pygame.K_ESCAPE in keys:
                window.close()
            stopped ^= pygame.K_SPACE in keys
            window.fps *= 1.4 ** (keys.count(pygame.K_UP) - keys.count(pygame.K_DOWN))
            if not stopped or pygame.K_RIGHT in keys:
                break
            events = window.wait(3600)
        if window.closed:
            return
    window.wait(3600)  # the last scene stays until it is closed
    window.close()


# --- The command -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Options(RulesOptions):
    """Watch bots or checkpoints play Oh Hell!: in a window, or as a picture or an animation."""

    bots: tyro.conf.Positional[Annotated[tuple[str, ...], tyro.conf.arg(metavar="PLAYER ...")]]
    """Players: random, heuristic, search:N, checkpoints/NAME, ...; if fewer than seats, they take seats in turn."""
    seed: int = 0
    """Seed of the deals and of the players."""
    viewer: Annotated[str | None, tyro.conf.arg(metavar="SEAT|table")] = None
    """See what this seat sees, or with "table" no hands at all; everything by default."""
    hide_totals: tyro.conf.FlagCreatePairsOff[bool] = False
    """Do not show the totals of the match."""
    hand: Annotated[int, tyro.conf.arg(metavar="K")] = 1
    """Begin with this hand."""
    scenes: Annotated[int | None, tyro.conf.arg(metavar="N")] = None
    """Stop after this many scenes (actions, and the end of each hand)."""
    fps: float = 2.0
    """Scenes a second."""
    save: Annotated[Path | None, tyro.conf.arg(metavar="FILE.png")] = None
    """No window: save the last scene as a picture."""
    gif: Annotated[Path | None, tyro.conf.arg(metavar="FILE.gif")] = None
    """No window: save the scenes as an animation."""
    width: Annotated[int | None, tyro.conf.arg(metavar="PIXELS")] = None
    """Width of the picture (1280 by default) or the animation (800)."""
    record: Annotated[Path | None, tyro.conf.arg(metavar="FILE")] = None
    """Write the record of the match as far as it was played."""


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; returns the exit status."""
    mistakes = (ValueError, OSError, ModuleNotFoundError)
    return run_command(Options, _watch, "ohhell watch", arguments, mistakes, page_width=None)


def _watch(options: Options, console: Console) -> None:
    if not options.bots:
        raise ValueError("nobody plays: name at least one player, as in ohhell watch heuristic")
    rules = options.table_rules()
    viewer: Viewer = options.viewer
    if options.viewer is not None and options.viewer.isdecimal():
        viewer = int(options.viewer)
    if viewer not in (None, TABLE_VIEWER, *range(rules.players)):
        raise ValueError(
            f"--viewer {options.viewer} is not a seat; seats are 0..{rules.players - 1}, or {TABLE_VIEWER}: no hands"
        )
    if not 1 <= options.hand <= rules.num_hands:
        raise ValueError(f"--hand {options.hand} is not a hand of this match; use 1 to {rules.num_hands}")
    if len(options.bots) > rules.players:
        raise ValueError(f"{len(options.bots)} players for {rules.players} seats")
    if options.fps <= 0 or (options.scenes is not None and options.scenes < 1):
        raise ValueError("--fps must be above 0 and --scenes 1 or more")
    players = tuple(options.bots[seat % len(options.bots)] for seat in range(rules.players))
    match = Match(rules, options.seed)
    shown = islice(scenes(match, players, options.seed, viewer, options.hand, not options.hide_totals), options.scenes)
    if options.gif is not None:
        count = save_animation(shown, options.gif, options.fps, options.width or GIF_WIDTH)
        console.print(f"{options.gif}: {count} scenes")
    elif options.save is not None:
        *_, last = shown
        save_picture(last, options.save, options.width or 1280)
        console.print(f"{options.save}: {last.status()}, hand {last.hand_number} of {last.num_hands}")
    else:
        console.print(KEYS, style="bright_black")
        show_window(shown, options.fps)
    if options.record is not None:
        save_match(match, Seating(players, None, options.seed), options.record)
        console.print(f"{options.record}: the match as far as it was played")


if __name__ == "__main__":
    sys.exit(main())
