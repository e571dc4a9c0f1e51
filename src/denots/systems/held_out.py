"""Judge by what was held out: outputs for training series from models that have not learnt from them."""

import warnings
from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor

from denots.data.split import deal_folds
from denots.shapes import IntArray
from denots.systems.system import Fitted, Problem
from denots.tasks import Part, RowTask, Task

RESAMPLES = 100  # for the standard error of a metric
FEW_RESAMPLES, MANY_ANSWERS = 20, 200_000  # where there are more answers than that, for they take long


def unseen(fitted: Fitted, problem: Problem) -> tuple[Part, Tensor] | None:
    """Series that the fitted system has not learnt from, with what it says of them; None where there are none."""
    if fitted.held_out is not None:
        return problem.train, fitted.held_out
    if problem.val is None:
        return None
    if fitted.held_back is not None:
        return problem.val, fitted.held_back
    return problem.val, fitted.outputs(problem.val.series, problem.val.at).outputs


def standard_error(task: Task, outputs: Tensor, target: Tensor) -> float:
    """Of the metric, over series that are drawn again and again from those that something is said of."""
    known = ~outputs.flatten(1).isnan().any(dim=1)
    outputs, target = outputs[known], target[known]
    rng = np.random.default_rng(0)
    count = RESAMPLES if target.numel() <= MANY_ANSWERS else FEW_RESAMPLES
    draws = (torch.from_numpy(rng.integers(0, len(target), len(target))) for _ in range(count))
    again = np.array([_metric(task, outputs[rows], target[rows]) for rows in draws])
    return float(np.nanstd(again)) if np.isfinite(again).any() else float("nan")


def folds(task: Task, part: Part, count: int, seed: int) -> list[tuple[IntArray, IntArray]]:
    """Rows to learn from and rows to hold out, each row held out once; class shares are kept."""
    count = max(2, min(count, len(part) // 2))
    held = deal_folds(len(part), count, seed=seed, labels=task.strata(part), groups=part.groups)
    return [(np.setdiff1d(np.arange(len(part)), rows), rows) for rows in held]


def _metric(task: Task, outputs: Tensor, target: Tensor) -> float:
    """The metric, or NaN for a draw that it warns of or cannot judge, such as one of a single class."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        try:
            return float(task.metric(outputs, target))
        except (UserWarning, ArithmeticError, ValueError):
            return float("nan")


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
    """The loss as a function of outputs, with a weight for each series if there are such."""
    if weight is None:
        return lambda outputs: task.loss(outputs, target)
    return lambda outputs: task.weighed_loss(outputs, target, weight)


def one_by_one(
    task: Task, target: Tensor, weight: Tensor | None, outputs: list[Tensor]
) -> tuple[Task, Tensor, Tensor | None, list[Tensor]]:
    """The same with every known row as if it were a series, where rows are asked about."""
    if not isinstance(task, RowTask):
        return task, target, weight, outputs
    known = ~target.isnan()
    own = None if weight is None else task.known_weights(target, weight)
    return task.of, task.flat_target(target[known]), own, [each[known] for each in outputs]


def trivial_outputs(task: Task, target: Tensor, weight: Tensor | None = None) -> Tensor:
    """What someone says who has seen no series: shares of classes as logits, or the mean."""
    if isinstance(task, RowTask):
        of, flat, own, _ = one_by_one(task, target, weight, [])
        return trivial_outputs(of, flat, own)[0].expand(*target.shape, -1)
    if task.learns != "classes":
        table = torch.from_numpy(task.table(target))
        counts = (~table.isnan()).double() * (1.0 if weight is None else weight[:, None])
        return ((table.nan_to_num() * counts).sum(dim=0) / counts.sum(dim=0)).expand(len(table), -1).double()
    shares = (target.bincount(weight, max(2, task.outputs)).double() + 1e-3).log()
    logits = shares - shares.logsumexp(0) if task.outputs > 1 else (shares[1] - shares[0])[None]
    return logits.expand(len(target), -1)
