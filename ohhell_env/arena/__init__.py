"""Who is better: the same deals for every contestant in every seat, with 95 % intervals.

Read in this order: `matches` (play many at once), `workers` (in several processes), `results` (results on disk, so
that a run resumes), `intervals` (statistics), `report` and `standings` (what came out), `tables` and `plots` (to look
at), `options` (what the commands share), `evaluate` and `tournament` (the commands), `self_play` (one bot in every
seat), `people` (people and bots compared from records), `coverage` (what random tables cover), `returns` and `exact`
(exact values and best responses at tiny tables). The folder `bench` is OhHell-Bench. Imports `bots` and the simulator.
"""
