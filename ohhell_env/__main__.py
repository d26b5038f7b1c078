"""``ohhell COMMAND ...``, or ``python -m ohhell_env COMMAND ...``: every tool of the package by one command."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.util import find_spec

COMMANDS = {
    "play": ("ohhell_env.commands.play", "take a seat at a table in the terminal"),
    "watch": ("ohhell_env.commands.watch", "watch bots and checkpoints play, in a window or as pictures"),
    "view": ("ohhell_env.commands.view", "make a web page of a recorded match"),
    "evaluate": ("ohhell_env.arena.evaluate", "measure one player against others on the same deals"),
    "tournament": ("ohhell_env.arena.tournament", "rate many players at mixed tables"),
    "speed": ("ohhell_env.speed", "measure the speed of the simulator and the environments"),
    "train": ("training.train", "train a policy by self-play"),
    "best-response": ("training.best_response", "measure what an exploiter gains against a player"),
    "bakeoff": ("training.bakeoff", "compare the learners at equal CPU time"),
    "publish": ("training.publish", "turn a run's checkpoint into one to ship"),
    "plots": ("training.plots", "draw the curves of a training run"),
}
"""The commands: name -> (module with a ``main(arguments)``, what it is for). Those of ``training`` need a checkout."""

USAGE_ERROR = 2


def usage() -> str:
    """What ``ohhell --help`` prints."""
    lines = [f"  {name:14} {purpose}" for name, (_, purpose) in COMMANDS.items()]
    return "\n".join(["usage: ohhell COMMAND ...", "", *lines, "", "ohhell COMMAND --help tells a command's options."])


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit status."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    if not given or given[0] in ("-h", "--help"):
        print(usage())
        return 0 if given else USAGE_ERROR
    if given[0] not in COMMANDS:
        print(f"error: there is no command {given[0]!r}\n\n{usage()}", file=sys.stderr)
        return USAGE_ERROR
    module = COMMANDS[given[0]][0]
    if module.startswith("training.") and find_spec("training") is None:
        print(
            f"error: ohhell {given[0]} runs from a checkout of the project, whose folder training/ is not installed: "
            "run it there",
            file=sys.stderr,
        )
        return USAGE_ERROR
    status: int = import_module(module).main(given[1:])
    return status


if __name__ == "__main__":
    sys.exit(main())
