"""Several models of one system, each without a part of the series: better than one, and judged by what each has not seen."""

import math
import time
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor

from denots.data.series import SeriesSet
from denots.errors import OutOfTime
from denots.systems.held_out import folds
from denots.systems.system import Fitted, Problem, Shape, State, System
from denots.tasks import Task
from denots.training.model import Output
from denots.training.progress import Progress, shown

ENOUGH = 200  # series held out, if there are so many, tell what a system is worth


@dataclass(frozen=True, kw_only=True, eq=False)
class Bag(Fitted):
    """The mean of what its members say."""

    members: tuple[Fitted, ...]

    def outputs(self, series: SeriesSet, at: Tensor | None = None) -> Output:
        told = [member.outputs(series, at) for member in self.members]
        # One after the other: a reduction would choose its order by the number of series.
        total = told[0].outputs.double()
        for each in told[1:]:
            total = total + each.outputs.double()
        return Output(total / len(told), torch.stack([each.ok for each in told]).all(dim=0))

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
    task, train = problem.task, problem.train
    members: list[Fitted] = []
    held_out = torch.full((len(train), task.outputs), torch.nan, dtype=torch.float64)
    parts = folds(task, train, count, seed)
    needed = min(len(parts), math.ceil(ENOUGH / len(parts[0][1])))
    for k, (learnt, held) in enumerate(parts):
        if deadline is not None and time.time() + slowest > deadline:
            if k < needed:
                raise OutOfTime(f"{k} of {needed} folds were fitted when time ran out.")
            break
        began = time.perf_counter()
        unseen = train.select(held)
        place = None if folder is None else folder / str(k)
        part = Problem(task, train.select(learnt), unseen)
        share = None if deadline is None else time.time() + (deadline - time.time()) / max(1, needed - k)
        try:
            watcher.stage(f"{system.name} fold {k + 1} of {len(parts)}")
            members.append(system.fit(part, seed=seed + k, folder=place, progress=watcher, deadline=share))
        except OutOfTime:
            if k < needed:
                raise
            break
        held_out[torch.from_numpy(held)] = members[-1].outputs(unseen.series).outputs.double()
        slowest = max(slowest, time.perf_counter() - began)
    return Bag(
        task=task,
        parameters=sum(member.parameters for member in members),
        seconds=time.perf_counter() - started,
        failures=sum(member.failures for member in members),
        held_out=held_out,
        members=tuple(members),
    )


def restore_bag(system: System, task: Task, shape: Shape, state: State) -> Bag:
    members = tuple(system.restore(task, shape, part) for part in split_state(state).values())
    if not members:
        raise ValueError(f"a bag of {system.name!r} needs members")
    return Bag(task=task, parameters=sum(member.parameters for member in members), members=members)


def join_states(states: dict[str, State]) -> State:
    """The states of several parts as one."""
    arrays = {f"{part}/{name}": array for part, state in states.items() for name, array in state.arrays.items()}
    return State({part: state.values for part, state in states.items()}, arrays)


def split_state(state: State) -> dict[str, State]:
    """What `join_states` joined."""
    parts: dict[str, State] = {part: State(values, {}) for part, values in state.values.items()}
    for name, array in state.arrays.items():
        part, _, own = name.partition("/")
        parts[part].arrays[own] = array
    return parts
