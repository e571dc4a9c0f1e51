"""Which observations moved the answer of a trained DeNOTS model: integrated gradients through its path and its ODE.

Values go from the means of their channels to what was observed, along a straight line, while times and holes stay. The
path is linear in the values, so what one observation adds to it is the same all along the line: it is fitted once for
each row, and meets the gradient of the answer to values and slopes of the path, which the solver gives.
"""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from denots.backbones.denots import DeNOTS, DrivenInputs
from denots.data.series import SeriesSet
from denots.errors import InvalidOption, SolverFailure
from denots.estimators.answers import UNSOLVED
from denots.estimators.estimator import SeriesEstimator
from denots.explain.quantity import Quantity
from denots.explain.subject import one_series
from denots.paths.path import Path
from denots.shapes import FloatArray
from denots.systems.trained import TrainedModel
from denots.training.model import Model, run_model

if TYPE_CHECKING:
    import pandas as pd


AT_ONCE = 2**23  # values of versions of a series that are held in memory


@dataclass(frozen=True, eq=False)
class Gradients:
    """What each observation of a series did to the answer, by its value.

    quantity: what is explained: the log-odds of a class, or a number.
    answer: that of the model; `baseline` is its answer if every value were the mean of its channel in training, at
        the same times, and static features were unknown.
    effects: of each observation [L, C], NaN where there is none.
    static: of each static feature.
    """

    id: str | int
    quantity: str
    answer: float
    baseline: float
    times: FloatArray
    channels: tuple[str, ...]
    effects: FloatArray
    static: dict[str, float]

    @property
    def missing(self) -> float:
        """The share of what is to be explained that the effects do not sum to, by errors of quadrature and solver.

        It is large where there is hardly anything to explain; more nodes make it smaller.
        """
        whole = self.answer - self.baseline
        found = float(np.nansum(self.effects)) + sum(self.static.values())
        return abs(whole - found) / abs(whole) if whole else abs(found)

    def to_frame(self) -> "pd.DataFrame":
        """One row an observation; a static feature has no time."""
        import pandas as pd

        rows, columns = np.nonzero(~np.isnan(self.effects))
        return pd.DataFrame(
            {
                "name": [self.channels[c] for c in columns] + list(self.static),
                "time": [*self.times[rows], *([np.nan] * len(self.static))],
                "effect": [*self.effects[rows, columns], *self.static.values()],
            }
        )


def integrated_gradients(
    model: SeriesEstimator, X: Any, id: Any = None, *, of: Any = None, nodes: int = 32
) -> Gradients:
    """Share what a model trained by system "denots" says of one series among its observations.

    Args:
        X: what the model predicts from; with several series, `id` names the one.
        of: the class, or the number of the output, that is explained; by default the class that is told.
        nodes: of Gauss and Legendre along the line; more make `missing` smaller.
    """
    series = one_series(model, X, id)
    fitted = model.fitted_
    if not isinstance(fitted, TrainedModel) or not isinstance(fitted.model.backbone, DeNOTS):
        raise InvalidOption(
            f"gradients go through a path and an ODE, which system {model.system_.name!r} does not have; use explain()."
        )
    net, backbone = fitted.model, fitted.model.backbone
    mean = backbone.intake.centre[: len(series.channels)].numpy()
    level = np.where(np.isnan(series.values), np.nan, mean).astype(series.values.dtype)
    ends = backbone.prepare(_versions(series, np.stack([series.values, level])))
    told = run_model(net, ends)
    if not told.ok.all():
        raise SolverFailure(f"series {series.id(0)!r} has no answer: {UNSOLVED}.")
    quantity = Quantity.of(model.task_, told.outputs[:1], of)
    answer, baseline = quantity.read(told.outputs).tolist()
    slope = _slope(net, quantity, ends, nodes)
    effects = _effects(backbone, series, level, slope)
    return Gradients(
        id=series.id(0),
        quantity=quantity.name,
        answer=answer,
        baseline=baseline,
        times=series.times,
        channels=series.channels,
        effects=np.where(np.isnan(series.values), np.nan, effects),
        static=dict(zip(series.static_names, (slope.static * ends.static[0]).tolist(), strict=True)),
    )


