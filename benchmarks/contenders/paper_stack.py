"""The stack with which DeNOTS was published: torchode, and splines refitted in every forward pass.

Written afresh from its description. Splines are fitted by one function of one channel, mapped
over channels and series with `torch.vmap`: unobserved values are dropped, the tridiagonal system
for the slopes is solved by a Python loop over the knots. Outside its observations a channel is
held, as in this package; the published code continues the cubic there, at the same cost, and so
solves a slightly different problem.
"""

import numpy as np
import torch
import torchode
from torch import Tensor
from torch.nn.functional import linear, pad

from benchmarks.contenders.contender import TorchContender
from benchmarks.workloads import Workload


def fit_channel(times: Tensor, values: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Knots [L], cubic coefficients [L - 1, 4] and last knot of the natural spline; NaN values are no knots.

    Knots come first; what is left of the grid has infinite times and straight, empty pieces.
    """
    seen = torch.isfinite(values)
    order = torch.argsort((~seen).to(torch.int8), stable=True)
    knots = torch.where(seen, times, torch.inf)[order]
    heights = torch.where(seen, values, 0.0)[order]
    inside = torch.isfinite(knots[1:])
    rate = torch.where(inside, 1 / torch.where(inside, knots[1:] - knots[:-1], 1.0), 0.0)
    rise = torch.where(inside, heights[1:] - heights[:-1], 0.0) * rate
    # The tiny number keeps the empty rows solvable.
    diagonal = 2 * (pad(rate, (1, 0)) + pad(rate, (0, 1)) + 1e-9)
    drive = 3 * (pad(rise * rate, (1, 0)) + pad(rise * rate, (0, 1)))
    slopes = solve_tridiagonal(rate, diagonal, drive)
    second = (3 * rise - 2 * slopes[:-1] - slopes[1:]) * rate
    third = (slopes[:-1] + slopes[1:] - 2 * rise) * rate * rate
    last = torch.where(seen, times, -torch.inf).amax()
    return knots, torch.stack([heights[:-1], slopes[:-1], second, third], dim=-1), last


def solve_tridiagonal(off: Tensor, diagonal: Tensor, drive: Tensor) -> Tensor:
    """A symmetric tridiagonal system by elimination, one row after the other."""
    offs, diagonals, drives = off.unbind(), diagonal.unbind(), drive.unbind()
    pivots, sums = [diagonals[0]], [drives[0]]
    for i in range(1, len(diagonals)):
        factor = offs[i - 1] / pivots[-1]
        pivots.append(diagonals[i] - factor * offs[i - 1])
        sums.append(drives[i] - factor * sums[-1])
    found = [sums[-1] / pivots[-1]]
    for i in range(len(diagonals) - 2, -1, -1):
        found.append((sums[i] - offs[i] * found[-1]) / pivots[i])
    return torch.stack(found[::-1])


fit = torch.vmap(torch.vmap(fit_channel, in_dims=(None, 1)))


def read(knots: Tensor, coefficients: Tensor, last: Tensor, t: Tensor) -> Tensor:
    """All splines [n, C, L] at one time a series, held outside their knots.

    Written for the whole batch, not mapped: that is a quarter faster.
    """
    held = torch.clamp(t[:, None], knots[..., 0], last)
    piece = torch.clamp(torch.searchsorted(knots, held[..., None]) - 1, 0, coefficients.shape[2] - 1)
    cubic = coefficients.gather(2, piece[..., None].expand(-1, -1, -1, 4)).squeeze(2)
    value, slope, second, third = cubic.unbind(-1)
    s = held - knots.gather(2, piece).squeeze(-1)
    return value + s * (slope + s * (second + s * third))


class PaperStack(TorchContender):
    label = "paper's stack: torchode, splines refitted each time"

    def __init__(self, workload: Workload) -> None:
        super().__init__(workload)
        rectangle = workload.series.padded()
        times = np.where(rectangle.mask, rectangle.times * workload.depth, np.inf)
        self.times = torch.from_numpy(times).float()
        self.values = torch.from_numpy(rectangle.values).float()
        self.end = torch.from_numpy(workload.series.ends * workload.depth).float()
        self.solver = torchode_solver(workload.tolerance, self.slope)
        self.solution: torchode.Solution | None = None

    def states(self) -> Tensor:
        knots, coefficients, last = fit(self.times, self.embedded())
        splines = knots.contiguous(), coefficients.contiguous(), last
        self.solution = integrate(self.solver, self.end, self.workload.states, splines)
        return self.solution.ys[:, 0]

    def embedded(self) -> Tensor:
        return self.values

    def slope(self, t: Tensor, h: Tensor, splines: tuple[Tensor, Tensor, Tensor]) -> Tensor:
        return gru_slope(self.weights, read(*splines, t), h)

    def counts(self) -> tuple[np.ndarray, np.ndarray] | None:
        return None if self.solution is None else step_counts(self.solution)


class PaperStackTrained(PaperStack):
    """As published: a gain and a shift per channel in front of the splines are trained, too."""

    label = "paper's stack, gradient through the splines to the embedding"

    def __init__(self, workload: Workload) -> None:
        super().__init__(workload)
        self.weights["gain"] = torch.ones(workload.channels, requires_grad=True)
        self.weights["shift"] = torch.zeros(workload.channels, requires_grad=True)

    def embedded(self) -> Tensor:
        return self.values * self.weights["gain"] + self.weights["shift"]


def gru_slope(weights: dict[str, Tensor], x: Tensor, h: Tensor) -> Tensor:
    """A GRU cell shown the mirrored state."""
    mirrored = -h
    u_r, u_z, u_n = linear(x, weights["weight_ih"], weights["bias_ih"]).chunk(3, dim=1)
    v_r, v_z, v_n = linear(mirrored, weights["weight_hh"], weights["bias_hh"]).chunk(3, dim=1)
    n = torch.tanh(u_n + torch.sigmoid(u_r + v_r) * v_n)
    return n + torch.sigmoid(u_z + v_z) * (mirrored - n)


def torchode_solver(tolerance: float, slope: object) -> torchode.AutoDiffAdjoint:
    """Dopri5 with an integral controller; gradients do not pass through the step sizes."""
    term = torchode.ODETerm(slope, with_args=True)
    controller = torchode.IntegralController(atol=tolerance, rtol=tolerance, term=term)
    return torchode.AutoDiffAdjoint(torchode.Dopri5(term=term), controller, backprop_through_step_size_control=False)


def integrate(solver: torchode.AutoDiffAdjoint, end: Tensor, states: int, args: object) -> torchode.Solution:
    """From time zero and zero states to the end of each series."""
    h0 = torch.zeros(len(end), states)
    return solver.solve(torchode.InitialValueProblem(y0=h0, t_start=torch.zeros_like(end), t_end=end), args=args)


def step_counts(solution: torchode.Solution) -> tuple[np.ndarray, np.ndarray]:
    """Evaluations that each series needed for itself: torchode's own counter is that of the whole batch."""
    return 2 + 6 * solution.stats["n_steps"].numpy(), solution.stats["n_accepted"].numpy()
