"""The table in the browser: a server for people and bots, and the page that they play on. Extra ``web``.

Read in this order: `table` (one match with its seats, tokens and record), `messages` (what a viewer is sent, what a
client may say), `live` (a table that runs: bots, people, pauses), `mistakes` (a person's own, after each hand), `study`
(fixed tables for participants), `hall` (all tables of a server), `server` (addresses and sockets). Only commands import
it.
"""
