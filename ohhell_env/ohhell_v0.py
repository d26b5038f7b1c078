"""# Oh Hell!

| | |
| --- | --- |
| Agents | `player_0` .. `player_{p-1}`, 3 to 7 of them, four by default; clockwise |
| Import | `from ohhell_env import ohhell_v0` |
| Actions | `Discrete(70)` |
| Observation | `Dict(observation: Box(0, 1, (1256,), int8), action_mask: Box(0, 1, (70,), int8))` |
| Parallel API | no: one agent moves at a time; `parallel_env` adds a no-op action for the others |
| Manual control | no |
| Action meanings | `env.unwrapped.get_action_meanings()` |

A trick-taking game in which you must take exactly the tricks you bid. Everybody plays for themselves.

## Rules

A match is a ramp of hands: with four players 13 cards each, then 12, down to 1, and up to 13 again (with three 17, with
five 10, with six 8, with seven 7 cards at most). `player_0` deals the first hand; the deal moves one seat to the left
after each hand.

*Deal.* Everybody is dealt the hand's number of cards from a shuffled deck of 52: clubs, diamonds, hearts and spades,
each 2 3 4 5 6 7 8 9 T J Q K A, the ace highest. You see your own cards only. The next card of the stock is turned up
for all to see, and its suit is trump; the rest of the stock stays hidden and out of play. When the deal uses all cards
there is no trump.

*Bids.* Each player bids the number of tricks that they will take, from 0 to the number of cards, left of the dealer
first and clockwise, the dealer last. A bid must be met exactly: a trick too many is as bad as a trick too few. Bids
stay sealed until all are in; then everybody sees them. *The hook:* the dealer may not bid the number that would make
the bids add up to the number of tricks, so somebody must fail.

*Play.* Left of the dealer leads the first trick with any card; the others follow clockwise with one card each. Whoever
has a card of the suit led must play one of that suit; whoever has none may play any card, a trump or not. The highest
trump takes the trick, or, where no trump is played, the highest card of the suit led. Who takes a trick leads the next,
until all cards are played.

*Score.* Whoever took exactly as many tricks as they bid scores 10 points plus the bid; everybody else scores 0. Points
add up over the hands of the match. The highest total wins; a tie is shared.

Other rules of the table (open bids, no hook, other trumps, scores, decks, hand sizes, 2 to 10 players, ..) are options
of `ohhell_env.Rules`; `ohhell_env.describe` puts them into English; well-known tables have names (`ohhell_env.preset`).

## Actions

| action | meaning |
| --- | --- |
| 0 .. 51 | play card `13 * suit + rank`: suits clubs 0, diamonds 1, hearts 2, spades 3; ranks deuce 0 .. ace 12 |
| 52 + b | bid b, for b in 0 .. 17 |

At tables of the wide form (those with `rules.standard` false) there are 122 actions:

| action | meaning |
| --- | --- |
| 0 .. 62 | play that card of the deck; those from 52 on are its extra cards (`rules.deck.card_set.names`) |
| 63 + b | bid b, for b in 0 .. 26 |
| 90 | pass: bid later, seeing more |
| 91 + s | name the suit s (4: no trump), as trump or for a joker led |
| 96 + k | play the card at position k of the hand, in the order dealt, where its player may not see it |

## Observation

`observation` is zeros and ones as `ohhell_env.observation_layout()` names them: own hand, cards unseen and played,
the trick, bids (others' sealed bids as hidden), tricks taken and still needed, scores. Seats are relative to the
viewer. At tables of the wide form it has 5034 entries (`observation_layout(rules)`).
`ohhell_env.decode(observation)` gives it back as facts, `ohhell_env.observation_text(observation)` as text.
`action_mask` has a one for each legal action of the agent to act and is all zero for the others; it stands in
`infos[agent]` too.

## Rewards

`reward="points"`: each hand's points, when the hand ends, so that a match's rewards add up to the score.
`"zero_sum"`: the same minus the table's mean. `"win"`: the share of the match's win (1/k for each of k winners), at
the end, else 0. Higher is better in all three: at tables where the lowest total wins, points count negative in the
first two, so that the rewards of a match add up to minus the score.

`infos[agent]`: `action_mask`; `score`, points in this match so far; `win_share`, 0 until the match is over.

## Arguments

`env(rules=None, *, players=None, render_mode=None, reward="points", illegal_reward=-1.0, flat=False)`

- `rules`: an `ohhell_env.Rules`, or the name of a preset; `players=p` is short for the default rules with p
  players.
- `render_mode`: `"ansi"`: `render()` returns the table as text; `"rgb_array"`: as a picture, (800, 1280, 3) uint8;
  `"human"`: every step shows it in a window. `env.viewer = seat` shows what that seat may see, `"table"` no cards but
  those played, None (default) all; `env.totals = False` leaves the totals out.
- `illegal_reward`: an illegal action ends the match for everybody, with a warning and this reward for whoever made
  it. `raw_env` takes the same arguments but this one: there an illegal action raises `ValueError` and changes
  nothing.
- `flat`: observations are the vector alone, `Box(0, 1, (1256,), int8)`, and the mask stands in `infos[agent]` alone, as
  wrappers need it that do not take dictionaries: SuperSuit's `pad_observations`, `frame_stack`, `dtype`, ...

`reset(seed, options)`: `options={"deals": [deck, ...], "dealer": seat}` gives the first hands' decks (52 cards each,
in the order dealt, as numbers or names such as `"TD"`) and the first dealer. One seed always gives the same match, and
the resets without a seed that follow it always the same matches after it, however far each was played.
`env.unwrapped.upload_decks(decks)` gives decks for the hands from the next deal on.

`env.unwrapped.game` is a read-only view of the whole table; `game.events(seat)` lists everything as that seat saw it.

`parallel_env` takes the arguments of `env`. It is the same match for libraries that want an action from every agent at
each step. The last action is a no-op: the only legal action of the agents that are not to act, and not legal for the
agent that is. So no mask is ever empty. `illegal_reward=None` makes an illegal action raise
`ValueError`.

## Version history

- v0: first release. Before it, 0.1.0: the match after a match depends on its seed alone; rewards are better when higher
  wherever the lowest total wins; a golden hand there takes a point off for a trick; a forced lead of trump does not
  break trump; a blind bid that fails gains nothing more; cooperative matches have no limit of deals by default.
"""

