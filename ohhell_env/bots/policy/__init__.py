"""Trained policies: reading a checkpoint, playing it, and search with it. Nothing here needs torch.

Read in this order: `features` (the network's input), `network` (its shape), `sparse` and `vectors` (its forward
pass), `words` (the same input as bits) and `fast` (small networks of whole numbers), `trained_for` (the tables of a
checkpoint's training), `bot` (a checkpoint that plays), `beliefs` (deals that explain what was seen), `search`
(search with a policy). A network for every table has its input in `every_table_layout`, `every_table_suits` and
`every_table`, its way from views to actions in `every_table_encoder`, weights mapped to it in `every_table_weights`,
and a fast form in `fast_every_table`. `equity` is the chance of winning a match from how it stands.
"""
