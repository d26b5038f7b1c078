"""Matches on disk: JSON lines that a person can read, written after every action and played again exactly.

Read in this order: `notation` (the format), `match` (a match between named players that is being recorded), `replay`
(a record, position by position), `advice` (what bots think of one decision) and `review` (of each decision).
"""
