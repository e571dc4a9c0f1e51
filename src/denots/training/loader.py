"""Batches as selections of rows: nothing is copied until a batch is asked for."""

import torch
from jaxtyping import Float64, Int
from torch import Tensor

from denots.errors import InvalidOption


def draw_batches(
    n: int, batch_size: int, batches: int, *, seed: int, weights: Float64[Tensor, " n"] | None = None
) -> tuple[Int[Tensor, " rows"], ...]:
    """Shuffled batches of row numbers that depend on the seed alone.

    More rows than there are go through them several times, shuffled anew each time. With weights,
    every row is drawn by itself, with replacement, in proportion to its weight.
    """
    size = min(batch_size, n)
    generator = torch.Generator().manual_seed(seed % 2**63)
    wanted = batches * size
    if weights is not None:
        rows = torch.multinomial(weights, wanted, replacement=True, generator=generator)
    else:
        rows = torch.cat([torch.randperm(n, generator=generator) for _ in range(-(-wanted // n))])[:wanted]
    return rows.split(size)


def class_weights(target: Tensor) -> Float64[Tensor, " n"]:
    """One over the number of series of the same class, for each series."""
    if target.ndim != 1 or target.is_floating_point():
        raise InvalidOption("balanced_sampling needs classes, and this task has none; leave it out.")
    _, member, counts = target.unique(return_inverse=True, return_counts=True)
    return 1.0 / counts[member].double()
