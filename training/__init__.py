"""Self-play training; runs from the checkout and is not part of the installed package.

The commands: `train`, `distil` (a small fast policy from a large one), `best_response`, `bakeoff` (the learners
compared), `equity` (the chance of winning a match), `publish`, `plots`, `demo`.
The folder `learning` has what trains, `examples` one file for each library.
"""
