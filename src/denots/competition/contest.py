"""What is competed on: a set to learn from, a set to be judged by, and the metric that decides."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from denots.competition.gaps import drop_steps
from denots.data.join import joined
from denots.data.series import SeriesSet
from denots.datasets import DATASETS, DerivedRecipe, load
from denots.datasets.archive import PREFIX, imported_archives
from denots.datasets.dataset import stream
from denots.datasets.imports import import_folder, open_import
from denots.errors import InvalidOption
from denots.shapes import IntArray
from denots.tasks import TASKS, Task

METRICS = {"r2": "R2", "auroc": "AUROC", "accuracy": "accuracy"}  # by the names that recipes use
# Beside the sets of the archive: their gaps are their own.
BUILT_IN = ("pendulum", "uwgl", "sepsis", "physionet-2012")


@dataclass(frozen=True, slots=True, eq=False)
class Grid:
    """Even points for systems that need them: so many, over the common span or over each series' own."""

    points: int
    span: tuple[float, float] | None

    @classmethod
    def of(cls, train: SeriesSet, test: SeriesSet) -> "Grid":
        """For complete series: as many points as the longest has steps, a common span where all learnt from share it."""
        first, last = train.times[train.offsets[:-1]], train.ends
        shared = np.ptp(first) == 0 and np.ptp(last) == 0
        points = int(max(train.lengths.max(), test.lengths.max()))
        return cls(points, (float(first[0]), float(last[0])) if shared else None)


@dataclass(frozen=True, slots=True, eq=False)
class Contest:
    """A data set with its official parts; gaps can be drawn into sets of the archive."""

    name: str
    task: type[Task]
    metric: str
    train: SeriesSet
    test: SeriesSet
    own_gaps: bool

    def arranged(self, gap: float | None, draw: int, resample: int) -> tuple[SeriesSet, SeriesSet, Grid]:
        """Training and test part of one match, and the even grid of the complete series.

        Gaps depend on set, part and draw alone: they are drawn before series change sides. Resample 0 is
        the official split; others exchange series between the parts, and every class keeps its numbers.
        """
        parts = {"train": self.train, "test": self.test}
        archive = self.name.removeprefix(PREFIX)
        if gap:
            parts = {
                part: drop_steps(series, gap, stream(draw, archive, part, "gaps")) for part, series in parts.items()
            }
        if not resample:
            return parts["train"], parts["test"], Grid.of(self.train, self.test)
        complete, gappy = joined([self.train, self.test]), joined([parts["train"], parts["test"]])
        labels = complete.target if self.task.learns == "classes" else None
        learn, judge = exchanged(len(self.train), len(complete), labels, resample)
        return gappy.select(learn), gappy.select(judge), Grid.of(complete.select(learn), complete.select(judge))

    def some_of(self, train: SeriesSet, count: int, draw: int) -> SeriesSet:
        """So many series of a training part, at random."""
        if count > len(train):
            raise InvalidOption(f"{self.name} has {len(train)} series to learn from, not {count}.")
        chosen = stream(draw, self.name, "learn").permutation(len(train))[:count]
        return train.select(np.sort(chosen))


def exchanged(train: int, n: int, labels: npt.NDArray[Any] | None, seed: int) -> tuple[IntArray, IntArray]:
    """`train` of n rows to learn from and the others, at random; with labels, as many of each as now stand first."""
    groups = np.zeros(n, dtype=np.int64) if labels is None else labels
    rng = np.random.default_rng(seed)
    learn = []
    for label in np.unique(groups):
        rows = np.flatnonzero(groups == label)
        learn.append(rng.permutation(rows)[: int((rows < train).sum())])
    chosen = np.sort(np.concatenate(learn))
    return chosen, np.setdiff1d(np.arange(n), chosen)


def open_contest(name: str) -> Contest:
    """The contest on a data set that is there."""
    recipe = DATASETS.find(name)
    task = TASKS.find(recipe.task)
    if task.asks_times:
        raise InvalidOption(f"{name!r} asks for a {task.name}; the competition has one answer for each series.")
    if name.startswith(PREFIX) and isinstance(recipe, DerivedRecipe):
        parts = open_import(recipe.source)
        return Contest(name, task, METRICS[recipe.metric], parts["train"], parts["test"], own_gaps=False)
    splits = load(name).splits
    whole = joined([splits.train, splits.val])
    return Contest(name, task, METRICS[recipe.metric], whole, splits.test, own_gaps=True)


def chosen_sets(names: Sequence[str] | None) -> tuple[list[str], list[str]]:
    """Data sets to compete on, and of the usual ones those that are not imported; `uea` is all of the archive's."""
    if names is None:
        there = [name for name in BUILT_IN if _is_there(name)]
        return [*imported_archives(), *there], [name for name in BUILT_IN if name not in there]
    found: list[str] = []
    for name in names:
        found += imported_archives() if name == PREFIX.rstrip("-") else [name]
    if not found:
        raise InvalidOption("no set of the archive is imported; run `denots data import uea NAME.zip` first.")
    for name in found:
        DATASETS.find(name)
    return list(dict.fromkeys(found)), []


def _is_there(name: str) -> bool:
    recipe = DATASETS.find(name)
    return not isinstance(recipe, DerivedRecipe) or import_folder(recipe.source).exists()
