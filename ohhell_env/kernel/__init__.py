"""Every rule of play, compiled: who acts, what is allowed, who takes a trick, what a hand scores.

Read in this order: `jit` (the decorators and bit tricks; `callees` and `cache` say how functions are compiled and
kept), `state` (the record that holds a game), `rulebook` (the functions that everybody calls), `standard` (what
tables like the default game do), `wide_bidding` and `wide_play` (what all others do), `facts` (what seats hold, see
and want) and `reading` (a hand's past, for plain Python), `widening` (standard records as wide ones). Imports `rules`;
everything above may import it. Nobody else works out a winner, a legal card or an order of cards. Which form a table
is of is asked here and in `observation` only.
"""
