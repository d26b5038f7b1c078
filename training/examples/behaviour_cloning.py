"""Behaviour cloning: a network learns from recorded matches what their players did, and is measured by `ohhell bench`.

ohhell record data/search100 --players search:100 --matches 2000 --format minari
python -m training.examples.behaviour_cloning --folder data/search100
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from ohhell_env.adapters import missing_extra
from training.examples.margin import quick_core

try:
    import minari
except ImportError as error:
    raise missing_extra(error, "data") from error

BATCH = 512


class Result(NamedTuple):
    """The share of held-out decisions in which network and players agree, and the network."""

    agreement: float
    network: nn.Module


def read(folder: Path) -> tuple[NDArray[np.uint8], NDArray[np.uint8], NDArray[np.int64], NDArray[np.int64]]:
    """All decisions of a dataset: observations and masks, a bit each, actions, and the match that each is of."""
    seen, masks, actions, matches = [], [], [], []
    dataset = minari.MinariDataset(str(folder))
    about = dataset.storage.get_episode_metadata(dataset.episode_indices)
    for episode, of in zip(dataset.iterate_episodes(), about, strict=True):
        seen.append(np.packbits(episode.observations["observation"][:-1], axis=1))
        masks.append(np.packbits(episode.observations["action_mask"][:-1], axis=1))
        actions.append(np.asarray(episode.actions))
        matches.append(np.full(len(episode.actions), of["seed"]))
    return np.concatenate(seen), np.concatenate(masks), np.concatenate(actions), np.concatenate(matches)


def main(folder: Path, epochs: int = 4, width: int = 256, held_out: float = 0.05, bench: bool = True) -> Result:
    """Learn all decisions but those of the matches held out; then measure.

    Args:
        folder: the dataset.
        epochs: passes over the data.
        width: units of each of the two hidden layers.
        held_out: share of the matches.
        bench: whether to play the quick core of the benchmark at the end.
    """
    torch.manual_seed(1)
    dataset = minari.MinariDataset(str(folder))
    size = dataset.observation_space["observation"].shape[0]
    num_actions = int(dataset.action_space.n)
    seen, masks, actions, matches = read(folder)
    seeds = np.unique(matches)
    apart = np.isin(
        matches, np.random.default_rng(1).choice(seeds, max(1, round(held_out * len(seeds))), replace=False)
    )
    train, test = np.flatnonzero(~apart), np.flatnonzero(apart)
    network = nn.Sequential(
        nn.Linear(size, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU(), nn.Linear(width, num_actions)
    )
    optimizer = torch.optim.Adam(network.parameters(), lr=1e-3)

    def logits(rows: NDArray[Any]) -> torch.Tensor:  # (B, A)
        inputs = np.unpackbits(seen[rows], axis=1, count=size)  # (B, D)
        legal = np.unpackbits(masks[rows], axis=1, count=num_actions)  # (B, A)
        outputs: torch.Tensor = network(torch.from_numpy(inputs).float())
        return outputs.masked_fill(torch.from_numpy(legal) == 0, -torch.inf)

    agreement = float("nan")
    for epoch in range(1, epochs + 1):
        for part in torch.randperm(len(train)).split(BATCH):
            rows = train[part.numpy()]
            loss = nn.functional.cross_entropy(logits(rows), torch.from_numpy(actions[rows]))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        with torch.no_grad():
            found = [logits(rows).argmax(1).numpy() for rows in np.array_split(test, max(1, len(test) // 4096))]
        agreement = float((np.concatenate(found) == actions[test]).mean())
        print(f"epoch {epoch}: agrees with the players in {agreement:.1%} of {len(test):,} decisions held out")
    if bench:
        quick_core(network, "behaviour_cloning")
    return Result(agreement, network)


if __name__ == "__main__":
    import tyro

    tyro.cli(main)
