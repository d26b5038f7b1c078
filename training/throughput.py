"""What a gradient step costs beyond the bare network: measured in one run, on one batch."""

from __future__ import annotations

import time
from collections.abc import Callable

import torch
from torch import nn


def seconds(function: Callable[[], object], repeats: int = 3) -> float:
    """The shortest of some calls, after one to warm up."""
    function()
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return min(times)


def bare_rate(network: nn.Module, inputs: torch.Tensor) -> float:
    """Forward and backward alone, decisions a second, on a batch of inputs (B, D)."""

    def step() -> None:
        network.zero_grad()
        network(inputs).sum().backward()

    return len(inputs) / seconds(step)
