"""Extremely randomised trees on quantiles of parts of each series, and on statistics of the whole."""

import time
from dataclasses import dataclass, replace
from pathlib import Path

from torch import Tensor

from denots.backbones.options import check_options
from denots.data.series import SeriesSet
from denots.features import Intervals
from denots.heads.forest import grow_forest
from denots.inference.forest import Forest, ForestAnswers, forest_features
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
        classes = max(2, self.task.outputs) if self.task.learns == "classes" else 0
        return Output.of(ForestAnswers(self.features, self.forest, classes).outputs(series))

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
            forest_features(features, train.series),
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
        classes = max(2, task.outputs) if task.learns == "classes" else task.outputs
        forest = Forest.restore(arrays, classes)
        return GrownForest(task=task, parameters=forest.value.size, features=Intervals().restore(arrays), forest=forest)
