"""OpenSpiel: CFR+ on a tiny deck, three players and a card each; NashConv falls towards an equilibrium.

python -m training.examples.open_spiel_cfr
"""

from __future__ import annotations

import tyro

from ohhell_env.adapters import missing_extra

try:
    import pyspiel
    from open_spiel.python.algorithms import cfr, exploitability

    from ohhell_env.adapters.open_spiel import register
except ImportError as error:
    raise missing_extra(error, "openspiel") from error


def main(iterations: int = 16, deck: str = "AC KC AD KD", hand_size: int = 1) -> list[float]:
    """NashConv in points (what the seats together could gain by best responses) after 1, 2, 4, .. iterations."""
    game = pyspiel.load_game(register(), {"players": 3, "hand_size": hand_size, "deck": deck})
    solver = cfr.CFRPlusSolver(game)
    gains = []
    for iteration in range(1, iterations + 1):
        solver.evaluate_and_update_policy()
        if iteration & (iteration - 1) == 0:
            gains.append(float(exploitability.nash_conv(game, solver.average_policy())))
            print(f"iteration {iteration}: NashConv {gains[-1]:.3f} points")
    return gains


if __name__ == "__main__":
    tyro.cli(main)
