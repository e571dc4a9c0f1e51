"""Simple forecasts as systems: nothing is learnt but a memory, a damping and a mean of each channel."""

import time
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Literal

import torch
from torch import Tensor

from denots.backbones.options import check_options
from denots.data.series import SeriesSet
from denots.errors import InvalidOption
from denots.systems.system import Configured, Fitted, Problem, Shape, State
from denots.tasks import Forecast, Part, Task
from denots.tasks.simple_forecasts import Smoothing
from denots.training.model import Output
from denots.training.progress import Progress


@dataclass(frozen=True)
class SimpleConfig:
    """rule: which simple forecast is given."""

    rule: Literal["last value", "mean of the last eight", "running mean", "damped trend", "interpolation"] = (
        "running mean"
    )

    def __post_init__(self) -> None:
        check_options(self)


@dataclass(frozen=True, kw_only=True, eq=False)
class SimpleAnswers(Fitted):
    """A simple forecast; all that it knows is in the task."""

    rule: str

    def outputs(self, series: SeriesSet, at: Tensor | None = None) -> Output:
        task = asked_forecast(self.task, self.rule)
        answers = task.simple(Part(series, torch.empty(0), at))[self.rule]
        outputs = task.scale.shrink(torch.from_numpy(answers), torch.float64)
        return Output(outputs, torch.ones(len(series), dtype=torch.bool))

    def state(self) -> State:
        return State({}, {})


@dataclass(frozen=True)
class Simple(Configured):
    """One of the simple forecasts."""

    name: str
    description: str
    config: SimpleConfig = SimpleConfig()

    def serves(self, task: type[Task]) -> bool:
        return issubclass(task, Forecast)

    def check(self, task: Task, shape: Shape) -> None:
        asked_forecast(task, self.name)

    def fit(
        self,
        problem: Problem,
        *,
        seed: int,
        folder: Path | None = None,
        progress: Progress | bool = False,
        deadline: float | None = None,
    ) -> SimpleAnswers:
        started = time.perf_counter()
        task, val = asked_forecast(problem.task, self.name), problem.held_back(self.name)
        fitted = self.restore(task, Shape.of(problem.train.series), State({}, {}))
        answers = fitted.outputs(val.series, val.at).outputs
        return replace(
            fitted,
            score=float(task.metric(answers, val.target)),
            loss=float(task.loss(answers, val.target)),
            seconds=time.perf_counter() - started,
        )

    def restore(self, task: Task, shape: Shape, state: State) -> SimpleAnswers:
        forecast = asked_forecast(task, self.name)
        if len(forecast.smoothing) != shape.channels:
            raise ValueError(f"simple forecasts of {len(forecast.smoothing)} channels, but there are {shape.channels}")
        return SimpleAnswers(
            task=task, parameters=len(forecast.smoothing) * len(fields(Smoothing)), rule=self.config.rule
        )


def asked_forecast(task: Task, system: str) -> Forecast:
    """The task as a forecast; any other is refused."""
    if not isinstance(task, Forecast):
        raise InvalidOption(f"system {system!r} gives forecasts and cannot learn {task.name}; choose another system.")
    return task
