"""OpenSpiel: information-set Monte Carlo tree search against random players, each seat in turn.

python -m training.examples.open_spiel_ismcts
"""

from __future__ import annotations

import numpy as np
import tyro

from ohhell_env.adapters import missing_extra

try:
    import pyspiel
    from open_spiel.python.algorithms import ismcts, mcts

    from ohhell_env.adapters.open_spiel import OhHellState, register
except ImportError as error:
    raise missing_extra(error, "openspiel") from error


def main(
    hands: int = 20, simulations: int = 100, players: int = 4, hand_size: int = 3, seed: int = 1
) -> list[OhHellState]:
    """Play hands, print the mean points of the searching seat and of the others; returns the states they ended in."""
    game = pyspiel.load_game(register(), {"players": players, "hand_size": hand_size})
    rng = np.random.RandomState(seed)
    search = ismcts.ISMCTSBot(
        game, mcts.RandomRolloutEvaluator(1, rng), uct_c=10.0, max_simulations=simulations, random_state=rng
    )
    search.set_resampler(lambda state, player: state.resample_from_infostate(player, rng.uniform))
    ends, points = [], np.zeros((2, hands))
    for hand in range(hands):
        state, seat = game.new_initial_state(), hand % players
        while not state.is_terminal():
            if state.is_chance_node():
                cards, chances = zip(*state.chance_outcomes(), strict=True)
                state.apply_action(rng.choice(cards, p=chances))
            elif state.current_player() == seat:
                state.apply_action(search.step(state))
            else:
                state.apply_action(rng.choice(state.legal_actions()))
        points[:, hand] = state.returns()[seat], np.delete(state.returns(), seat).mean()
        ends.append(state)
    print("points per hand: search {:.2f}, random {:.2f}, from {} hands".format(*points.mean(axis=1), hands))
    return ends


if __name__ == "__main__":
    tyro.cli(main)
