"""Sets and intervals that hold the truth as often as was asked: split-conformal limits from held-out answers.

The limit of a coverage is the quantile of how badly the truth fitted answers of models that had not learnt from
the series; what fits no worse belongs to the set or interval. Nothing is fitted again for it.

What is guaranteed depends on where those answers come from. Where a validation part has chosen nothing, the coverage
over new series like those of training is at least what was asked. Mostly that part has also chosen when training
stopped, and blends answer with models that have seen all series while each held-out answer came from one that lacked
some (the jackknife, or cross-validation); then the coverage is close to what was asked for systems that a few series do
not change much, and no worst case is excluded. It holds over all series together: in a group it may be higher or lower,
unless that group is calibrated by itself. Truths of a rare class are held much less often than others, unless the classes
are calibrated one by one. No coverage is promised for series unlike those of training.
"""

import math
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from torch import Tensor

from denots.data.reading import Reading
from denots.errors import InvalidOption
from denots.estimators.subgroups import Grouping, static_column
from denots.registry import listed
from denots.shapes import FloatArray, IntArray
from denots.tasks import Part, Task

if TYPE_CHECKING:
    from denots.estimators.estimator import SeriesEstimator

MOST = 10_000  # answers that are kept; more would hardly move a quantile
HORIZONS, ENOUGH = 4, 200  # spans beyond the observations that are calibrated apart, each by so many answers at least
EVERYONE = "all"


