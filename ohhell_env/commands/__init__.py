"""Commands for people: `play`, `watch`, `view`, `serve`, `rules`, `record`; `typed` reads what a player types.

`ohhell_env.__main__` lists all commands, those of the arena and of training too.
"""
