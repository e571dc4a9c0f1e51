"""torchode on splines that are fitted once, by this package."""

import itertools

import numpy as np
import torch
import torchode
from torch import Tensor

from benchmarks.contenders.contender import TorchContender
from benchmarks.contenders.paper_stack import gru_slope, integrate, step_counts, torchode_solver
from benchmarks.workloads import Workload


class TorchodeSplines(TorchContender):
    label = "torchode, splines fitted once"

    def __init__(self, workload: Workload) -> None:
        super().__init__(workload)
        knots, coefficients = padded_cubics(workload)
        self.knots, self.coefficients = torch.from_numpy(knots), torch.from_numpy(coefficients)
        self.rows = torch.arange(len(knots))
        self.end = torch.from_numpy(workload.series.ends * workload.depth).float()
        self.solver = torchode_solver(workload.tolerance, self.slope)
        self.solution: torchode.Solution | None = None

    def states(self) -> Tensor:
        self.solution = integrate(self.solver, self.end, self.workload.states, None)
        return self.solution.ys[:, 0]

    def slope(self, t: Tensor, h: Tensor, _: None) -> Tensor:
        return gru_slope(self.weights, self._read(t), h)

    def counts(self) -> tuple[np.ndarray, np.ndarray] | None:
        return None if self.solution is None else step_counts(self.solution)

    def _read(self, t: Tensor) -> Tensor:
        t = torch.maximum(t, self.knots[:, 0])
        piece = (torch.searchsorted(self.knots, t[:, None]).squeeze(1) - 1).clamp(0, self.coefficients.shape[1] - 1)
        value, slope, second, third = self.coefficients[self.rows, piece].unbind(1)
        s = (t - self.knots[self.rows, piece])[:, None]
        return value + s * (slope + s * (second + s * third))


def padded_cubics(workload: Workload) -> tuple[np.ndarray, np.ndarray]:
    """Knots [n, L], infinite beyond the last one, and coefficients [n, L - 1, 4, C] of this package's splines."""
    path = workload.path(torch.float64)
    path = path.packed()
    offsets, times = np.append(path.begin, path.end[-1:]), path.times.numpy()
    values, slopes = path.values.numpy(), path.slopes.numpy()
    n, longest = len(path), int(np.diff(offsets).max())
    knots = np.full((n, longest), np.inf)
    coefficients = np.zeros((n, longest - 1, 4, values.shape[1]))
    for i, (begin, end) in enumerate(itertools.pairwise(offsets)):
        knots[i, : end - begin] = times[begin:end]
        width = np.diff(times[begin:end])[:, None]
        empty = width == 0  # a time that stands twice, where the curve bends
        safe = np.where(empty, 1.0, width)
        x, k = values[begin:end], slopes[begin:end]
        rise = np.diff(x, axis=0) / safe
        second = (3 * rise - 2 * k[:-1] - k[1:]) / safe
        third = (k[:-1] + k[1:] - 2 * rise) / safe**2
        pieces = [x[:-1], k[:-1], np.where(empty, 0.0, second), np.where(empty, 0.0, third)]
        coefficients[i, : end - begin - 1] = np.stack(pieces, axis=1)
    return knots.astype(np.float32), coefficients.astype(np.float32)
