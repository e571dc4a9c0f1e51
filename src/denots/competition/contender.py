"""Who competes: every system of the registry, by its name, and what else can learn and tell."""

import abc
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np

from denots.competition.contest import Grid
from denots.competition.judge import Told
from denots.data.series import SeriesSet
from denots.estimators import SeriesClassifier, estimator_for
from denots.systems import SYSTEMS, System
from denots.tasks import TASKS, Task

Teller = Callable[[SeriesSet], Told]


class Contender(abc.ABC):
    """Something that learns from series with a target and tells that of others. A subclass is a frozen dataclass."""

    name: str
    description: str

    @abc.abstractmethod
    def check(self) -> None:
        """Refuse to compete, with the reason, where something has to be installed first."""

    @abc.abstractmethod
    def warm_up(self, train: SeriesSet, task: type[Task], metric: str, grid: Grid) -> None:
        """Whatever has to be done once in a process and is no part of the work, such as compiling."""

    @abc.abstractmethod
    def fit(self, train: SeriesSet, task: type[Task], metric: str, grid: Grid, seed: int) -> Teller:
        """Learn from the training part; `grid` is for those that cannot read series as they are."""


@dataclass(frozen=True)
class House(Contender):
    """A system of the registry behind its estimator, as any user has it."""

    name: str
    description: str
    system: str
    options: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, system: str) -> "House":
        return cls(system, SYSTEMS.find(system).description, system)

    def check(self) -> None:
        SYSTEMS.find(self.system).with_options(**self.options)

    def warm_up(self, train: SeriesSet, task: type[Task], metric: str, grid: Grid) -> None:
        load_libraries()

    def fit(self, train: SeriesSet, task: type[Task], metric: str, grid: Grid, seed: int) -> Teller:
        estimator: Any = estimator_for(task, system=self.system, options=dict(self.options), random_state=seed)
        estimator.fit(train)

        def tell(series: SeriesSet) -> Told:
            if not isinstance(estimator, SeriesClassifier):
                answers = np.asarray(estimator.predict(series), dtype=np.float64)
                return Told(np.where(np.isnan(answers), estimator.task_.mean, answers))
            shares = estimator.predict_proba(series)
            return Told.of_shares(np.where(np.isnan(shares), estimator.task_.shares, shares), estimator.classes_)

        return tell


def houses() -> dict[str, System]:
    """Systems of the registry that answer what a contest asks; others forecast, or tell something of each row."""
    kinds = [task for task in TASKS.complete().values() if not task.asks_times]
    return {name: system for name, system in SYSTEMS.complete().items() if any(map(system.serves, kinds))}


@cache
def load_libraries() -> None:
    """Import, once in a process, the libraries that systems share, by growing a tree on next to nothing."""
    tiny = SeriesSet.from_numpy(np.arange(32.0).reshape(8, 1, 4), target=np.arange(8) % 2)
    SeriesClassifier("trees", options={"rounds": 1}).fit(tiny)
