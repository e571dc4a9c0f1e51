"""Hold some series back to choose by, and see whether a system can do what is asked."""

from dataclasses import replace
from typing import Any

import numpy as np
import torch

from denots.data.split import deal_folds, split_rows
from denots.errors import InvalidOption, InvalidSeries
from denots.registry import listed
from denots.shapes import IntArray
from denots.systems import SYSTEMS, Problem, Shape, System
from denots.tasks import Classification, Part, Task


def validation_split(task: Task, part: Part, share: float, seed: int) -> tuple[IntArray, IntArray]:
    """Rows to learn from and rows to validate with, at least as many of those as the task's metric needs."""
    if not isinstance(share, int | float) or not 0 < share < 1:
        raise InvalidOption(f"validation_fraction must lie between 0 and 1; got {share!r}.")
    n, fewest, strata = len(part), task.fewest, task.strata(part)
    if n <= fewest:
        raise InvalidSeries(f"{n} series cannot be split into training and validation; give at least {fewest + 1}.")
    if part.groups is not None:
        return _grouped_split(part.groups, fewest, strata, share, seed)
    smallest = n if strata is None else int(np.unique(strata, return_counts=True)[1].min())
    # At least one series of each class on either side, however small the set is.
    share = min(max(share, (fewest - 0.5) / smallest + 1e-9), 1 - 0.5 / smallest - 1e-9)
    train, val = split_rows(n, (1 - share, share), seed=seed, labels=strata)
    return train, val


def _grouped_split(
    groups: IntArray, fewest: int, strata: np.ndarray | None, share: float, seed: int
) -> tuple[IntArray, IntArray]:
    """The first fold of groups that leaves every class, and as many series as are needed, on either side."""
    labels = np.zeros(len(groups)) if strata is None else strata
    every = np.arange(len(groups))
    for held in deal_folds(len(groups), max(2, round(1 / share)), seed=seed, labels=strata, groups=groups):
        learnt = np.setdiff1d(every, held)
        if len(held) >= fewest and all(len(np.unique(labels[own])) == len(np.unique(labels)) for own in (learnt, held)):
            return learnt, held
    raise InvalidSeries(
        f"{len(np.unique(groups))} groups cannot be split so that training and validation have every class; give series "
        "of more groups, or validation data of your own: fit(X, y, validation=(X, y))."
    )


def weigh_classes(problem: Problem, class_weight: Any) -> Problem:
    """The problem with weights of classes in the loss, or times the weights of series where there are such."""
    if class_weight is None:
        return problem
    weighted = problem.task.weighted(problem.train, class_weight)
    if problem.train.weight is None or not isinstance(weighted, Classification):
        return replace(problem, task=weighted)
    of_class = torch.tensor(weighted.weights, dtype=torch.float64)[problem.train.target]
    return replace(problem, train=replace(problem.train, weight=problem.train.weight * of_class))


def check_serves(system: System, problem: Problem, *, own_validation: bool) -> None:
    """Refuse what the system cannot do, before anything is written or computed."""
    if problem.task.causal and not system.causal:
        able = listed(name for name, other in SYSTEMS.items() if other.causal)
        raise InvalidOption(
            f"system {system.name!r} may look ahead: what it says of a time can depend on what came later, which nobody knows "
            f"then. For {problem.task.name} use one that does not: {able}."
        )
    system.check(problem.task, Shape.of(problem.train.series))
    if problem.train.weight is not None and not system.weighs:
        able = listed(name for name, other in SYSTEMS.items() if other.weighs)
        raise InvalidOption(
            f"system {system.name!r} cannot weigh series; leave sample_weight out, or use a system that can: {able}."
        )
    if own_validation and not system.holds_out:
        raise InvalidOption(
            f"system {system.name!r} chooses by training series that it leaves out, and takes no validation data; add "
            "them to X, or use a system that takes them, such as 'trees' or 'denots'."
        )