@dataclass(frozen=True, slots=True, eq=False)
class Calibration:
    """How badly the truth fitted held-out answers.

    misfit: [m, k], one row a series, or a question of a forecast; NaN where the truth is not known.
    static: [m, S], by which groups can be made.
    horizon: [m], the time from the last observation to the question; empty where answers are given once a series.
    """

    misfit: FloatArray
    static: FloatArray
    horizon: FloatArray

    @classmethod
    def of(cls, task: Task, told: tuple[Part, Tensor] | None) -> "Calibration | None":
        """From outputs for series that the fitted system has not learnt from; None where there are none."""
        if told is None:
            return None
        part, outputs = told
        misfit = task.nonconformity(task.answer(outputs.double()).numpy(), part.target.numpy())
        if misfit is None:
            return None
        n, times = len(part), np.zeros((len(part), 0))
        if part.at is not None:
            times = part.at.double().numpy() - part.series.ends[:, None]
        static = np.zeros((n, 0)) if part.series.static is None else part.series.static
        static = np.repeat(static.astype(np.float64), len(misfit) // n, axis=0)
        known = np.flatnonzero(~np.isnan(misfit).all(axis=1))
        kept = known[np.linspace(0, len(known) - 1, min(MOST, len(known))).astype(np.int64)]
        return cls(misfit[kept], static[kept], times.ravel()[kept] if times.size else np.zeros(0))

    @classmethod
    def restore(cls, arrays: dict[str, npt.NDArray[Any]], outputs: int, static: int) -> "Calibration":
        found = cls(**arrays)
        m = len(found.misfit)
        if found.misfit.ndim != 2 or found.static.shape != (m, static) or found.horizon.shape not in {(m,), (0,)}:
            raise ValueError("the arrays of a calibration do not fit each other")
        if found.misfit.shape[1] not in {outputs, max(2, outputs)}:
            raise ValueError(f"a calibration of {found.misfit.shape[1]} answers for {outputs} outputs")
        return found

    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        return {"misfit": self.misfit, "static": self.static, "horizon": self.horizon}

    def limits(
        self,
        coverage: float,
        labels: tuple[npt.NDArray[Any], npt.NDArray[Any]],
        horizon: FloatArray | None,
        together: bool,
    ) -> FloatArray:
        """The largest misfit that still belongs [n, k], or [n, K, k] at horizons [n, K]; infinite where nothing is known.

        labels: the group of each calibrated row, and of each series that is asked about.
        together: one limit for all columns, as for classes, of which only one is true.
        """
        own = labels[0]
        names, asked = np.unique(labels[1], return_inverse=True)
        shape = asked.shape if horizon is None else horizon.shape
        bins, asked_bins = np.zeros(len(own), dtype=np.int64), np.zeros(shape, dtype=np.int64)
        if horizon is not None:
            cuts = self._cuts()
            bins = _binned(self.horizon, cuts)
            asked_bins = _binned(np.nan_to_num(horizon), cuts)
            asked = np.broadcast_to(asked[:, None], shape)
        misfit = np.fmax.reduce(self.misfit, axis=1)[:, None] if together else self.misfit
        found = np.full((*shape, misfit.shape[1]), np.inf)
        for code, label in enumerate(names):
            for k in np.unique(asked_bins):
                calibrated = misfit[(own == label) & (bins == k)]
                found[(asked == code) & (asked_bins == k)] = quantiles(calibrated, coverage)
        return found

    def _cuts(self) -> FloatArray:
        """Between the observations (0), then spans beyond them that as many answers reach; nothing is known beyond all."""
        beyond = self.horizon[self.horizon > 0]
        if not len(beyond):
            return np.zeros(1)
        spans = max(1, min(HORIZONS, len(beyond) // ENOUGH))
        return np.unique([0.0, *np.quantile(beyond, np.arange(1, spans + 1) / spans)])


def quantiles(misfit: FloatArray, coverage: float) -> FloatArray:
    """For each column the smallest value that holds `coverage` of n + 1 values; infinite where n is too small."""
    found = np.full(misfit.shape[1], np.inf)
    for k, column in enumerate(misfit.T):
        known = np.sort(column[~np.isnan(column)])
        rank = math.ceil((len(known) + 1) * coverage - 1e-9)
        if rank <= len(known):
            found[k] = known[max(rank, 1) - 1]
    return found


def limits(
    estimator: "SeriesEstimator", reading: Reading, coverage: float, groups: str | None, at: FloatArray | None = None
) -> FloatArray:
    """The limits of an estimator for each series of a reading, at query times `at` if it answers at times."""
    calibration = _known(estimator, coverage)
    position = {name: row for row, name in enumerate(reading.ids.tolist())}
    rows = np.array([position[name] for name in reading.series.ids.tolist()], dtype=np.int64)
    by_class = estimator.task_.learns == "classes" and groups == (estimator.table_schema().target or "target")
    labels = _labels(estimator, calibration, reading, rows, None if by_class else groups)
    horizon = None
    if at is not None:
        ends = np.zeros(len(position))
        ends[rows] = reading.series.ends
        horizon = at - ends[:, None]
    together = estimator.task_.learns == "classes" and not by_class
    found = calibration.limits(coverage, labels, horizon, together)
    endless = np.isinf(found[rows]).any(axis=tuple(range(1, found.ndim)))
    if endless.any():
        names = listed(sorted(set(labels[1][rows][endless].tolist())))
        what = "" if groups is None or by_class else f"of group {names} "
        warnings.warn(
            f"{int(endless.sum())} series {what}have no finite limit somewhere: too few held-out answers are like them, or "
            "none reaches so far ahead. Nothing is excluded there.",
            stacklevel=3,
        )
    return found


def _known(estimator: "SeriesEstimator", coverage: float) -> Calibration:
    """The calibration of an estimator, if it can tell this coverage."""
    if not 0 < coverage < 1:
        raise InvalidOption(f"coverage lies between 0 and 1, such as 0.9; got {coverage:g}.")
    calibration = estimator.calibration_
    if calibration is None:
        raise InvalidOption(
            "this model has no held-out answers to tell a coverage by: it was saved before they were kept, or its task knows "
            "no sets and intervals. Fit it again."
        )
    m = int((~np.isnan(calibration.misfit)).any(axis=1).sum())
    if math.ceil((m + 1) * coverage - 1e-9) > m:
        raise InvalidOption(
            f"a coverage of {coverage:g} needs at least {math.ceil(coverage / (1 - coverage) - 1e-9)} held-out answers, and the "
            f"model has {m}; ask for at most {m / (m + 1):.3g}, or fit more series."
        )
    return calibration


def _labels(
    estimator: "SeriesEstimator", calibration: Calibration, reading: Reading, rows: IntArray, groups: str | None
) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """The group of each calibrated answer and of each series that is asked about."""
    position = {name: row for row, name in enumerate(reading.ids.tolist())}
    own, asked = np.full(len(calibration.misfit), EVERYONE, dtype=object), np.full(len(reading.ids), EVERYONE, object)
    if groups is None:
        return own, asked
    names, known = estimator.static_names_, estimator.table_schema().categories
    calibrated = static_column(calibration.static, names, known, groups)
    grouping = Grouping.of(calibrated, groups)
    asked[rows] = grouping.labels(static_column(np.asarray(reading.series.static), names, known, groups))
    for (id, column), text in reading.texts.items():
        if column == groups and id in position:
            asked[position[id]] = text
    return grouping.labels(calibrated), asked


def _binned(horizon: FloatArray, cuts: FloatArray) -> IntArray:
    return np.searchsorted(cuts, horizon, side="left")
