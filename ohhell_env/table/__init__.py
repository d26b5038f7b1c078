"""A read-only view of one game: facts, history and text, but no rules.

Read in this order: `game` (the read-only view), `events` (what a seat has witnessed), `actions` (an action as text),
`refusal` (why one is refused), `text` (the table as text). Imports `kernel` and `rules`.
"""
