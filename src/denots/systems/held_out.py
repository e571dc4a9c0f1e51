"""Judge by what was held out: outputs for training series from models that have not learnt from them."""

from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor

from denots.data.split import deal_folds
from denots.shapes import IntArray
from denots.tasks import Part, Task


def folds(task: Task, part: Part, count: int, seed: int) -> list[tuple[IntArray, IntArray]]:
    """Rows to learn from and rows to hold out, each row held out once; class shares are kept."""
    count = max(2, min(count, len(part) // 2))
    held = deal_folds(len(part), count, seed=seed, labels=task.strata(part), groups=part.groups)
    return [(np.setdiff1d(np.arange(len(part)), rows), rows) for rows in held]


def held_out_loss(task: Task, target: Tensor, weight: Tensor | None = None) -> Callable[[Tensor], Tensor]:
    """The loss over all series, and over one more whose class nobody knows.

    Without that one, a few series that are all told right would make every answer certain.
    """
    own = weighed_loss(task, target, weight)
    if task.learns != "classes":
        return own
    every = [weighed_loss(task, torch.full_like(target, k), weight) for k in range(max(2, task.outputs))]
    share = 1 / (len(target) + 2)
    return lambda outputs: (1 - share) * own(outputs) + share * torch.stack([loss(outputs) for loss in every]).mean()


def weighed_loss(task: Task, target: Tensor, weight: Tensor | None) -> Callable[[Tensor], Tensor]:
    """The loss with a weight for each series: the weighted mean of the losses of each by itself."""
    if weight is None:
        return lambda outputs: task.loss(outputs, target)

    def loss(outputs: Tensor) -> Tensor:
        each = torch.vmap(task.loss)(outputs[:, None], target[:, None])
        return (weight * each).sum() / weight.sum()

    return loss


def trivial_outputs(task: Task, target: Tensor, weight: Tensor | None = None) -> Tensor:
    """What someone says who has seen no series: shares of classes as logits, or the mean."""
    if task.learns != "classes":
        table = torch.from_numpy(task.table(target))
        counts = (~table.isnan()).double() * (1.0 if weight is None else weight[:, None])
        return ((table.nan_to_num() * counts).sum(dim=0) / counts.sum(dim=0)).expand(len(table), -1).double()
    shares = (target.bincount(weight, max(2, task.outputs)).double() + 1e-3).log()
    logits = shares - shares.logsumexp(0) if task.outputs > 1 else (shares[1] - shares[0])[None]
    return logits.expand(len(target), -1)
