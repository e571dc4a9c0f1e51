"""Does time carry information? The same system on the data as they are, on shuffled rows, and without times.

If shuffling the rows of each series costs nothing, what matters is which values occurred, not when or in which
order: summaries will do. If only the distances in time are lost and that costs nothing, their order is enough.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from denots.data.series import SeriesSet
from denots.data.split import deal_folds
from denots.data.transforms import positions
from denots.errors import InvalidOption
from denots.estimators import estimator_for
from denots.shapes import FloatArray, IntArray
from denots.tasks import Task

AS_IS, SHUFFLED, RANKS = VERSIONS = "as they are", "rows shuffled", "times as ranks"
SURE = 2.0  # standard errors that a loss must exceed to be called one


def shuffle_rows(series: SeriesSet, rng: np.random.Generator) -> SeriesSet:
    """The rows of each series in random order, at the same times."""
    order = np.lexsort((rng.random(len(series.times)), series.owner()))
    return replace(series, values=series.values[order])


def times_as_ranks(series: SeriesSet) -> SeriesSet:
    """Each series at the times 0, 1, 2 ..."""
    return replace(series, times=positions(series), start=np.zeros(len(series)))


@dataclass(frozen=True)
class OrderReport:
    """Scores of each version of the data, one a fold, in the same folds; larger is better.

    trivial: of the answer that knows nothing, in the same folds.
    overlap: series that are tested in a fold for each one that is learnt from, by which the standard error of
        a difference grows: training parts of different folds overlap (Nadeau and Bengio 2003).
    """

    metric: str
    scores: Mapping[str, FloatArray]
    trivial: FloatArray
    overlap: float

    def loss(self, version: str) -> tuple[float, float]:
        """How much worse a version is than the data as they are, and the standard error of that."""
        difference = self.scores[AS_IS] - self.scores[version]
        spread = float(difference.var(ddof=1))
        return float(difference.mean()), math.sqrt(spread * (1 / len(difference) + self.overlap))

    def matters(self, version: str) -> bool:
        """Whether what the version lacks is missed beyond doubt."""
        mean, error = self.loss(version)
        return mean > SURE * error and mean > 0

    @property
    def verdict(self) -> str:
        gained = self.scores[AS_IS] - self.trivial
        error = math.sqrt(float(gained.var(ddof=1)) * (1 / len(gained) + self.overlap))
        if float(gained.mean()) <= SURE * error:
            return "Nothing beats the trivial answer here, so nothing can be said about time."
        if self.matters(RANKS) and self.matters(SHUFFLED):
            return "The times matter, and so does the order: use a system that reads time stamps."
        if self.matters(RANKS):
            return "The times matter: use a system that reads time stamps."
        if self.matters(SHUFFLED):
            return "The order of the rows matters; no clear sign that the distances in time do."
        return "No clear sign that order or times matter to this system; summaries of the values may be all that is needed."


def examine_order(
    series: SeriesSet,
    task: type[Task],
    *,
    system: str = "trees",
    options: Mapping[str, Any] | None = None,
    folds: int = 5,
    seed: int = 0,
    advance: Callable[[str, int], None] = lambda version, fold: None,
) -> OrderReport:
    """Cross-validate a system on the three versions of the data, each shuffled, or not, in training and test alike.

    Args:
        advance: called with the version and the fold before each fit.
    """
    if not task.needs_target:
        raise InvalidOption(f"{task.name} has no target to compare by; name the column to learn.")
    question = task.read(series)
    part = question.pose(series)
    question.check(part)
    parts = _folds(len(series), question.strata(part), folds, seed)
    versions = {
        AS_IS: series,
        SHUFFLED: shuffle_rows(series, np.random.default_rng(seed)),
        RANKS: times_as_ranks(series),
    }
    scores: dict[str, list[float]] = {version: [] for version in versions}
    trivial = []
    for number, test in enumerate(parts):
        train = np.setdiff1d(np.arange(len(series)), test)
        for version, data in versions.items():
            advance(version, number)
            estimator = estimator_for(task, system=system, options=dict(options or {}), random_state=seed)
            fit: Any = estimator
            fit.fit(data.select(train))
            found = estimator.evaluate(data.select(test)).metrics[question.metric_name]
            scores[version].append(found.model)
            if version == AS_IS:
                trivial.append(found.baseline)
    arrays = {version: np.array(found) for version, found in scores.items()}
    return OrderReport(question.metric_name, arrays, np.array(trivial), overlap=1 / (folds - 1))


def _folds(n: int, strata: Any, folds: int, seed: int) -> list[IntArray]:
    """Test rows of each fold; every class is dealt out evenly."""
    smallest = n if strata is None else int(np.unique(strata, return_counts=True)[1].min())
    if folds < 2 or folds > smallest:
        what = f"{n} series" if strata is None else f"a class with {smallest} series"
        raise InvalidOption(f"{folds} folds of {what}; give between 2 and {smallest} folds, or more series.")
    return deal_folds(n, folds, seed=seed, labels=strata)
