"""Step control: the scaled error, the first step, and how the next one follows.

An error of one meets the tolerance exactly. The rules are those of the solver with which DeNOTS
was published, so that evaluation counts compare; a method brings its own `safety`.
"""

import torch
from torch import Tensor

from denots.ode.runge_kutta import Slope

SHRINK, GROW = 0.2, 10.0


def scaled_error(error: Tensor, h0: Tensor, h1: Tensor, rtol: float, atol: float) -> Tensor:
    """Root mean square over the state of error / (atol + rtol max(|h0|, |h1|)), one number a row."""
    return _rms(error / (atol + rtol * torch.maximum(h0.abs(), h1.abs())))


def step_ratio(error: Tensor, order: int, safety: float) -> Tensor:
    """How much longer the next step may be; a single lucky step must not skip many knots."""
    return (safety * error.clamp_min(1e-30) ** (-1 / order)).clamp(SHRINK, GROW).to(torch.float64)


def first_step(slope: Slope, t: Tensor, h: Tensor, k: Tensor, order: int, rtol: float, atol: float) -> Tensor:
    """A cautious first step from two slopes (Hairer, Norsett and Wanner, II.4); one evaluation.

    Where the trial leaves the finite numbers, it is itself the first step: the loop will shorten it.
    """
    scale = atol + rtol * h.abs()
    size, speed = _rms(h / scale), _rms(k / scale)
    trial = 0.01 * size / speed
    usable = (size >= 1e-5) & (speed >= 1e-5) & torch.isfinite(trial) & (trial > 0)
    trial = torch.where(usable, trial, 1e-6)
    bend = _rms((slope(t + trial, h + trial.to(h.dtype)[:, None] * k) - k) / scale) / trial
    fastest = torch.maximum(speed, bend)
    ahead = torch.where(fastest <= 1e-15, (1e-3 * trial).clamp_min(1e-6), (0.01 / fastest) ** (1 / order))
    ahead = torch.where(torch.isfinite(bend) & (ahead > 0), ahead, trial)
    return torch.minimum(100 * trial, ahead).to(torch.float64)


def _rms(x: Tensor) -> Tensor:
    return x.square().mean(dim=1).sqrt()
