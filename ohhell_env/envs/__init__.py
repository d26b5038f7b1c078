"""The environments: they translate between a library's interface and the kernel.

Read in this order: `aec` (PettingZoo, one seat after another), `parallel` (PettingZoo, all seats at once), `lineup`
(the bots in the other seats), `seat_form` (what the next two have in common), `seat` (Gymnasium, one seat) and
`seat_vector` (many of them, batched). Users import `ohhell_env.ohhell_v0`, `SeatEnv` and `SeatVectorEnv` from the top.
"""
