"""A table's rules as plain data: no game state and nothing compiled.

Read in this order: `cards` (cards, decks), `limits` (sizes that arrays are laid out for), `ramps` (hand sizes),
`scoring` (points), `rules` (`Rules`, the one value that describes a table), `presets` (well-known tables),
`description` (a table in English), `typed` (a table from the command line), `sample` (random tables, in splits for
training and testing). Everything else may import this package; it imports nothing of ours.
"""
