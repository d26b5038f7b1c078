"""Several processes as one learner: torchrun starts them, each plays its share of the hands, gradients are averaged."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence

import torch
from torch import distributed, nn


def join() -> tuple[int, int]:
    """This process's number and how many there are: (0, 1) unless torchrun has started several."""
    if "RANK" not in os.environ:
        return 0, 1
    if not distributed.is_initialized():
        distributed.init_process_group("cpu:gloo,cuda:nccl" if torch.cuda.is_available() else "gloo")
    return distributed.get_rank(), distributed.get_world_size()


def device_of(name: str) -> torch.device:
    """The device that a run's option names; each process of a machine has a GPU of its own.

    Raises:
        ValueError: if it is not there.
    """
    if name == "cpu":
        return torch.device("cpu")
    number, found = int(os.environ.get("LOCAL_RANK", "0")), torch.cuda.device_count()
    if number >= found:
        raise ValueError(
            f"device={name!r} is unavailable: process {number} of this machine needs GPU {number}, torch finds "
            f"{found} GPUs; use --device cpu, or fewer processes"
        )
    return torch.device("cuda", number)


def leave() -> None:
    """Leave the process group, if there is one."""
    if distributed.is_initialized():
        distributed.destroy_process_group()


def total(values: Sequence[float]) -> list[float]:
    """The sum of each number over all processes."""
    sums = torch.tensor(values, dtype=torch.float64)
    if distributed.is_initialized():
        distributed.all_reduce(sums)
    return [float(value) for value in sums]


def each(value: int) -> list[int]:
    """The number of every process, by its rank."""
    if not distributed.is_initialized():
        return [value]
    mine = [0.0] * distributed.get_world_size()
    mine[distributed.get_rank()] = value
    return [int(one) for one in total(mine)]


@torch.no_grad()
def average_gradients(parameters: Iterable[nn.Parameter], count: int) -> None:
    """Replace each gradient, a mean over ``count`` decisions, by the mean over the decisions of all processes."""
    if not distributed.is_initialized():
        return
    gradients = [parameter.grad for parameter in parameters if parameter.grad is not None]
    counted = torch.tensor([float(count)], device=gradients[0].device)
    flat = torch.cat([*(count * gradient.flatten() for gradient in gradients), counted])
    distributed.all_reduce(flat)
    flat /= flat[-1].item()
    for gradient, mean in zip(gradients, flat[:-1].split([g.numel() for g in gradients]), strict=True):
        gradient.copy_(mean.view_as(gradient))
