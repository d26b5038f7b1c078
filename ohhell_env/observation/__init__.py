"""What a seat may know, as a vector of zeros and ones.

Read in this order: `sections` (what both layouts share), `standard` and `wide` (the two layouts and their encoders),
`decode` (a vector back to facts and text). Imports `kernel` and `rules`.
"""
