"""Gradient-boosted trees on the history of a series up to each moment (LightGBM): nothing that comes later is read."""

import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from denots.backbones.options import check_options
from denots.data.running import median_gap, running_summary
from denots.data.series import SeriesSet
from denots.errors import InvalidOption
from denots.inference.boosted_trees import BoostedTrees
from denots.inference.questions import Questions
from denots.inference.running_trees import WINDOWS, RunningTreeAnswers
from denots.options import Range, tunable
from denots.processors import threads
from denots.shapes import FloatArray
from denots.systems.system import Configured, Fitted, Problem, Shape, State
from denots.systems.trees import MANY_ROWS, until
from denots.tasks import Part, RowTask, Task
from denots.training.model import Output
from denots.training.progress import Progress


@dataclass(frozen=True)
class RunningTreesConfig:
    """The settings of LightGBM that matter for many rows and columns.

    rounds: trees at most; fewer where the validation part stops improving for `patience` of them.
    leaves: of each tree.
    columns, rows: the share of columns and of rows that each tree sees.
    """

    learning_rate: float = tunable(0.04, Range(0.01, 0.3, log=True))
    rounds: int = 1000
    leaves: int = tunable(31, Range(4, 127, log=True))
    patience: int = 30
    columns: float = tunable(0.4, Range(0.05, 1.0))
    rows: float = 0.5

    def __post_init__(self) -> None:
        check_options(self)
        if self.leaves < 2:
            raise InvalidOption(f"leaves must be at least 2; got {self.leaves}.")
        for name in ("learning_rate", "columns", "rows"):
            if getattr(self, name) > 1:
                raise InvalidOption(f"{name} must be at most 1; got {getattr(self, name)}.")


@dataclass(frozen=True, kw_only=True, eq=False)
class RunningForest(Fitted):
    """A forest, and how far back the recent past reaches."""

    forest: BoostedTrees
    windows: tuple[float, ...]

    def outputs(self, series: SeriesSet, at: Tensor | None = None) -> Output:
        moments = None if at is None else at.double().numpy()
        return Output.of(RunningTreeAnswers(self.forest, self.windows).outputs(series, moments))

    def state(self) -> State:
        return State({"forest": self.forest.text, "windows": list(self.windows)}, {})


@dataclass(frozen=True)
class RunningTrees(Configured):
    """Trees grown on one row of numbers for each row of a series whose answer is known."""

    name: str
    description: str
    config: RunningTreesConfig = RunningTreesConfig()

    weighs = True

    @property
    def causal(self) -> bool:
        return True

    def serves(self, task: type[Task]) -> bool:
        return issubclass(task, RowTask)

    def check(self, task: Task, shape: Shape) -> None:
        row_task(task, self.name)

    def fit(
        self,
        problem: Problem,
        *,
        seed: int,
        folder: Path | None = None,
        progress: Progress | bool = False,
        deadline: float | None = None,
    ) -> RunningForest:
        started = time.perf_counter()
        task, val = row_task(problem.task, self.name), problem.held_back(self.name)
        windows = tuple(count * median_gap(problem.train.series) for count in WINDOWS)
        forest = self._grow(task, problem.train, val, windows, seed, deadline)
        fitted = RunningForest(
            task=task,
            parameters=forest.leaves,
            seconds=time.perf_counter() - started,
            forest=forest,
            windows=windows,
        )
        answers = fitted.outputs(val.series, val.at).outputs
        return replace(
            fitted, score=float(task.metric(answers, val.target)), loss=float(task.loss(answers, val.target))
        )

    def restore(self, task: Task, shape: Shape, state: State) -> RunningForest:
        found = RunningTreeAnswers.restore(state)
        return RunningForest(
            task=row_task(task, self.name),
            parameters=found.forest.leaves,
            forest=found.forest,
            windows=found.windows,
        )

    def _grow(
        self, task: RowTask, train: Part, val: Part, windows: tuple[float, ...], seed: int, deadline: float | None
    ) -> BoostedTrees:
        import lightgbm

        features, target, weight = lesson(task, train, windows)
        settings = {
            **objective(task),
            "learning_rate": self.config.learning_rate,
            "num_leaves": self.config.leaves,
            "min_data_in_leaf": max(1, min(1000, len(target) // 50)),
            "feature_fraction": self.config.columns,
            "bagging_fraction": self.config.rows,
            "bagging_freq": 1,
            "max_bin": 63,
            "seed": seed,
            "deterministic": True,
            "force_row_wise": True,
            "num_threads": threads() if len(target) >= MANY_ROWS else 1,
            "verbosity": -1,
        }
        data = lightgbm.Dataset(features, target, weight=weight)
        stop: list[Any] = [] if deadline is None else [until(deadline)]
        judged: list[Any] = []
        if (~val.target.isnan()).any():
            judged = [data.create_valid(*lesson(task, val, windows))]
            stop.append(lightgbm.early_stopping(self.config.patience, verbose=False))
        forest = lightgbm.train(settings, data, self.config.rounds, valid_sets=judged, callbacks=stop)
        return BoostedTrees.read(forest.model_to_string(num_iteration=forest.best_iteration))


def row_task(task: Task, system: str) -> RowTask:
    """The task, if it asks something of each row."""
    if not isinstance(task, RowTask):
        raise InvalidOption(
            f"system {system!r} tells something of each row and cannot learn {task.name}; give a row target."
        )
    return task


def objective(task: RowTask) -> dict[str, Any]:
    if task.learns == "numbers":
        return {"objective": "regression"}
    several = {"objective": "multiclass", "num_class": task.outputs}
    return {"objective": "binary"} if task.outputs == 1 else several


def lesson(task: RowTask, part: Part, windows: tuple[float, ...]) -> tuple[FloatArray, FloatArray, FloatArray | None]:
    """Features, targets and weights of the rows whose answer is known."""
    if part.at is None:
        raise InvalidOption(f"{task.name} is asked at times; this part has none.")
    known = ~part.target.isnan()
    target = task.flat_target(part.target[known])
    weight = task.row_weights(target) if part.weight is None else task.known_weights(part.target, part.weight)
    asked = Questions.at(part.at.double().numpy(), known.numpy())
    features = running_summary(part.series, asked.moments, windows)
    learnt = target if task.learns == "classes" else torch.from_numpy(task.of.table(target))
    return features, learnt.flatten().numpy(), None if weight is None else (weight / weight.mean()).numpy()
