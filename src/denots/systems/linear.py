"""Features of each series and a ridge on top: closed forms, no epochs."""

import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from denots.backbones.options import check_options
from denots.data.series import SeriesSet
from denots.errors import InvalidOption
from denots.features import Convolutions, NormalScores, Oscillators, RandomFields, Summary
from denots.heads.combine import calibrate
from denots.heads.ridge import Ridge, fit_ridge, lean_of_means
from denots.inference.linear_model import LinearAnswers, table_of
from denots.inference.solve import MAX_STATES
from denots.options import Choice, Range, tunable
from denots.shapes import FloatArray
from denots.systems.held_out import held_out_loss
from denots.systems.system import Configured, Fitted, Problem, Shape, State
from denots.tasks import Task
from denots.training.model import Output
from denots.training.progress import Progress

MOST_FEATURES, MANY_SERIES = 10_000, 4_000  # a ridge takes the cube of the smaller of both
COUNTS = ("oscillators", "filters")  # options that go by the number of series


def most_features(series: int) -> int:
    return MOST_FEATURES if series <= MANY_SERIES else MANY_SERIES


@dataclass(frozen=True)
class OscillatorsConfig:
    """Options of `features.Oscillators`.

    oscillators: None goes by the number of series, up to 2000.
    """

    oscillators: int | None = None
    thresholds: int = tunable(5, Range(2, 9))
    timed: bool = tunable(False, Choice((False, True)))

    def __post_init__(self) -> None:
        check_options(self)

    def build(self, series: int, seed: int) -> Oscillators:
        count = self.oscillators or most_features(series) // self.thresholds
        return Oscillators(count, self.thresholds, timed=self.timed, random_state=seed)


@dataclass(frozen=True)
class ConvolutionsConfig:
    """Options of `features.Convolutions`.

    filters: None goes by the number of series, up to 2000.
    """

    filters: int | None = None
    thresholds: int = tunable(5, Range(2, 9))

    def __post_init__(self) -> None:
        check_options(self)

    def build(self, series: int, seed: int) -> Convolutions:
        count = self.filters or most_features(series) // self.thresholds
        return Convolutions(count, self.thresholds, random_state=seed)


@dataclass(frozen=True)
class RandomFieldsConfig:
    """Options of `features.RandomFields`."""

    fields: int = 33
    states: int = tunable(32, Choice((8, 16, 32)))
    thresholds: int = tunable(3, Range(1, 5))

    def __post_init__(self) -> None:
        check_options(self, most={"states": MAX_STATES})

    def build(self, series: int, seed: int) -> RandomFields:
        return RandomFields(self.fields, self.states, self.thresholds, random_state=seed)


class RankedSummary:
    """Statistics of each series, by rank."""

    def __init__(self) -> None:
        self.summary, self.scores = Summary(), NormalScores()

    def fit(self, series: SeriesSet) -> "RankedSummary":
        self.scores.fit(self.summary.fit(series).transform(series))
        return self

    def transform(self, series: SeriesSet) -> FloatArray:
        return np.asarray(self.scores.transform(self.summary.transform(series)))

    def state(self) -> dict[str, np.ndarray]:
        return self.scores.state()

    def restore(self, state: dict[str, np.ndarray]) -> "RankedSummary":
        self.summary.restore({})
        self.scores.restore(state)
        return self


@dataclass(frozen=True)
class SummaryConfig:
    """There is nothing to choose."""

    def build(self, series: int, seed: int) -> RankedSummary:
        return RankedSummary()


@dataclass(frozen=True, kw_only=True, eq=False)
class LinearModel(Fitted):
    """Features, a ridge, and what brings its answers to the scale of the task's outputs."""

    features: Any
    static: NormalScores | None
    ridge: Ridge
    factor: float
    shift: FloatArray

    def outputs(self, series: SeriesSet, at: Tensor | None = None) -> Output:
        ridge = self.ridge
        return Output.of(
            LinearAnswers(self.features, self.static, ridge.weight, ridge.bias, self.factor, self.shift).outputs(series)
        )

    def state(self) -> State:
        parts = {"features": self.features.state(), "static": {} if self.static is None else self.static.state()}
        arrays = {f"{part}.{name}": array for part, found in parts.items() for name, array in found.items()}
        arrays |= {"weight": self.ridge.weight, "bias": self.ridge.bias, "shift": self.shift}
        size = next((getattr(self.features, name) for name in COUNTS if hasattr(self.features, name)), 0)
        return State({"factor": self.factor, "sizes": size}, arrays)