class _Slope(NamedTuple):
    """The gradient of the answer, averaged along the line: to values and slopes of the path, and to static features."""

    values: Tensor  # [knots, channels of the path]
    slopes: Tensor
    static: Tensor


def _versions(series: SeriesSet, values: FloatArray) -> SeriesSet:
    """The series with other values [n, L, C] at its times; in all but the first, static features are unknown."""
    n, length, channels = values.shape
    static = None if series.static is None else np.repeat(series.static, n, axis=0)
    if static is not None:
        static[1:] = np.nan
    return replace(
        series,
        times=np.tile(series.times, n),
        values=values.reshape(n * length, channels),
        offsets=np.arange(n + 1) * length,
        start=np.repeat(series.start, n),
        ids=np.arange(n),
        static=static,
        target=None,
    )


def _on_one_grid(path: Path) -> tuple[Tensor, Tensor, Tensor]:
    """Times [K], values and slopes [n, K, C] of paths with the same stamps, each of which stands twice."""
    values, slopes, times = [], [], path.times[:0]
    for begin, end in zip(path.begin.tolist(), path.end.tolist(), strict=True):
        own = path.times[begin:end]
        stamps = own.unique()
        sides = torch.stack([torch.searchsorted(own, stamps), torch.searchsorted(own, stamps, right=True) - 1], dim=1)
        knots, times = begin + sides.flatten(), stamps.repeat_interleave(2)
        values.append(path.values[knots])
        slopes.append(path.slopes[knots])
    return times, torch.stack(values), torch.stack(slopes)


def _slope(net: Model, quantity: Quantity, ends: DrivenInputs, nodes: int) -> _Slope:
    """Solve at all nodes of the line in one batch, and take the gradient."""
    times, *tables = _on_one_grid(ends.path)
    places, weights = np.polynomial.legendre.leggauss(nodes)
    share = torch.from_numpy((places + 1) / 2).to(ends.static.dtype)
    values, slopes = (
        (level + share[:, None, None] * (own - level)).flatten(0, 1).requires_grad_() for own, level in tables
    )
    static = (share[:, None] * ends.static[0]).requires_grad_()
    first = torch.zeros(nodes, dtype=torch.int64)
    alike = ends.path.select(first)
    begin = torch.arange(nodes) * len(times)
    path = replace(alike, times=times.repeat(nodes), values=values, slopes=slopes, begin=begin, end=begin + len(times))
    told = net(DrivenInputs(path, ends.moments.select(first), static, ends.start[first]))
    if not told.ok.all():
        raise SolverFailure(
            f"between the mean of all channels and the series, {int((~told.ok).sum())} of {nodes} have no answer."
        )
    whole = (quantity.read(told.outputs) * torch.from_numpy(weights / 2)).sum()
    found = torch.autograd.grad(whole, [values, slopes, static], allow_unused=True, materialize_grads=True)
    by_values, by_slopes = (each.unflatten(0, (nodes, -1)).double().sum(dim=0) for each in found[:2])
    return _Slope(by_values, by_slopes, found[2].double().sum(dim=0))


def _effects(backbone: DeNOTS, series: SeriesSet, level: FloatArray, slope: _Slope) -> FloatArray:
    """What each row adds to the path, times the gradient; [L, C]."""
    parts, channels = [], len(series.channels)
    for rows in np.array_split(np.arange(len(level)), 1 + len(level) * level.size // AT_ONCE):
        values = np.repeat(level[None], 1 + len(rows), axis=0)
        values[1 + np.arange(len(rows)), rows] = series.values[rows]
        _, *tables = _on_one_grid(backbone.prepare(_versions(series, values)).path)
        added = [(table[1:] - table[:1]).double() for table in tables]
        pairs = zip((slope.values, slope.slopes), added, strict=True)
        by_signal = torch.stack([torch.einsum("kp,ikp->ip", *pair) for pair in pairs]).sum(dim=0)
        own = by_signal[:, :channels]
        parts.append(own + by_signal[:, -channels:] if backbone.config.slopes else own)
    found: FloatArray = torch.cat(parts).numpy()
    return found
