"""Learning by self-play.

Read in this order: `options` (what those of all runs share), `config` (every option of a run), `tables` (its tables),
`match` (hands of matches),
`collector` (self-play experience), `network`, `learner` (what a learner is), `dmc`, `ppo` and `all_action` with its
`all_action_collector` (three of them), `learners` (by name), `optimisation` (the gradient step), `validation` (fixed
deals to watch a run by), `checkpoint` and `golden` (what a run saves), `past` (earlier policies as opponents),
`student` (a fast policy in training), `progress`, `distributed`, `throughput`. The commands are `training.train` and
`training.distil`.
"""