from __future__ import annotations

from typing import Never

from ohhell_env.envs.aec import OhHellEnv
from ohhell_env.envs.parallel import NoopEnv
from ohhell_env.rules.rules import Rules


def env(
    rules: Rules | str | None = None,
    *,
    players: int | None = None,
    render_mode: str | None = None,
    reward: str = "points",
    illegal_reward: float = -1.0,
    flat: bool = False,
    **unknown: Never,
) -> OhHellEnv:
    """The environment with what PettingZoo's usual wrappers check; see the module's docstring."""
    return OhHellEnv(
        rules,
        players=players,
        render_mode=render_mode,
        reward=reward,
        illegal_reward=float(illegal_reward),
        flat=flat,
        **unknown,
    )


def raw_env(
    rules: Rules | str | None = None,
    *,
    players: int | None = None,
    render_mode: str | None = None,
    reward: str = "points",
    flat: bool = False,
    **unknown: Never,
) -> OhHellEnv:
    """The environment in which an illegal action raises `ValueError` and changes nothing."""
    return OhHellEnv(rules, players=players, render_mode=render_mode, reward=reward, flat=flat, **unknown)


def parallel_env(
    rules: Rules | str | None = None,
    *,
    players: int | None = None,
    render_mode: str | None = None,
    reward: str = "points",
    illegal_reward: float | None = -1.0,
    **unknown: Never,
) -> NoopEnv:
    """The parallel form, with a no-op action for agents that are not to act; see `ohhell_env.envs.parallel.NoopEnv`."""
    return NoopEnv(
        rules, players=players, render_mode=render_mode, reward=reward, illegal_reward=illegal_reward, **unknown
    )
