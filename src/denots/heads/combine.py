"""Weigh what several models say of series that they have not seen, and bring it to the scale of probabilities."""

from collections.abc import Callable, Sequence

import numpy as np
import torch
from scipy.optimize import minimize
from torch import Tensor

from denots.processors import limited_to
from denots.shapes import FloatArray

CALIBRATED = 3.0  # series that outputs are worth as they are
PRIOR = 10.0  # series that the weights are worth which are thought likely before any is seen

Loss = Callable[[Tensor], Tensor]


def calibrate(outputs: Tensor, loss: Loss) -> tuple[float, FloatArray]:
    """A factor and one shift for each output that bring outputs of unknown scale to the least loss."""
    outputs = outputs.double()
    size, width = outputs.shape
    shrink = CALIBRATED / size

    def judge(numbers: FloatArray) -> tuple[float, FloatArray]:
        free = torch.from_numpy(numbers).requires_grad_()
        total = loss(outputs * free[0].exp() + free[1:]) + 0.1 * shrink * ((free[1:] ** 2).sum() + 0.1 * free[0] ** 2)
        total.backward()
        return total.item(), np.asarray(free.grad)

    bounds = [(-5, 5)] + [(None, None)] * width
    with limited_to(1):  # threads would wait for each other longer than they work
        found = minimize(judge, np.zeros(1 + width), jac=True, method="L-BFGS-B", bounds=bounds)
    return float(np.exp(found.x[0])), found.x[1:]


def weigh(members: Sequence[Tensor], loss: Loss, likely: FloatArray | None = None) -> FloatArray:
    """Weights, none of them negative, under which the sum of outputs has the least loss.

    Likely weights, equal ones if none are given, are what some series would have said, so that a handful of them
    cannot overrule it.
    """
    stacked = torch.stack([member.double() for member in members])
    begin = np.full(len(members), 1 / len(members)) if likely is None else likely
    before = torch.from_numpy(begin)
    shrink = PRIOR / stacked.shape[1]

    def judge(numbers: FloatArray) -> tuple[float, FloatArray]:
        weights = torch.from_numpy(numbers).requires_grad_()
        total = loss(torch.einsum("m,mnk->nk", weights, stacked)) + shrink * ((weights - before) ** 2).sum()
        total.backward()
        return total.item(), np.asarray(weights.grad)

    with limited_to(1):
        found = minimize(judge, begin, jac=True, method="L-BFGS-B", bounds=[(0, None)] * len(members))
    return np.asarray(found.x)
