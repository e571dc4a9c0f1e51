"""Batches as selections of rows: nothing is copied until a batch is asked for."""

import torch
from jaxtyping import Float64, Int
from torch import Tensor

from denots.errors import InvalidOption

SHARDS_OPEN = 4  # from which batches are drawn


def draw_batches(
    n: int,
    batch_size: int,
    batches: int,
    *,
    seed: int,
    weights: Float64[Tensor, " n"] | None = None,
    shard: Int[Tensor, " n"] | None = None,
) -> tuple[Int[Tensor, " rows"], ...]:
    """Shuffled batches of row numbers that depend on the seed alone.

    More rows than there are go through them several times, shuffled anew each time. With weights,
    every row is drawn by itself, with replacement, in proportion to its weight. Where rows belong to shards, these are
    shuffled, and then the rows of a few shards at a time: a batch is read from no more than so many, or twice as many
    where it begins with one lot and ends with the next.
    """
    size = min(batch_size, n)
    generator = torch.Generator().manual_seed(seed % 2**63)
    wanted = batches * size
    if weights is not None:
        rows = torch.multinomial(weights, wanted, replacement=True, generator=generator)
    else:
        rows = torch.cat([_shuffled(n, generator, shard) for _ in range(-(-wanted // n))])[:wanted]
    return rows.split(size)


def _shuffled(n: int, generator: torch.Generator, shard: Tensor | None) -> Tensor:
    if shard is None:
        return torch.randperm(n, generator=generator)
    own = [rows for rows in torch.argsort(shard, stable=True).split(shard.bincount().tolist()) if len(rows)]
    order = torch.randperm(len(own), generator=generator)
    lots = (torch.cat([own[k] for k in lot]) for lot in order.split(SHARDS_OPEN))
    return torch.cat([rows[torch.randperm(len(rows), generator=generator)] for rows in lots])


def class_weights(target: Tensor) -> Float64[Tensor, " n"]:
    """One over the number of series of the same class, for each series."""
    if target.ndim != 1 or target.is_floating_point():
        raise InvalidOption("balanced_sampling needs classes, and this task has none; leave it out.")
    _, member, counts = target.unique(return_inverse=True, return_counts=True)
    return 1.0 / counts[member].double()
