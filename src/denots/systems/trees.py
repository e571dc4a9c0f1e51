"""Gradient-boosted trees on summary features (LightGBM): the strong baseline that knows no time series."""

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from torch import Tensor

from denots.backbones.options import check_options
from denots.data.series import SeriesSet
from denots.errors import InvalidOption
from denots.inference.boosted_trees import BoostedTrees
from denots.inference.trees import TreeAnswers, read_forests, tree_features
from denots.options import Range, tunable
from denots.processors import threads
from denots.shapes import FloatArray
from denots.systems.system import Configured, Fitted, Problem, Shape, State
from denots.tasks import Task
from denots.training.model import Output
from denots.training.progress import Progress

MANY_ROWS = 2000  # with fewer, threads wait for each other longer than they work


@dataclass(frozen=True)
class TreesConfig:
    """The settings of LightGBM that matter.

    rounds: trees at most; fewer where the validation part stops improving for `patience` of them.
    leaves: of each tree.
    """

    learning_rate: float = tunable(0.1, Range(0.01, 0.3, log=True))
    rounds: int = 300
    leaves: int = tunable(31, Range(4, 127, log=True))
    patience: int = 30

    def __post_init__(self) -> None:
        check_options(self)
        if self.leaves < 2:
            raise InvalidOption(f"leaves must be at least 2; got {self.leaves}.")
        if self.learning_rate > 1:
            raise InvalidOption(f"learning_rate must be at most 1; got {self.learning_rate}.")


@dataclass(frozen=True, kw_only=True, eq=False)
class GrownTrees(Fitted):
    """One forest for all classes, or one for each column of numbers."""

    forests: tuple[BoostedTrees, ...]

    def outputs(self, series: SeriesSet, at: Tensor | None = None) -> Output:
        return Output.of(TreeAnswers(self.forests).outputs(series, None if at is None else at.double().numpy()))

    def state(self) -> State:
        return State({"forests": [forest.text for forest in self.forests]}, {})


@dataclass(frozen=True)
class Trees(Configured):
    """Trees grown on one row of numbers a series.

    A forecast has one row per question: the summary of what is visible, the time asked for, and
    the values there by linear interpolation.
    """

    name: str
    description: str
    config: TreesConfig = TreesConfig()

    weighs = True

    def check(self, task: Task, shape: Shape) -> None:
        """Trees grow on any table; their options are checked when they are set."""

    def fit(
        self,
        problem: Problem,
        *,
        seed: int,
        folder: Path | None = None,
        progress: Progress | bool = False,
        deadline: float | None = None,
    ) -> GrownTrees:
        started = time.perf_counter()
        task, val = problem.task, problem.held_back(self.name)
        learnt, judged = (
            tree_features(part.series, None if part.at is None else part.at.double().numpy())
            for part in (problem.train, val)
        )
        if task.learns == "classes":
            several = {"objective": "multiclass", "num_class": task.outputs}
            objective = {"objective": "binary"} if task.outputs == 1 else several
            columns = [(problem.train.target.numpy(), val.target.numpy())]
        else:
            objective = {"objective": "regression"}
            columns = list(zip(task.table(problem.train.target).T, task.table(val.target).T, strict=True))
        forests = [
            self._grow(
                objective,
                learnt[_known(y)],
                y[_known(y)],
                judged[_known(v)],
                v[_known(v)],
                seed,
                _share(deadline, len(columns) - k),
                None if problem.train.weight is None else problem.train.weight.numpy()[_known(y)],
            )
            for k, (y, v) in enumerate(columns)
        ]
        fitted = GrownTrees(
            task=task,
            parameters=sum(forest.leaves for forest in forests),
            seconds=time.perf_counter() - started,
            forests=tuple(forests),
        )
        answers = fitted.outputs(val.series, val.at).outputs
        return replace(
            fitted, score=float(task.metric(answers, val.target)), loss=float(task.loss(answers, val.target))
        )

    def restore(self, task: Task, shape: Shape, state: State) -> GrownTrees:
        forests = read_forests(state.values["forests"], 1 if task.learns == "classes" else task.outputs)
        return GrownTrees(task=task, parameters=sum(forest.leaves for forest in forests), forests=forests)

    def _grow(
        self,
        objective: dict[str, Any],
        features: FloatArray,
        target: npt.NDArray[Any],
        judged: FloatArray,
        truth: npt.NDArray[Any],
        seed: int,
        deadline: float | None,
        weight: FloatArray | None,
    ) -> BoostedTrees:
        import lightgbm

        settings = {
            **objective,
            "learning_rate": self.config.learning_rate,
            "num_leaves": self.config.leaves,
            "min_data_in_leaf": max(1, min(20, len(target) // 20)),
            "seed": seed,
            "deterministic": True,
            "force_row_wise": True,
            "num_threads": threads() if len(features) >= MANY_ROWS else 1,
            "verbosity": -1,
        }
        train = lightgbm.Dataset(features, target, weight=weight)
        stop: list[Any] = [lightgbm.early_stopping(self.config.patience, verbose=False)] if len(truth) else []
        stop += [] if deadline is None else [until(deadline)]
        val = [train.create_valid(judged, truth)] if len(truth) else []
        forest = lightgbm.train(settings, train, self.config.rounds, valid_sets=val, callbacks=stop)
        return BoostedTrees.read(forest.model_to_string(num_iteration=forest.best_iteration))


def _share(deadline: float | None, forests: int) -> float | None:
    """The deadline of the next of several forests that share the time that is left."""
    return None if deadline is None else time.time() + (deadline - time.time()) / forests


def until(deadline: float) -> Callable[[Any], None]:
    """Stops growing with the first tree that is ready after the deadline."""
    from lightgbm.callback import EarlyStopException

    def stop(env: Any) -> None:
        if time.time() > deadline:
            raise EarlyStopException(env.iteration, env.evaluation_result_list or [])

    return stop


def _known(column: FloatArray) -> Any:
    return ~np.isnan(column)
