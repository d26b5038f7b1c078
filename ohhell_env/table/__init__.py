"""One game to look at: facts, history and words, never a rule.

Read in this order: `game` (the read-only view), `events` (what a seat has witnessed), `actions` (an action as text),
`refusal` (why one is refused), `text` (the table as text). Imports `kernel` and `rules`.
"""
