"""How good answers are beside the trivial answer, and how far that can be relied on, given so many series."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from denots.errors import InvalidOption
from denots.shapes import BoolArray, FloatArray, IntArray

RESAMPLES = 300
NAN = float("nan")

Judge = Callable[[IntArray], dict[str, float]]  # the metrics over some series, given by position; one may come twice


class Score(NamedTuple):
    """A metric of the model and of the trivial answer; NaN where it is not defined.

    low, high: the interval in which the metric of the model would lie over many more series of this kind.
    """

    model: float
    baseline: float
    low: float = NAN
    high: float = NAN


class Bin(NamedTuple):
    """Series with similar probabilities: their mean, and the share for which it came true, with its interval."""

    series: int
    predicted: float
    observed: float
    low: float
    high: float


class Scores(NamedTuple):
    """What answers are worth.

    baseline: the trivial answer in words.
    failed: series without an answer; they are given the trivial one.
    others: the same metrics of further answers without a model.
    reliability: predicted beside observed shares, for two classes that of the second one.
    groups: the same for parts of the series, by the name of each.
    rows: columns of a table with one row a series.
    """

    baseline: str
    failed: int
    metrics: dict[str, Score]
    others: Mapping[str, Mapping[str, float]] = {}
    series: int = 0
    reliability: Sequence[Bin] = ()
    groups: Mapping[str, "Scores"] = {}
    rows: Mapping[str, npt.NDArray[Any]] = {}


@dataclass(frozen=True, slots=True, eq=False)
class Comparison:
    """The truth about each series, what a model says of it, and what is said without one; series along the first axis.

    answers: of a failed series, the trivial one.
    """

    truth: npt.NDArray[Any]
    answers: FloatArray
    trivial: FloatArray
    failed: BoolArray
    others: Mapping[str, FloatArray] = field(default_factory=dict)


def score(model: Judge, baseline: Judge, rows: IntArray, confidence: float | None, seed: int = 0) -> dict[str, Score]:
    """Every metric over these series; with a confidence, its interval over resampled series."""
    found, trivial = model(rows), baseline(rows)
    if confidence is None or len(rows) < 2:
        return {name: Score(value, trivial[name]) for name, value in found.items()}
    if not 0 < confidence < 1:
        raise InvalidOption(f"confidence lies between 0 and 1, such as 0.95; got {confidence:g}.")
    rng = np.random.default_rng(seed)
    again = [model(rng.choice(rows, len(rows))) for _ in range(RESAMPLES)]
    return {
        name: Score(value, trivial[name], *interval(value, np.array([one[name] for one in again]), confidence))
        for name, value in found.items()
    }


def interval(value: float, again: FloatArray, confidence: float) -> tuple[float, float]:
    """The bias-corrected percentile interval of a metric from its resampled values; NaN where it is infinite or most are not defined.

    Plain percentiles would miss metrics that resampling moves, such as a calibration error, which grows with noise.
    """
    from scipy.stats import norm

    known = again[~np.isnan(again)]
    if not np.isfinite(value) or 2 * len(known) < len(again):
        return NAN, NAN
    below = (np.mean(known < value) + np.mean(known <= value)) / 2
    bias = norm.ppf(np.clip(below, 0.5 / len(known), 1 - 0.5 / len(known)))
    tails = norm.cdf(2 * bias + norm.ppf([(1 - confidence) / 2, (1 + confidence) / 2]))
    low, high = np.quantile(known, tails)
    return float(min(low, value)), float(max(high, value))


class Held(NamedTuple):
    """For each series, how many questions were asked about it, how many truths sets or intervals held, and their sizes.

    With a second axis, there is a column for each part of an answer.
    """

    asked: FloatArray
    held: FloatArray
    size: FloatArray

    def without(self, left_out: BoolArray) -> "Held":
        """The same with nothing asked about some series."""
        return Held(*(np.where(left_out.reshape(-1, *(1,) * (table.ndim - 1)), 0.0, table) for table in self))


def judge_held(found: Held, parts: Sequence[str] = ()) -> Judge:
    """The share of truths that were held, and the mean size of what held them, over all and for each part by its name."""

    def judge(rows: IntArray) -> dict[str, float]:
        chosen = [table[rows] for table in found]
        told = _share_and_size("", *(float(table.sum()) for table in chosen))
        for k, name in enumerate(parts):
            told |= _share_and_size(f" {name}", *(float(table[:, k].sum()) for table in chosen))
        return told

    return judge


def _share_and_size(of: str, asked: float, held: float, size: float) -> dict[str, float]:
    return {f"coverage{of}": held / asked if asked else NAN, f"size{of}": size / asked if asked else NAN}


def judge_both(first: Judge, second: Judge) -> Judge:
    """The metrics of two judges."""
    return lambda rows: first(rows) | second(rows)
