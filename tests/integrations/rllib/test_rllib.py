"""RLlib's example: nobody acts illegally (that would raise), and each seat's rewards add up to its score."""

from libraries import library


def test_rllib_trains_one_policy_for_all_seats_and_its_rewards_add_up_to_the_scores():
    ray = library("ray")
    from training.examples.rllib_ppo import main

    results = main(iterations=2, batch=200, hand_size=2)
    assert results["num_episodes_lifetime"] >= 2 * 200 // (4 * 3)
    assert 0 <= results["points"] <= 12
    assert results["reward_gap"] == 0
    assert not ray.is_initialized(), "the example puts everything away"
