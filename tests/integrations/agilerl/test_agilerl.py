"""AgileRL's example: the seat never acts illegally (that would raise), and its rewards add up to its score."""

from libraries import library


def test_agilerl_trains_a_seat_and_its_rewards_add_up_to_the_scores():
    library("agilerl")
    from training.examples.agilerl_ppo import main

    returns, scores = main(iterations=3, matches=16, hand_size=2)
    assert len(scores) == 3 * 16 * 4
    assert returns == scores
    assert set(scores) > {0.0, 10.0}
