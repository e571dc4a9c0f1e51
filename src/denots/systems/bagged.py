"""Several models of one system, each without a part of the series: better than one, and judged by what each has not seen."""

import math
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

import torch
from torch import Tensor

from denots.data.series import SeriesSet
from denots.errors import OutOfTime
from denots.inference.blend import average
from denots.inference.state import join_states, split_state
from denots.shapes import IntArray
from denots.systems.held_out import folds
from denots.systems.system import Fitted, Problem, Shape, State, System
from denots.tasks import Task
from denots.training.model import Output
from denots.training.progress import Progress, shown

FOLDS = 5
ENOUGH = 200  # series held out, if there are so many, tell what a system is worth


@dataclass(frozen=True, kw_only=True, eq=False)
class Bag(Fitted):
    """The mean of what its members say."""

    members: tuple[Fitted, ...]

    def outputs(self, series: SeriesSet, at: Tensor | None = None) -> Output:
        return Output.of(average([member.outputs(series, at).told() for member in self.members]))

    def state(self) -> State:
        return join_states({str(k): member.state() for k, member in enumerate(self.members)})


def fit_bag(
    system: System,
    problem: Problem,
    count: int,
    *,
    seed: int,
    folder: Path | None = None,
    progress: Progress | bool = False,
    deadline: float | None = None,
) -> Bag:
    """One model for each fold of the training series, with that fold to choose by.

    Where time is short there are fewer models, as long as they hold out enough series; those of the folds that
    were left out have NaN in `held_out`. Folds that are needed share the time.
    """
    started, slowest, watcher = time.perf_counter(), 0.0, shown(progress)
    members: dict[int, FoldModel] = {}
    parts = folds(problem.task, problem.train, count, seed)
    needed = folds_needed(parts)
    for k in range(len(parts)):
        if deadline is not None and time.time() + slowest > deadline:
            if k < needed:
                raise OutOfTime(f"{k} of {needed} folds were fitted when time ran out.")
            break
        share = None if deadline is None else time.time() + (deadline - time.time()) / max(1, needed - k)
        try:
            watcher.stage(f"{system.name} fold {k + 1} of {len(parts)}")
            members[k] = fit_fold(system, problem, parts, k, seed=seed, folder=folder, progress=watcher, deadline=share)
        except OutOfTime:
            if k < needed:
                raise
            break
        slowest = max(slowest, members[k].seconds)
    return replace(bag_of(problem, parts, members), seconds=time.perf_counter() - started)


class FoldModel(NamedTuple):
    """A model that has not learnt from a fold, what it says of that, and how long all of it took."""

    fitted: Fitted
    told: Tensor
    seconds: float


def folds_needed(parts: list[tuple[IntArray, IntArray]]) -> int:
    """How many folds hold out enough series."""
    return min(len(parts), math.ceil(ENOUGH / len(parts[0][1])))


def fit_fold(
    system: System,
    problem: Problem,
    parts: list[tuple[IntArray, IntArray]],
    k: int,
    *,
    seed: int,
    folder: Path | None,
    progress: Progress | bool,
    deadline: float | None,
) -> FoldModel:
    """The model without fold k."""
    began, (learnt, held) = time.perf_counter(), parts[k]
    unseen = problem.train.select(held)
    place = None if folder is None else folder / str(k)
    part = Problem(problem.task, problem.train.select(learnt), unseen)
    fitted = system.fit(part, seed=seed + k, folder=place, progress=progress, deadline=deadline)
    told = fitted.outputs(unseen.series, unseen.at).outputs.double()
    return FoldModel(fitted, told, time.perf_counter() - began)


def bag_of(problem: Problem, parts: list[tuple[IntArray, IntArray]], members: Mapping[int, FoldModel]) -> Bag:
    """The models of some folds, in their order, as one."""
    task = problem.task
    asked = () if problem.train.at is None else (problem.train.at.shape[1],)
    held_out = torch.full((len(problem.train), *asked, task.outputs), torch.nan, dtype=torch.float64)
    fitted = [members[k].fitted for k in sorted(members)]
    for k, member in members.items():
        held_out[torch.from_numpy(parts[k][1])] = member.told
    return Bag(
        task=task,
        parameters=sum(member.parameters for member in fitted),
        seconds=sum(member.seconds for member in members.values()),
        failures=sum(member.failures for member in fitted),
        held_out=held_out,
        members=tuple(fitted),
    )


def restore_bag(system: System, task: Task, shape: Shape, state: State) -> Bag:
    members = tuple(system.restore(task, shape, part) for part in split_state(state).values())
    if not members:
        raise ValueError(f"a bag of {system.name!r} needs members")
    return Bag(task=task, parameters=sum(member.parameters for member in members), members=members)
