"""Fit a system to a set that does not fit into memory, shard by shard.

What has to be known before anything is learnt (scale and clock of the channels, thresholds, ranks) is told by a sample
of the series; everything that is learnt is learnt from all of them. In memory are one number a series and output, the
sample, and a few shards.
"""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

import numpy as np
import torch
from torch import Tensor

from denots.backbones import Inputs
from denots.cluster.team import Team
from denots.cluster.workers import Here
from denots.data.series import SeriesSet
from denots.data.shards import ShardedSet
from denots.errors import InvalidOption
from denots.features import NormalScores
from denots.heads.ridge_sums import Block, Part, fit_ridge_parts
from denots.inference.linear_model import table_of
from denots.registry import listed
from denots.shapes import IntArray
from denots.systems.auto import Auto
from denots.systems.discriminant import DiscriminantSystem
from denots.systems.linear import MANY_SERIES, Linear, LinearModel, linear_model, signs
from denots.systems.system import Fitted, Problem, Shape, State, System
from denots.systems.trained import Trained, TrainedModel, trained_model
from denots.tasks import Task
from denots.training.config import TrainConfig
from denots.training.examples import Examples
from denots.training.fit import History, fit
from denots.training.model import Model, run_model
from denots.training.progress import Progress

SAMPLE, SAMPLE_ROWS = 20_000, 2_000_000  # series, and rows of all of them, at most in the sample
TOGETHER = 1024  # series whose features are in memory at once


