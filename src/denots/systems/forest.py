"""Extremely randomised trees on quantiles of parts of each series, and on statistics of the whole."""

import time
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from denots.backbones.options import check_options
from denots.data.series import SeriesSet
from denots.data.summary import summarise
from denots.features import Intervals
from denots.heads.forest import Forest, grow_forest
from denots.shapes import FloatArray
from denots.systems.linear import judged, refuse_times
from denots.systems.system import Configured, Fitted, Problem, Shape, State
from denots.tasks import Task
from denots.training.model import Output
from denots.training.progress import Progress


@dataclass(frozen=True)
class ForestConfig:
    trees: int = 50

    def __post_init__(self) -> None:
        check_options(self)


@dataclass(frozen=True, kw_only=True, eq=False)
class GrownForest(Fitted):
    """Shares of classes as logits, or means."""

    features: Intervals
    forest: Forest

    def outputs(self, series: SeriesSet, at: Tensor | None = None) -> Output:
        told = torch.from_numpy(self.forest.predict(_table(self.features, series))).double()
        if self.task.learns == "classes":
            # One more tree that knows nothing, so that no class is ever impossible.
            trees, classes = len(self.forest.roots), told.shape[1]
            logits = ((told * trees + 1 / classes) / (trees + 1)).log()
            told = logits if self.task.outputs > 1 else logits[:, 1:] - logits[:, :1]
        return Output(told, torch.ones(len(series), dtype=torch.bool))

    def state(self) -> State:
        return State({}, {**self.features.state(), **self.forest.arrays()})


@dataclass(frozen=True)
class ForestSystem(Configured):
    """Answers once a series, not at query times."""

    name: str
    description: str
    config: ForestConfig = ForestConfig()

    weighs = True

    def serves(self, task: type[Task]) -> bool:
        return not task.asks_times

    def check(self, task: Task, shape: Shape) -> None:
        refuse_times(self.name, task)

    def fit(
        self,
        problem: Problem,
        *,
        seed: int,
        folder: Path | None = None,
        progress: Progress | bool = False,
        deadline: float | None = None,
    ) -> GrownForest:
        started = time.perf_counter()
        self.check(problem.task, Shape.of(problem.train.series))
        task, train = problem.task, problem.train
        features = Intervals().fit(train.series)
        classes = max(2, task.outputs) if task.learns == "classes" else 0
        forest = grow_forest(
            _table(features, train.series),
            train.target.numpy() if classes else task.table(train.target),
            classes=classes,
            trees=self.config.trees,
            seed=seed,
            weight=None if train.weight is None else train.weight.numpy(),
            deadline=deadline,
        )
        model = GrownForest(task=task, parameters=forest.value.size, features=features, forest=forest)
        if problem.val is not None:
            model = judged(model, problem)
        return replace(model, seconds=time.perf_counter() - started)

    def restore(self, task: Task, shape: Shape, state: State) -> GrownForest:
        arrays = dict(state.arrays)
        forest = Forest(*(arrays[name] for name in Forest.__slots__))
        classes = max(2, task.outputs) if task.learns == "classes" else task.outputs
        _check(forest, classes)
        return GrownForest(task=task, parameters=forest.value.size, features=Intervals().restore(arrays), forest=forest)


def _check(forest: Forest, width: int) -> None:
    """Refuse trees that lead out of themselves or in circles: a child comes after its parent."""
    nodes = len(forest.value)
    own = np.arange(nodes)
    whole = all(len(part) == nodes for part in (forest.left, forest.right, forest.feature, forest.threshold))
    if not whole or forest.value.ndim != 2 or forest.value.shape[1] != width or not len(forest.roots):
        raise ValueError("the arrays of a forest differ in length")
    for child in (forest.left, forest.right, forest.roots):
        if child.min() < 0 or child.max() >= nodes:
            raise ValueError("a tree leads to a node that is not there")
    leaf = (forest.left == own) & (forest.right == own)
    if not (leaf | ((forest.left > own) & (forest.right > own))).all():
        raise ValueError("a tree leads back to a node before")


def _table(features: Intervals, series: SeriesSet) -> FloatArray:
    return np.concatenate([features.transform(series), summarise(series)], axis=1)
