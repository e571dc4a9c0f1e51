"""How likely each class would have drawn what was seen of a series: Gaussian curves, of which missing rows are no part.

The curve behind a series is a mean and a few directions, weighed by numbers that are normal in each class. What was observed is that
curve at the times of the rows, and noise. So a series is told by the rows that it has, and nothing is filled in.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from denots import kernels
from denots.data.blocks import in_blocks
from denots.data.series import SeriesSet
from denots.inference.even_grid import EvenGrid
from denots.inference.ranked_summary import Ranks
from denots.inference.told import Told, joined
from denots.shapes import FloatArray, IntArray

FEWEST, MOST = 3, 64  # points of the grid on which directions are known
TOGETHER = 256  # series that are in memory at once


class Evidence(NamedTuple):
    """What rows say of the weights of the directions, one entry a series; sums over its observed values.

    gram [n, R, R]: products of directions; told [n, R]: of directions and values; square [n]: of values; seen [n]: how many.
    """

    gram: FloatArray
    told: FloatArray
    square: FloatArray
    seen: FloatArray

    def select(self, chosen: IntArray) -> "Evidence":
        return Evidence(*(part[chosen] for part in self))

    def first(self, size: int) -> "Evidence":
        """For the first directions only."""
        gram, told = np.ascontiguousarray(self.gram[:, :size, :size]), np.ascontiguousarray(self.told[:, :size])
        return self._replace(gram=gram, told=told)


@dataclass(frozen=True, slots=True, eq=False)
class Curves:
    """A mean [C, points] and directions [C, points, R] on an even grid, for values by rank."""

    ranks: Ranks
    grid: EvenGrid
    mean: FloatArray
    directions: FloatArray

    def first(self, size: int) -> "Curves":
        """With the first directions only."""
        return replace(self, directions=np.ascontiguousarray(self.directions[..., :size]))

    def evidence(self, series: SeriesSet) -> Evidence:
        """Each series by itself, in the same order of summation whatever stands beside it."""
        drive, channels = self.grid.drive, series.values.shape[1]
        return Evidence(
            **kernels.sum_evidence(
                series.offsets,
                series.times,
                self.ranks.keep_holes(series.values),
                mean=self.mean,
                directions=self.directions,
                centre=drive.scale.centre[:channels],
                scale=drive.scale.scale[:channels],
                start=drive.start,
                end=drive.end,
                span=drive.span,
            )
        )

    def state(self) -> dict[str, np.ndarray]:
        ranks = {"edges": np.ascontiguousarray(self.ranks.edges), "holes": self.ranks.holes}
        return {**ranks, **self.grid.state(), "mean": self.mean, "directions": self.directions}

    @classmethod
    def restore(cls, state: Mapping[str, Any]) -> "Curves":
        grid, mean, directions = EvenGrid.restore(state), state["mean"], state["directions"]
        if not FEWEST <= grid.points <= MOST or mean.shape != directions.shape[:2] or mean.shape[1:] != (grid.points,):
            raise ValueError(f"curves need a mean and directions on {FEWEST} to {MOST} points")
        return cls(Ranks.restore(state), grid, mean, directions)


class Weights(NamedTuple):
    """Weights of directions are normal in each class: means [classes, R], covariances L L', L in factors [classes, R, R]."""

    means: FloatArray
    factors: FloatArray

    def log_likelihoods(self, evidence: Evidence, noise: float) -> FloatArray:
        """The logarithm of the density of what was observed [n, classes], but for a term that depends on the noise alone."""
        return kernels.log_likelihoods(**evidence._asdict(), **self._asdict(), noise=noise)

    def posteriors(self, evidence: Evidence, of: IntArray, noise: float) -> tuple[FloatArray, FloatArray]:
        """Mean [n, R] and covariance [n, R, R] of the weights of series of these classes, given what was observed."""
        return kernels.posteriors(**evidence._asdict(), **self._asdict(), of=of, noise=noise)


@dataclass(frozen=True, slots=True, eq=False)
class Discriminant:
    """Log-likelihoods of all classes, brought to the scale of the task's outputs.

    means [classes, R], factors [classes, R, R]. Of two classes, the output is the second less the first.
    """

    curves: Curves
    noise: float
    means: FloatArray
    factors: FloatArray
    factor: float
    shift: FloatArray

    def outputs(self, series: SeriesSet, at: FloatArray | None = None) -> Told:
        return joined([self._told(block) for block in in_blocks(series, TOGETHER)])

    def _told(self, series: SeriesSet) -> Told:
        evidence = self.curves.evidence(series)
        told = likelihoods(evidence, Weights(self.means, self.factors), self.noise) * self.factor + self.shift
        return Told(told, np.asarray(np.isfinite(told).all(axis=1)))

    def state(self) -> dict[str, np.ndarray]:
        return {**self.curves.state(), "means": self.means, "factors": self.factors, "shift": self.shift}

    @classmethod
    def restore(cls, values: Mapping[str, Any], arrays: Mapping[str, Any], outputs: int) -> "Discriminant":
        curves, means, factors = Curves.restore(arrays), arrays["means"], arrays["factors"]
        size = curves.directions.shape[2]
        noise, classes = float(values["noise"]), outputs if outputs > 1 else 2
        if means.shape != (classes, size) or factors.shape != (classes, size, size) or not noise > 0:
            raise ValueError(f"{classes} classes need a mean and a factor each, and noise that is positive")
        if arrays["shift"].shape != (outputs,):
            raise ValueError(f"{outputs} outputs need a shift each")
        return cls(curves, noise, means, factors, float(values["factor"]), arrays["shift"])


def likelihoods(evidence: Evidence, classes: Weights, noise: float) -> FloatArray:
    """One column a class, less the mean of all; one column where there are two."""
    each = classes.log_likelihoods(evidence, noise)
    return each[:, 1:] - each[:, :1] if each.shape[1] == 2 else each - each.mean(axis=1, keepdims=True)