@dataclass(frozen=True)
class FromShards(System):
    """A system that learns from shards; the series of a problem are an outline whose ids are rows of the shards."""

    inner: System
    shards: ShardedSet

    def __post_init__(self) -> None:
        learners(self.inner)

    @property
    def name(self) -> str:  # type: ignore[override]
        return self.inner.name

    @property
    def description(self) -> str:  # type: ignore[override]
        return self.inner.description

    @property
    def holds_out(self) -> bool:  # type: ignore[override]
        return self.inner.holds_out

    @property
    def configs(self) -> tuple[Any, ...]:
        return self.inner.configs

    def with_options(self, **options: Any) -> "FromShards":
        return replace(self, inner=self.inner.with_options(**options))

    def check(self, task: Task, shape: Shape) -> None:
        self.inner.check(task, shape)

    def fit(
        self,
        problem: Problem,
        *,
        seed: int,
        folder: Path | None = None,
        progress: Progress | bool = False,
        deadline: float | None = None,
    ) -> Fitted:
        learn = learners(self.inner)
        return learn(self, problem, seed=seed, folder=folder, progress=progress, deadline=deadline)

    def restore(self, task: Task, shape: Shape, state: State) -> Fitted:
        return self.inner.restore(task, shape, state)

    def sample(self, rows: IntArray) -> SeriesSet:
        """Some of these series, at random, as many as tell what is typical."""
        size = min(SAMPLE, max(1, SAMPLE_ROWS * len(self.shards) // self.shards.observations))
        drawn = self.shards.sample_rows(size)
        return self.shards.select(drawn[np.isin(drawn, rows)])


@dataclass(frozen=True, slots=True, eq=False)
class ShardedInputs:
    """Series that are read from their shards when a batch asks for them."""

    shards: ShardedSet
    rows: IntArray
    prepare: Callable[[SeriesSet], Inputs]

    def __len__(self) -> int:
        return len(self.rows)

    def select(self, rows: Tensor) -> Inputs:
        return self.prepare(self.shards.select(self.rows[rows.numpy()]))


def learners(system: System) -> Callable[..., Fitted]:
    """What fits such a system from shards; others are refused."""
    for kind, learn in _LEARN.items():
        if isinstance(system, kind):
            return learn
    raise InvalidOption(
        f"system {system.name!r} has to see all series at once and cannot learn from shards; use one with a ridge "
        "(fast, summary, oscillators, timed-oscillators, convolutions, fields), or one that is trained by gradient, such as denots."
    )


def _fit_linear(self: FromShards, problem: Problem, *, seed: int, **_: Any) -> LinearModel:
    """Features of one block after the other, no more of them than many series have, and the ridge that their sums tell."""
    started, system = time.perf_counter(), cast(Linear, self.inner)
    task, train, shards = problem.task, problem.train, self.shards
    if len(train) < len(shards):
        raise InvalidOption(f"system {self.name!r} learns from all series of its shards; hold none back.")
    features = system.config.build(max(len(train), MANY_SERIES + 1), seed).fit(self.sample(train.series.ids))
    static = None if train.series.static is None else NormalScores().fit(train.series.static)

    read = _Blocks(replace(shards, workers=Here()), features, static, task, train.target)
    parts = [Part(k, *map(int, shards.offsets[k : k + 2])) for k in range(shards.shards) if shards.sizes[k]]
    model = linear_model(problem, features, static, fit_ridge_parts(read, parts, shards.workers))
    return replace(model, seconds=time.perf_counter() - started)


@dataclass(frozen=True, slots=True, eq=False)
class _Blocks:
    """Features and targets of one shard, some series at a time."""

    shards: ShardedSet
    features: Any
    static: NormalScores | None
    task: Task
    target: Tensor

    def __call__(self, part: Part, rows: IntArray) -> Iterator[Block]:
        shard = self.shards.shard(part.number)
        for begin in range(0, len(rows), TOGETHER):
            own = rows[begin : begin + TOGETHER]
            target = self.target[torch.from_numpy(part.first + own)]
            yield Block(table_of(self.features, self.static, shard.select(own)), signs(self.task, target))


def _fit_trained(
    self: FromShards,
    problem: Problem,
    *,
    seed: int,
    folder: Path | None = None,
    progress: Progress | bool = False,
    deadline: float | None = None,
) -> TrainedModel:
    """Batches from a few shards at a time, in an order that depends on seed and epoch alone."""
    system = cast(Trained, self.inner)
    if system.train.copies:
        raise InvalidOption("copies of series are not made from shards; leave copies out.")
    if system.train.balanced_sampling:
        raise InvalidOption(
            "balanced_sampling reads all shards for each batch; weigh the classes instead (--balanced)."
        )
    val = problem.held_back(self.name)
    sample = self.sample(problem.train.series.ids)
    settled = system.backbone.settled(system.config, sample)
    model = replace(system, config=settled).build(problem.task, Shape.of(sample), seed)
    model.backbone.calibrate(sample)

    def examples(ids: IntArray, target: Tensor) -> Examples:
        owner = np.searchsorted(self.shards.offsets, ids, side="right") - 1
        inputs = ShardedInputs(replace(self.shards, workers=Here()), ids, model.backbone.prepare)
        return Examples(inputs, target, shard=torch.from_numpy(owner))

    held = examples(val.series.ids, val.target)
    train = examples(problem.train.series.ids, problem.train.target)
    workers = self.shards.workers
    training = _Training(model, train, held, replace(system.train, seed=seed), folder, deadline, system.anytime)
    if isinstance(workers, Here):  # only here is somebody who could be shown how it goes
        training = replace(training, progress=progress)
    history, weights = workers.together(training)
    model.load_state_dict(weights)
    fitted = trained_model(system, settled, model, history, problem.task)
    return replace(fitted, held_back=run_model(model, held.inputs).outputs)


@dataclass(frozen=True, slots=True, eq=False)
class _Training:
    """A model and what it learns from, for whatever process takes part in it."""

    model: Model
    train: Examples
    val: Examples
    config: TrainConfig
    folder: Path | None
    deadline: float | None
    anytime: bool
    progress: Progress | bool = False

    def __call__(self, team: Team) -> tuple[History, dict[str, Tensor]]:
        with self.model.backbone.in_training():
            history = fit(
                self.model,
                self.train,
                self.val,
                self.config,
                folder=self.folder,
                progress=self.progress,
                deadline=self.deadline,
                anytime=self.anytime,
                team=team,
            )
        return history, self.model.state_dict()


def _fit_blend(self: FromShards, problem: Problem, **given: Any) -> Fitted:
    """The same blend without a discriminant, of which a few thousand series tell all that there is."""
    system = cast(Auto, self.inner)
    able = {name: member for name, member in system.members.items() if not isinstance(member, DiscriminantSystem)}
    slow = [name for name, member in able.items() if not isinstance(member, Linear)]
    if slow:
        raise InvalidOption(
            f"system {self.name!r} has members that cannot be blended from shards ({listed(slow)}); use system 'fast'."
        )
    members = {name: replace(self, inner=member) for name, member in able.items()}
    return replace(system, members=members).fit(problem, **given)


_LEARN: dict[type[System], Callable[..., Fitted]] = {Linear: _fit_linear, Trained: _fit_trained, Auto: _fit_blend}
