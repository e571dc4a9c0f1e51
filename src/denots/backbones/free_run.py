"""Let states move by themselves for a while, when no signal drives them."""

from typing import Any

import torch
from jaxtyping import Float, Float64
from torch import Tensor

from denots.fields.autonomous import AutonomousField
from denots.ode.solution import Solution
from denots.ode.solve import solve
from denots.paths.path import Path


def run_free(
    field: AutonomousField,
    h0: Float[Tensor, "B H"],
    elapsed: Float64[Tensor, "B K"],
    solving: dict[str, Any],
    stop: Float64[Tensor, " B"] | None = None,
) -> Solution:
    """States after the given times, which must not be negative; a step lands on `stop`, if there is one."""
    n = len(h0)
    nothing, begin = h0.new_zeros(n, 1), elapsed.new_zeros(n)
    path = Path(
        times=begin,
        values=nothing,
        slopes=nothing,
        begin=torch.arange(n),
        end=torch.arange(1, n + 1),
        t0=begin,
        t1=begin if stop is None else stop,
        present=torch.zeros(n, 1, dtype=torch.bool),
    )
    return solve(field, path, h0, at=elapsed, **solving)
