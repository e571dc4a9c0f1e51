"""Which observations moved the answer of a trained DeNOTS model: integrated gradients through its path and its ODE.

Values go from the means of their channels to what was observed, along a straight line, while times and holes stay. The
path is linear in the values, so what one observation adds to it is the same all along the line: it is fitted once for
each row, and meets the gradient of the answer to values and slopes of the path, which the solver gives.
"""

import warnings
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from denots.backbones.denots import DeNOTS, DrivenInputs
from denots.data.series import SeriesSet
from denots.errors import InvalidOption, SolverFailure
from denots.estimators.estimator import SeriesEstimator
from denots.explain.quantity import Quantity
from denots.explain.subject import one_series
from denots.inference.answering import UNSOLVED
from denots.paths.path import Path
from denots.shapes import FloatArray
from denots.systems.trained import TrainedModel
from denots.training.model import Model

if TYPE_CHECKING:
    import pandas as pd


AT_ONCE = 2**23  # values of versions of a series that are held in memory
FEW_NODES, NODES_AT_ONCE = 16, 64
ENOUGH, MUCH = 0.005, 0.01  # shares of the change that may be missing, and that are told to be


@dataclass(frozen=True, eq=False)
class Gradients:
    """What each observation of a series did to the answer, by its value.

    quantity: what is explained: the log-odds of a class, or a number.
    answer: that of the model; `baseline` is its answer if every value were the mean of its channel in training, at
        the same times, and static features were unknown.
    effects: of each observation [L, C], NaN where there is none.
    static: of each static feature.
    nodes: places on the line at which gradients were taken.
    """

    id: str | int
    quantity: str
    answer: float
    baseline: float
    times: FloatArray
    channels: tuple[str, ...]
    effects: FloatArray
    static: dict[str, float]
    nodes: int

    @property
    def missing(self) -> float:
        """The share of what is to be explained that the effects do not sum to, by errors of quadrature and solver.

        It is large where there is hardly anything to explain.
        """
        return _missing(self.answer - self.baseline, float(np.nansum(self.effects)) + sum(self.static.values()))

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
    model: SeriesEstimator, X: Any, id: Any = None, *, of: Any = None, nodes: int = 1024
) -> Gradients:
    """Share what a model trained by system "denots" says of one series among its observations.

    Args:
        X: what the model predicts from; with several series, `id` names the one.
        of: the class, or the number of the output, that is explained; by default the class that is told.
        nodes: of Gauss and Legendre along the line, at most; few are doubled until less than half a percent of the change
            is missing. What is still missing then is told in a warning where it is more than one percent.
    """
    series = one_series(model, X, id)
    if nodes < 1:
        raise InvalidOption(f"at least one node is needed; got nodes={nodes}.")
    fitted = model.fitted_
    if not isinstance(fitted, TrainedModel) or not isinstance(fitted.model.backbone, DeNOTS):
        raise InvalidOption(
            f"single observations are told apart by gradients through a path and an ODE, which system {model.system_.name!r} does "
            "not have; explain its channels and times instead (without --each)."
        )
    net, backbone = fitted.model, fitted.model.backbone
    mean = backbone.intake.centre[: len(series.channels)].numpy()
    level = np.where(np.isnan(series.values), np.nan, mean).astype(series.values.dtype)
    versions = _versions(series, np.stack([series.values, level]))
    ends, told = backbone.prepare(versions), fitted.outputs(versions)
    if not told.ok.all():
        raise SolverFailure(f"series {series.id(0)!r} has no answer: {UNSOLVED}.")
    quantity = Quantity.of(model.task_, told.outputs[:1], of)
    answer, baseline = quantity.read(told.outputs).tolist()
    used = min(FEW_NODES, nodes)
    slope = _slope(net, quantity, ends, used)
    while used < nodes and _missing(answer - baseline, slope.change(ends)) > ENOUGH:
        used = min(2 * used, nodes)
        slope = _slope(net, quantity, ends, used)
    effects = _effects(backbone, series, level, slope)
    found = Gradients(
        id=series.id(0),
        quantity=quantity.name,
        answer=answer,
        baseline=baseline,
        times=series.times,
        channels=series.channels,
        effects=np.where(np.isnan(series.values), np.nan, effects),
        static=dict(zip(series.static_names, (slope.static * ends.static[0]).tolist(), strict=True)),
        nodes=used,
    )
    if found.missing > MUCH:
        warnings.warn(
            f"the effects for series {found.id!r} sum to {found.missing:.1%} more or less than the change of {quantity.name} by "
            f"{answer - baseline:.3g}, after {used} nodes. Either it hardly changes, or more nodes or a smaller "
            "predict_tolerance of the model are needed.",
            stacklevel=2,
        )
    return found


def _missing(whole: float, found: float) -> float:
    return abs(whole - found) / abs(whole) if whole else abs(found)


class _Slope(NamedTuple):
    """The gradient of the answer, averaged along the line: to values and slopes of the path, and to static features."""

    values: Tensor  # [knots, channels of the path]
    slopes: Tensor
    static: Tensor

    def change(self, ends: DrivenInputs) -> float:
        """What all observations and static features do together."""
        _, *tables = _on_one_grid(ends.path)
        moved = [(own - level).double() for own, level in tables]
        parts = zip(self, (*moved, ends.static[0].double()), strict=True)
        return float(sum((slope * move).sum() for slope, move in parts))


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
    """The mean over all nodes of the line."""
    places, weights = (torch.from_numpy(each) for each in np.polynomial.legendre.leggauss(nodes))
    batches = zip(((places + 1) / 2).split(NODES_AT_ONCE), (weights / 2).split(NODES_AT_ONCE), strict=True)
    found = [_weighted_slope(net, quantity, ends, *batch) for batch in batches]
    return _Slope(*(torch.stack(parts).sum(dim=0) for parts in zip(*found, strict=True)))


def _weighted_slope(net: Model, quantity: Quantity, ends: DrivenInputs, places: Tensor, weights: Tensor) -> _Slope:
    """Solve at some places of the line in one batch, and take the gradient."""
    times, *tables = _on_one_grid(ends.path)
    nodes, share = len(places), places.to(ends.static.dtype)
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
    whole = (quantity.read(told.outputs) * weights).sum()
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
