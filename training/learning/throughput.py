"""A run's timings at its start: which arithmetic is faster here, and what learning costs beyond the network alone."""

from __future__ import annotations

import time
from collections.abc import Callable

import torch
from torch import nn

from training.learning.distributed import total
from training.learning.network import PolicyNetwork, TrainingNetwork

ONES = 0.08  # share of a network's inputs that are ones, in play
ROWS = 512  # of the batch that chooses the arithmetic


def seconds(function: Callable[[], object], repeats: int = 3) -> float:
    """CPU time of the shortest of some calls, after one to warm up; other processes do not count in it."""
    function()
    times = []
    for _ in range(repeats):
        start = time.process_time()
        function()
        times.append(time.process_time() - start)
    return min(times)


def bare_rate(network: nn.Module, inputs: torch.Tensor) -> float:
    """Forward and backward alone, decisions a CPU-second, on a batch of inputs (B, D)."""

    def step() -> None:
        network.zero_grad()
        network(inputs).sum().backward()
        if torch.cuda.is_available():
            torch.cuda.synchronize()

    return len(inputs) / seconds(step)


def faster_arithmetic(policy: PolicyNetwork) -> tuple[str, dict[str, float]]:
    """The arithmetic that a network goes forward and backward faster in, in the mean of all processes.

    Returns:
        "fp32" or "bf16", and the decisions a CPU-second of both.
    """
    random = torch.Generator().manual_seed(0)
    inputs = (torch.rand(ROWS, policy.num_inputs, generator=random) < ONES).to(torch.int8)
    names = ("fp32", "bf16")
    sums = total([bare_rate(TrainingNetwork(policy, name == "bf16"), inputs) for name in names] + [1])
    rates = {name: rate / sums[-1] for name, rate in zip(names, sums, strict=False)}
    policy.zero_grad()
    return max(names, key=rates.__getitem__), rates
