"""What a seat may know, as a vector of zeros and ones.

Read in this order: `sections` (what both layouts share), `standard` and `wide` (the two layouts and their encoders),
`packed` (the same as bits, 64 to a word), `sealed` (bids that a sealed one may be), `decode` (a vector back to facts
and text). Imports `kernel` and `rules`.
"""
