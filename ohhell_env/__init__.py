"""Oh Hell! as a PettingZoo environment, with a batched simulator and bots."""
