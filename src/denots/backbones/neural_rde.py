"""Neural RDE: log-signatures over windows drive the state (Morrill et al., 2021)."""

from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor

from denots import kernels
from denots.backbones.controlled import Controlled, ControlledConfig
from denots.backbones.log_signature import log_signature_size, log_signatures
from denots.data.series import SeriesSet
from denots.data.transforms import positions
from denots.options import Range, tunable
from denots.shapes import FloatArray, IntArray


@dataclass(frozen=True)
class NeuralRDEConfig(ControlledConfig):
    """See `ControlledConfig`.

    windows: how many windows the log-signatures are taken over. On the clock "time" every series is
        cut into so many parts of equal duration; on "index", as published, into parts of equal
        numbers of rows, so many in the longest series of the training split.
    """

    windows: int = tunable(16, Range(4, 64, log=True))


class NeuralRDE(Controlled):
    """`dh = F(h) dX`, X a spline through sums of depth-2 log-signatures, one knot a window.

    A window says how far channels and time went and which areas they swept; missing values lie on
    straight lines. The curve has d + d (d - 1) / 2 channels for d of channels and time: hundreds of
    them from 30 on.
    """

    Config = NeuralRDEConfig
    longest: Tensor

    def __init__(self, config: NeuralRDEConfig, channels: int, static_size: int = 0) -> None:
        super().__init__(config, channels, static_size)
        self.windows = config.windows
        self.register_buffer("longest", torch.ones((), dtype=torch.int64))

    def curve_size(self, channels: int) -> int:
        return log_signature_size(channels)

    def calibrate(self, train: SeriesSet) -> None:
        super().calibrate(train)
        self.longest.fill_(int(train.lengths.max()))

    def knots(self, observed: SeriesSet) -> tuple[SeriesSet, FloatArray]:
        if self.config.clock == "time":
            cut, edges = cut_by_time(observed, self.windows)
            times = cut.times
        else:
            cut, edges = observed, cut_by_rows(observed, -(-int(self.longest) // self.windows))
            times = positions(observed)
        points = kernels.fit_splines("linear", cut.offsets, times, cut.values)[0]
        full = edges[:, 1:] > edges[:, :-1]
        kept = np.concatenate([np.ones((len(observed), 1), dtype=bool), full], axis=1)
        channels, width = points.shape[1], log_signature_size(points.shape[1])
        table = np.zeros((*kept.shape, width))
        table[:, 0, :channels] = points[edges[:, 0]]
        table[:, 1:][full] = log_signatures(points, edges[:, :-1][full], edges[:, 1:][full])
        stamps = cut.times[edges][kept]
        knots = replace(
            observed,
            times=stamps,
            values=table.cumsum(axis=1)[kept],
            offsets=np.concatenate([[0], kept.sum(axis=1).cumsum()]).astype(np.int64),
            channels=tuple(f"log-signature {c}" for c in range(width)),
        )
        if self.config.clock == "index":
            index = positions(knots)
            knots = replace(knots, times=index, start=index[knots.offsets[:-1]])
        return knots, stamps


def cut_by_rows(series: SeriesSet, window: int) -> IntArray:
    """The rows [n, W + 1] between which windows lie: every `window` rows, the last one shorter."""
    count = -(-(int(series.lengths.max()) - 1) // window)
    steps = np.minimum(np.arange(count + 1) * window, series.lengths[:, None] - 1)
    return series.offsets[:-1, None] + steps


def cut_by_time(series: SeriesSet, windows: int) -> tuple[SeriesSet, IntArray]:
    """The series with unobserved rows where windows of equal duration meet, and those rows [n, W + 1]."""
    n, first = len(series), series.times[series.offsets[:-1], None]
    inner = first + (series.ends[:, None] - first) * (np.arange(1, windows) / windows)
    owner = np.concatenate([series.owner(), np.repeat(np.arange(n), windows - 1)])
    times = np.concatenate([series.times, inner.ravel()])
    values = np.concatenate([series.values, np.full((inner.size, series.values.shape[1]), np.nan)])
    order = np.lexsort((times, owner))
    owner, times = owner[order], times[order]
    fresh = np.concatenate([[True], (np.diff(owner) > 0) | (np.diff(times) > 0)])
    offsets = np.searchsorted(owner[fresh], np.arange(n + 1))
    row = np.empty(len(order), dtype=np.int64)
    row[order] = np.cumsum(fresh) - 1  # a window that meets the next at an observation ends in its row
    edges = np.column_stack([offsets[:-1], row[len(series.times) :].reshape(n, windows - 1), offsets[1:] - 1])
    return replace(series, times=times[fresh], values=values[order][fresh], offsets=offsets), edges
