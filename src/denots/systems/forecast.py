"""Forecasts as a departure from the best simple forecast of each channel."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from denots.backbones.options import check_options
from denots.data.series import SeriesSet
from denots.errors import InvalidOption
from denots.options import Range, tunable
from denots.shapes import FloatArray
from denots.systems.departure import Departure, ForestOptions, Lesson, Ridge, learn_again, learn_departure
from denots.systems.forecast_features import Knowledge, Told
from denots.systems.forecast_questions import draw_exercises, thin
from denots.systems.simple import asked_forecast
from denots.systems.system import Configured, Fitted, Problem, Shape, State
from denots.tasks import Forecast, Task
from denots.tasks.simple_forecasts import (
    Questions,
    Smoothing,
    learn_smoothing,
    memories_of,
    restore_smoothing,
    smoothing_state,
)
from denots.training.model import Output
from denots.training.progress import Progress

AT_ONCE = 50_000  # questions answered together; more only take more memory
KINDS = ("beyond", "between")  # whether the channel was seen after the time that is asked for


@dataclass(frozen=True)
class ForecastConfig:
    """How much is learnt.

    questions: asked in training, over all channels; one channel has at most a quarter of them.
    learning_rate, rounds, leaves, patience: of the trees, as in system "trees".
    """

    questions: int = 400_000
    learning_rate: float = tunable(0.05, Range(0.01, 0.3, log=True))
    rounds: int = 400
    leaves: int = tunable(31, Range(4, 127, log=True))
    patience: int = 30

    def __post_init__(self) -> None:
        check_options(self)
        if self.leaves < 2:
            raise InvalidOption(f"leaves must be at least 2; got {self.leaves}.")
        if self.learning_rate > 1:
            raise InvalidOption(f"learning_rate must be at most 1; got {self.learning_rate}.")

    def forest(self, columns: int) -> ForestOptions:
        return ForestOptions(columns, self.learning_rate, self.rounds, self.leaves, self.patience)


class Channel(NamedTuple):
    """What is learnt of one channel: its simple forecasts, and the departure of each kind of question."""

    smoothing: Smoothing
    departures: tuple[Departure, ...]


@dataclass(frozen=True, kw_only=True, eq=False)
class Departures(Fitted):
    """The simple forecasts and departures of all channels; every question is answered by itself."""

    memories: FloatArray
    channels: tuple[Channel, ...]

    def outputs(self, series: SeriesSet, at: Tensor | None = None) -> Output:
        if at is None:
            raise InvalidOption("a forecast is asked at times; give some.")
        task = asked_forecast(self.task, "forecast")
        knowledge = Knowledge(series, task.scale, self.memories)
        parts = [self._answered(knowledge, asked) for asked in knowledge.at(at.double().numpy(), AT_ONCE)]
        outputs = torch.from_numpy(np.concatenate(parts)).reshape(*at.shape, -1)
        return Output(outputs, torch.ones(len(series), dtype=torch.bool))

    def _answered(self, knowledge: Knowledge, asked: Questions) -> FloatArray:
        table = np.empty((len(asked.time), len(self.channels)))
        for c, (smoothing, departures) in enumerate(self.channels):
            told = knowledge.told(c, asked, smoothing)
            for kind, departure in enumerate(departures):
                rows = told.between == bool(kind)
                some = asked.select(rows)
                base = told.simple[departure.base][rows]
                features = knowledge.features(c, some, told.select(rows), base)
                table[rows, c] = base + features.unit * departure.predict(features.table)
        return table

    def state(self) -> State:
        departures = [departure for channel in self.channels for departure in channel.departures]
        told = [
            {
                "base": one.base,
                "shares": list(one.shares),
                "forest": None if one.forest is None else one.forest.model_to_string(),
            }
            for one in departures
        ]
        ridges = {f"ridge.{k}": one.ridge.as_array() for k, one in enumerate(departures) if one.ridge is not None}
        smoothing = smoothing_state([channel.smoothing for channel in self.channels])
        return State({"smoothing": smoothing, "departures": told}, {"memories": self.memories, **ridges})


@dataclass(frozen=True)
class ForecastSystem(Configured):
    """Learns how far the truth lies from the best simple forecast, channel by channel."""

    name: str
    description: str
    config: ForecastConfig = ForecastConfig()

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
    ) -> Departures:
        started = time.perf_counter()
        task, val = asked_forecast(problem.task, self.name), problem.held_back(self.name)
        whole = [task.complete(part) for part in (problem.train, val)]
        memories = memories_of(whole[0])
        lessons = [_Lessons(series, task, memories) for series in whole]
        learnt = [self._learn(lessons, c, seed) for c in range(task.outputs)]
        judged = Departures(task=task, memories=memories, channels=tuple(first for first, _ in learnt))
        answers = judged.outputs(val.series, val.at).outputs
        channels = tuple(final for _, final in learnt)
        return Departures(
            task=task,
            score=float(task.metric(answers, val.target)),
            loss=float(task.loss(answers, val.target)),
            parameters=sum(1 + one.parameters for channel in channels for one in channel.departures),
            seconds=time.perf_counter() - started,
            held_back=answers,
            memories=memories,
            channels=channels,
        )

    def _learn(self, lessons: Sequence["_Lessons"], channel: int, seed: int) -> tuple[Channel, Channel]:
        """One channel as learnt from the training part, by which it is judged; then as learnt from both."""
        train, val = lessons
        rng = np.random.default_rng([seed, channel])
        count = self.config.questions // max(train.channels, 4)
        smoothing = train.draw(channel, count, rng)
        val.draw(channel, max(count * len(val) // len(train), 1), rng, smoothing)
        found, final = [], []
        for kind in range(len(KINDS)):
            base = train.best(kind)
            learnt, columns = train.lesson(channel, kind, base)
            judged, _ = val.lesson(channel, kind, base)
            options = self.config.forest(columns)
            departure = learn_departure(base, learnt, judged, options, seed)
            found.append(departure)
            final.append(learn_again(departure, learnt.joined(judged), options, seed))
        return Channel(smoothing, tuple(found)), Channel(smoothing, tuple(final))

    def restore(self, task: Task, shape: Shape, state: State) -> Departures:
        import lightgbm

        asked_forecast(task, self.name)
        told = state.values["departures"]
        if len(told) != shape.channels * len(KINDS):
            raise ValueError(f"{len(told)} departures, but there are {shape.channels} channels")
        smoothing = restore_smoothing(state.values["smoothing"])
        try:
            departures = [
                Departure(
                    base=str(one["base"]),
                    shares=(float(one["shares"][0]), float(one["shares"][1])),
                    ridge=Ridge.of_array(state.arrays[f"ridge.{k}"]) if f"ridge.{k}" in state.arrays else None,
                    forest=None if one["forest"] is None else lightgbm.Booster(model_str=one["forest"]),
                )
                for k, one in enumerate(told)
            ]
        except lightgbm.basic.LightGBMError as error:
            raise ValueError(f"trees cannot be read ({error})") from error
        pairs = zip(smoothing, departures[::2], departures[1::2], strict=True)
        channels = tuple(Channel(one, (beyond, between)) for one, beyond, between in pairs)
        parameters = sum(1 + one.parameters for one in departures)
        return Departures(task=task, parameters=parameters, memories=state.arrays["memories"], channels=channels)


class _Lessons:
    """Questions about series that are known completely, seen with all of their rows or with every second one."""

    def __init__(self, series: SeriesSet, task: Forecast, memories: FloatArray) -> None:
        self.views = [Knowledge(seen, task.scale, memories) for seen in (series, thin(series))]
        self.channels, self.memories = task.outputs, memories
        self._asked: list[tuple[Knowledge, Questions, FloatArray, Told]] = []

    def __len__(self) -> int:
        return len(self.views[0].series)

    def draw(self, channel: int, count: int, rng: np.random.Generator, smoothing: Smoothing | None = None) -> Smoothing:
        """Draw the questions about a channel; the simple forecasts learn from those beyond a cut, unless they have."""
        whole = self.views[0]
        exercises = draw_exercises(whole.series, channel, count, rng)
        if smoothing is None:
            first = exercises[0] if exercises else None
            nothing = Questions(np.zeros(0, dtype=np.int64), np.zeros(0), np.zeros(0))
            asked, answers = (nothing, np.zeros(0)) if first is None else first[1:]
            history = whole.histories[channel]
            mean = float(history.values.mean()) if len(history.values) else 0.0
            smoothing = learn_smoothing(history, asked, answers, self.memories, mean)
        self._asked = []
        for thinned, asked, answers in exercises:
            view = self.views[thinned]
            self._asked.append((view, asked, answers, view.told(channel, asked, smoothing)))
        return smoothing

    def best(self, kind: int) -> str:
        """The simple forecast of least squared error."""
        errors: dict[str, float] = {}
        for _, _, answers, told in self._asked:
            rows = told.between == bool(kind)
            for name, given in told.simple.items():
                errors[name] = errors.get(name, 0.0) + float(np.square(given - answers)[rows].sum())
        return min(errors, key=lambda name: errors[name]) if errors else "last value"

    def lesson(self, channel: int, kind: int, base: str) -> tuple[Lesson, int]:
        """Features and departures of one kind of question, and how many of the columns are for trees."""
        found, columns = [Lesson(np.zeros((0, 0)), np.zeros(0), np.zeros(0))], 0
        for view, asked, answers, told in self._asked:
            rows = told.between == bool(kind)
            simple = told.simple[base][rows]
            table, columns, unit = view.features(channel, asked.select(rows), told.select(rows), simple)
            found.append(Lesson(table, (answers[rows] - simple) / unit, unit))
        return Lesson(*(np.concatenate(part) for part in zip(*(found[1:] or found), strict=True))), columns
