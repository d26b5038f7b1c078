"""BenchMARL's example: nobody acts illegally (that would raise), and each seat's rewards add up to its score."""

from libraries import library


def test_benchmarl_learns_the_task_and_its_rewards_add_up_to_the_scores():
    library("benchmarl")
    from training.examples.benchmarl_ippo import main

    scores = main(iterations=2, frames=200, hand_size=2)
    assert len(scores.scores) >= 2 * (200 // (4 * 3) - 4)  # four tables, a match of which may go on
    assert all(len(one) == 4 for one in scores.scores)
    assert scores.returns == scores.scores
    assert {point for one in scores.scores for point in one} > {0.0, 10.0}
