"""How likely each class would have drawn what was seen of a series: Gaussian curves, of which missing rows are no part.

The curve behind a series is a mean and a few directions, weighed by numbers that are normal in each class. What was observed is that
curve at the times of the rows, and noise. So a series is told by the rows that it has, and nothing is filled in.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

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
        return self._replace(gram=self.gram[:, :size, :size], told=self.told[:, :size])


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
        return Evidence(*map(np.stack, zip(*self._each(series), strict=True)))

    def _each(self, series: SeriesSet) -> Iterator[tuple[FloatArray, ...]]:
        channels = series.values.shape[1]
        scale = self.grid.drive.scale
        scores = (by_rank(self.ranks, series).values - scale.centre[:channels]) / scale.scale[:channels]
        place, share = self._places(series)
        row, channel = np.nonzero(~np.isnan(scores))
        low, part = place[row], share[row]
        value = scores[row, channel] - _between(self.mean[channel, low], self.mean[channel, low + 1], part)
        along = _between(self.directions[channel, low], self.directions[channel, low + 1], part[:, None])
        ends = np.searchsorted(row, series.offsets)
        for a, b in zip(ends[:-1].tolist(), ends[1:].tolist(), strict=True):
            x, y = along[a:b], value[a:b]
            yield (
                np.einsum("ki,kj->ij", x, x),
                np.einsum("ki,k->i", x, y),
                np.einsum("k,k->", y, y),
                np.array(float(b - a)),
            )

    def _places(self, series: SeriesSet) -> tuple[IntArray, FloatArray]:
        """For each row, the point of the grid before it, and how far it is on the way to the next one."""
        drive, own = self.grid.drive, np.repeat(np.arange(len(series)), series.lengths)
        begin = series.times[series.offsets[:-1]] if np.isnan(drive.start) else np.full(len(series), drive.start)
        end = series.ends if np.isnan(drive.end) else np.full(len(series), drive.end)
        span = np.where(end > begin, end - begin, drive.span)
        last = self.grid.points - 1
        along = np.clip((series.times - begin[own]) / span[own], 0, 1) * last
        place = np.minimum(along.astype(np.int64), last - 1)
        return place, along - place

    def state(self) -> dict[str, np.ndarray]:
        ranks = {"edges": np.ascontiguousarray(self.ranks.edges), "holes": self.ranks.holes}
        return {**ranks, **self.grid.state(), "mean": self.mean, "directions": self.directions}

    @classmethod
    def restore(cls, state: Mapping[str, Any]) -> "Curves":
        grid, mean, directions = EvenGrid.restore(state), state["mean"], state["directions"]
        if not FEWEST <= grid.points <= MOST or mean.shape != directions.shape[:2] or mean.shape[1:] != (grid.points,):
            raise ValueError(f"curves need a mean and directions on {FEWEST} to {MOST} points")
        return cls(Ranks.restore(state), grid, mean, directions)


def by_rank(ranks: Ranks, series: SeriesSet) -> SeriesSet:
    """Values as normal scores; what is missing stays so."""
    scores = ranks.transform(series.values)[:, : series.values.shape[1]]
    return replace(series, values=np.where(np.isnan(series.values), np.nan, scores))


def _between(low: FloatArray, high: FloatArray, share: FloatArray) -> FloatArray:
    return np.asarray(low * (1 - share) + high * share)


class Gaussian(NamedTuple):
    """Weights of directions are normal with this mean [R] and with covariance L L', L a factor [R, R]."""

    mean: FloatArray
    factor: FloatArray


def log_likelihood(evidence: Evidence, of: Gaussian, noise: float) -> FloatArray:
    """The logarithm of the density of what was observed, but for a term that depends on the noise alone."""
    told, solved, within = _whitened(evidence, of, noise)
    at_mean = np.einsum("nij,j->ni", evidence.gram, of.mean)
    square = evidence.square - 2 * np.einsum("ni,i->n", evidence.told, of.mean) + np.einsum("ni,i->n", at_mean, of.mean)
    lost = 2 * np.log(np.diagonal(np.linalg.cholesky(within), axis1=1, axis2=2)).sum(axis=1)
    return -0.5 * (lost + square / noise - np.einsum("ni,ni->n", told, solved))


def posterior(evidence: Evidence, of: Gaussian, noise: float) -> tuple[FloatArray, FloatArray]:
    """Mean [n, R] and covariance [n, R, R] of the weights, given what was observed."""
    _, solved, within = _whitened(evidence, of, noise)
    covariance = of.factor @ np.linalg.inv(within) @ of.factor.T
    return of.mean + np.einsum("ij,nj->ni", of.factor, solved), covariance


def _whitened(evidence: Evidence, of: Gaussian, noise: float) -> tuple[FloatArray, FloatArray, FloatArray]:
    """For weights that are the mean plus L times standard normal ones: what is told of these, solved, and the precision."""
    left = evidence.told - np.einsum("nij,j->ni", evidence.gram, of.mean)
    told = np.einsum("ji,nj->ni", of.factor, left) / noise
    within = np.eye(len(of.mean)) + of.factor.T @ evidence.gram @ of.factor / noise
    return told, np.linalg.solve(within, told[..., None])[..., 0], within


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
        told = (
            likelihoods(evidence, list(map(Gaussian, self.means, self.factors)), self.noise) * self.factor + self.shift
        )
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


def likelihoods(evidence: Evidence, classes: Sequence[Gaussian], noise: float) -> FloatArray:
    """One column a class, less the mean of all; one column where there are two."""
    each = np.stack([log_likelihood(evidence, of, noise) for of in classes], axis=1)
    return each[:, 1:] - each[:, :1] if each.shape[1] == 2 else each - each.mean(axis=1, keepdims=True)
