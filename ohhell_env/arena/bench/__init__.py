"""OhHell-Bench: fixed tables, deals and opponents, so that figures of different people can be compared.

Read in this order: `protocol` (tables, opponents, seats, deals, seeds as data), `players` (whom it measures), `play`
(a job), `runner` (all jobs, in any number of processes), `score` (the scale and the intervals), `exploitability`,
`result` (``result.json`` and its tables), `picture`, `pins` (what the protocol stands on, hashed), `reference` (makes
its data file), `verify`, `command` (``ohhell bench``, and `bench` from Python). docs/bench.md is the protocol in words.
"""
