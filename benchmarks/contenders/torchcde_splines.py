"""torchcde on torchdiffeq: the controlled field, with one step size for the whole batch."""

import numpy as np
import torch
import torchcde
from torch import Tensor
from torch.nn.functional import linear

from benchmarks.contenders.contender import TorchContender
from benchmarks.workloads import Workload


class TorchCDE(TorchContender):
    """Splines are fitted once; the gradient goes through the solver, exact as everybody's, not by the adjoint method.

    The batch is one system of equations: a step is as long as the whole of it allows, and every
    series pays for all evaluations.
    """

    label = "torchcde and torchdiffeq, one step size for the batch"

    def __init__(self, workload: Workload) -> None:
        super().__init__(workload)
        series = workload.series
        times = torch.from_numpy(series.times[: series.lengths[0]] * workload.depth)
        values = torch.from_numpy(series.values.astype(np.float64)).view(len(series), len(times), -1)
        coefficients = torchcde.natural_cubic_coeffs(values, times).float()
        self.path = torchcde.CubicSpline(coefficients, times.float())
        self.h0 = torch.zeros(len(series), workload.states)
        self.evaluations = 0

    @classmethod
    def can_solve(cls, workload: Workload) -> bool:
        return workload.kind == "controlled"

    def states(self) -> Tensor:
        self.evaluations = 0
        tolerance = self.workload.tolerance
        found = torchcde.cdeint(
            self.path,
            self.matrix,
            self.h0,
            self.path.interval,
            adjoint=False,
            method="dopri5",
            rtol=tolerance,
            atol=tolerance,
        )
        return found[:, -1]

    def matrix(self, t: Tensor, h: Tensor) -> Tensor:
        self.evaluations += 1
        weights = self.weights
        hidden = torch.relu(linear(h, weights["weight_hh"], weights["bias_hh"]))
        entries = torch.tanh(linear(hidden, weights["weight_out"], weights["bias_out"]))
        return entries.view(len(h), self.workload.states, self.workload.channels)

    def counts(self) -> tuple[np.ndarray, np.ndarray] | None:
        each = np.full(len(self.h0), self.evaluations)
        return each, (each - 2) // 6
