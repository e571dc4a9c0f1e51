"""The assumptions on negative feedback: what the paper measures, and what its theorems need."""

import numpy as np


def strengths() -> tuple[float, float]:
    """|J h| / |h| and the largest singular value of J, for f = h / |h|."""
    h = np.array([0.6, 0.8])
    jacobian = np.eye(2) - np.outer(h, h)  # where |h| = 1
    return float(np.linalg.norm(jacobian @ h)), float(np.linalg.norm(jacobian, 2))


def slope_at_zero() -> float:
    """|f(0, 0)| of a GRU with biases at its start."""
    import torch

    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        cell = torch.nn.GRUCell(3, 32)
    return float(cell(torch.zeros(1, 3), torch.zeros(1, 32)).norm().detach())
