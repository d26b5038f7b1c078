"""``ohhell COMMAND ...``, or ``python -m ohhell_env COMMAND ...``: every tool of the package by one command."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from difflib import get_close_matches
from importlib import import_module
from importlib.util import find_spec

from ohhell_env import __version__

COMMANDS = {
    "play": ("ohhell_env.commands.play", "take a seat at a table in the terminal"),
    "watch": ("ohhell_env.commands.watch", "watch bots and checkpoints play, in a window or as pictures"),
    "serve": ("ohhell_env.commands.serve", "open tables in the browser, for people and bots"),
    "view": ("ohhell_env.commands.view", "make a web page of a recorded match"),
    "record": ("ohhell_env.commands.record", "play matches between bots and write them as an offline dataset"),
    "rules": ("ohhell_env.commands.rules", "list the presets, describe a table, write a file of rules"),
    "evaluate": ("ohhell_env.arena.evaluate", "measure one player against others on the same deals"),
    "bench": ("ohhell_env.arena.bench.command", "measure a player by OhHell-Bench, the standard figures"),
    "tournament": ("ohhell_env.arena.tournament", "rate many players at mixed tables"),
    "speed": ("ohhell_env.speed", "measure the speed of the simulator and the environments"),
    "train": ("training.train", "train a policy by self-play"),
    "distil": ("training.distil", "make a fast policy from a trained one"),
    "equity": ("training.equity", "fit the chance of winning a match from how it stands"),
    "best-response": ("training.best_response", "measure what an exploiter gains against a player"),
    "bakeoff": ("training.bakeoff", "compare the learners at equal CPU time"),
    "publish": ("training.publish", "turn a run's checkpoint into one to ship"),
    "plots": ("training.plots", "draw the curves of a training run"),
}
"""The commands: name -> (module with a ``main(arguments)``, what it is for). Those of ``training`` need a checkout."""

CHECKOUT = "training."  # modules that the installed package does not have
USAGE_ERROR = 2


def usage() -> str:
    """What ``ohhell --help`` prints."""
    lines = {name: f"  {name:14} {purpose}" for name, (_, purpose) in COMMANDS.items()}
    apart = [name for name in COMMANDS if COMMANDS[name][0].startswith(CHECKOUT)]
    return "\n".join(
        [
            "usage: ohhell COMMAND ...",
            "",
            *(line for name, line in lines.items() if name not in apart),
            "",
            "From a checkout of the project:",
            *(lines[name] for name in apart),
            "",
            "ohhell COMMAND --help tells a command's options; ohhell --version the version.",
        ]
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit status."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    if not given or given[0] in ("-h", "--help"):
        print(usage())
        return 0 if given else USAGE_ERROR
    if given[0] == "--version":
        print(__version__)
        return 0
    if given[0] not in COMMANDS:
        near = get_close_matches(given[0], COMMANDS, 1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        print(f"error: there is no command {given[0]!r}{hint}\n\n{usage()}", file=sys.stderr)
        return USAGE_ERROR
    if os.getcwd() not in sys.path:
        sys.path.append(os.getcwd())  # where `module:factory` players and a checkout's training/ are
    module = COMMANDS[given[0]][0]
    if module.startswith(CHECKOUT) and find_spec("training") is None:
        print(
            f"error: ohhell {given[0]} is a part of the project's source, in training/, which the installed package "
            "does not have. Get the source (its address: pip show --verbose ohhell-env), install it with "
            'pip install -e ".[train]", and run the command in that folder.',
            file=sys.stderr,
        )
        return USAGE_ERROR
    status: int = import_module(module).main(given[1:])
    return status


if __name__ == "__main__":
    sys.exit(main())
