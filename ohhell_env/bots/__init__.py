"""Bots: players of known strength behind one interface, named by a spec string.

Read in this order: `base` (what a bot is), `spec` (names), `random`, `knowledge` (what a seat knows), `hand_model`
(estimates from its cards), `heuristic`, `determinization` and `determinization_wide` (deals that fit what it knows),
`sampling` (of these, such as make sense of what was said), `endgame` (exact last tricks), `search`, and the folder
`policy` (trained policies). Imports `simulator`, `table` and what is below them.
"""

from ohhell_env.bots.base import Bot
from ohhell_env.bots.spec import BOTS, make_bot

__all__ = ["BOTS", "Bot", "make_bot"]
