"""Schedules, the gradient step and the average of the weights, as plain functions; every learner uses them."""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from torch import Tensor, nn

from training.learning.config import Config
from training.learning.distributed import average_gradients

# (outputs, further rows of the minibatch) -> loss, figures to report
Loss = Callable[..., tuple[Tensor, dict[str, Tensor]]]


def explained_variance(mean_squared_error: float, variance: float) -> float:
    """The share of the returns' variance that the values account for; 0 where there is no variance."""
    return 1 - mean_squared_error / variance if variance > 0 else 0.0


def share_done(config: Config, decisions: int, cpu_seconds: float) -> float:
    """How much of the run is done, by decisions or, where it has such a limit and is closer to it, by CPU time.

    Returns:
        0 at the start; 1 or a little more at the end.
    """
    clock = cpu_seconds / (60 * config.cpu_minutes) if config.cpu_minutes else 0.0
    return max(decisions / config.decisions, clock)


def learning_rate(config: Config, step: int, progress: float) -> float:
    """A linear rise over ``warmup`` gradient steps, and a half cosine from ``lr`` to ``final_lr`` over the run.

    Args:
        config: the run's options.
        step: gradient steps done.
        progress: share of the run done, 0..1.
    """
    cosine = config.final_lr + (config.lr - config.final_lr) * (1 + math.cos(math.pi * min(progress, 1.0))) / 2
    return cosine * min(1.0, (step + 1) / (config.warmup + 1))


def falling(first: float, last: float, progress: float) -> float:
    """From the first value to the last in proportion to the share of the run done."""
    return first + (last - first) * min(progress, 1.0)


@torch.no_grad()
def average_weights(average: nn.Module, network: nn.Module, decay: float, step: int) -> None:
    """Move the average of the weights towards the weights; faster in the first steps, as an average of few must."""
    weight = 1 - min(decay, (step + 1) / (step + 10))
    torch._foreach_lerp_(list(average.parameters()), list(network.parameters()), weight)


def gradient_step(
    network: nn.Module,
    optimiser: torch.optim.Optimizer,
    batch: tuple[Tensor, ...],
    max_grad_norm: float,
    loss_of: Loss,
) -> dict[str, float]:
    """One step on a minibatch and those of the other processes; the figures of this one before it.

    Args:
        network: what is trained.
        optimiser: its optimiser.
        batch: inputs (B, D), and what ``loss_of`` wants after the network's outputs; they are moved to its device.
        max_grad_norm: a gradient of a greater norm is scaled down to it.
        loss_of: the loss, a mean over the batch, and further figures.

    Returns:
        "loss", "grad_norm" (of all processes' gradient, before it is scaled) and the figures of ``loss_of``.

    Raises:
        FloatingPointError: if the loss or the gradient is not a finite number; the weights are then unchanged.
    """
    inputs, *others = batch
    optimiser.zero_grad()
    outputs = network(inputs)
    loss, metrics = loss_of(outputs, *(one.to(outputs.device) for one in others))
    loss.backward()
    average_gradients(network.parameters(), len(inputs))
    norm = nn.utils.clip_grad_norm_(network.parameters(), max_grad_norm)
    names = ["loss", "grad_norm", *metrics]
    figures = torch.stack([loss.detach(), norm, *metrics.values()]).tolist()  # one transfer from the device
    if not math.isfinite(figures[0]) or not math.isfinite(figures[1]):
        raise FloatingPointError(f"loss {figures[0]}, gradient norm {figures[1]}")
    optimiser.step()
    return dict(zip(names, figures, strict=True))
