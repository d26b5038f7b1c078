"""Bots: players of known strength behind one interface, named by a spec string wherever a player is named."""

from ohhell_env.bots.base import Bot
from ohhell_env.bots.spec import BOTS, make_bot

__all__ = ["BOTS", "Bot", "make_bot"]