@dataclass(frozen=True)
class Linear(Configured):
    """Answers once a series, not at query times."""

    name: str
    description: str
    config: Any

    holds_out, weighs = False, True

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
    ) -> LinearModel:
        started = time.perf_counter()
        self.check(problem.task, Shape.of(problem.train.series))
        task, train = problem.task, problem.train
        features = self.config.build(len(train), seed).fit(train.series)
        static = None if train.series.static is None else NormalScores().fit(train.series.static)
        ridge = fit_ridge(
            table_of(features, static, train.series),
            signs(task, train.target),
            weight=None if train.weight is None else train.weight.numpy(),
            groups=train.groups,
        )
        return replace(linear_model(problem, features, static, ridge), seconds=time.perf_counter() - started)

    def restore(self, task: Task, shape: Shape, state: State) -> LinearModel:
        parts: dict[str, dict[str, np.ndarray]] = {"features": {}, "static": {}}
        for name, array in state.arrays.items():
            part, dot, own = name.partition(".")
            if dot:
                parts[part][own] = array
        config = self.config
        for name in self.options.keys() & set(COUNTS):
            config = replace(config, **{name: int(state.values["sizes"])})
        features = config.build(1, 0).restore(parts["features"])
        static = NormalScores().restore(parts["static"]) if shape.static else None
        weight, bias, shift = (state.arrays[name] for name in ("weight", "bias", "shift"))
        if weight.ndim != 2 or len(weight) != task.outputs or bias.shape != shift.shape != (task.outputs,):
            raise ValueError(f"a ridge needs {task.outputs} rows of weights")
        return LinearModel(
            task=task,
            parameters=weight.size + bias.size,
            features=features,
            static=static,
            ridge=Ridge(weight, bias, np.zeros((0, task.outputs))),
            factor=float(state.values["factor"]),
            shift=shift,
        )


def linear_model(problem: Problem, features: Any, static: NormalScores | None, ridge: Ridge) -> LinearModel:
    """A fitted ridge, brought to the scale of outputs by what it says of series that are left out, and judged."""
    task, train = problem.task, problem.train
    left_out = torch.from_numpy(ridge.left_out)
    told = ~left_out.isnan().any(dim=1)
    weight = None if train.weight is None else train.weight[told]
    factor, lean = 1.0, None
    shift: FloatArray = np.zeros(task.outputs)
    if task.learns == "classes":
        factor, shift = calibrate(left_out[told], held_out_loss(task, train.target[told], weight))
        own = None if train.weight is None else train.weight.numpy()
        lean = torch.from_numpy(factor * lean_of_means(signs(task, train.target), own, train.groups))
    model: LinearModel = judged(
        LinearModel(
            task=task,
            parameters=ridge.weight.size + ridge.bias.size,
            held_out=left_out * factor + torch.from_numpy(shift),
            lean=lean,
            features=features,
            static=static,
            ridge=ridge,
            factor=factor,
            shift=shift,
        ),
        problem,
    )
    return model


def refuse_times(name: str, task: Task) -> None:
    """Refuse tasks that ask at times: features tell of a whole series."""
    if task.asks_times:
        raise InvalidOption(
            f"system {name!r} answers once a series and cannot {task.name}; `denots systems` lists others."
        )


def signs(task: Task, target: Tensor) -> FloatArray:
    """Classes as columns of 1 and -1, one where there are two classes; numbers as they are learnt."""
    if task.learns != "classes":
        return task.table(target)
    classes = torch.arange(task.outputs) if task.outputs > 1 else torch.ones(1, dtype=torch.int64)
    return torch.where(target[:, None] == classes, 1.0, -1.0).double().numpy()


def judged(model: Any, problem: Problem) -> Any:
    """The model with its score and loss: on the validation part, or by what was held out."""
    if problem.val is not None:
        told, target = model.outputs(problem.val.series).outputs, problem.val.target
        compared = told
    else:
        known = ~model.held_out.isnan().any(dim=1)
        told, compared, target = model.held_out[known], model.compared[known], problem.train.target[known]
    task = problem.task
    return replace(model, score=float(task.metric(compared, target)), loss=float(task.loss(told, target)))
