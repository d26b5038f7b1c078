"""Bots: players of known strength behind one interface, named by a spec string wherever a player is named."""
