"""Let states move by themselves for a while, when no signal drives them."""

from typing import Protocol, runtime_checkable

import torch
from jaxtyping import Float, Float64
from torch import Tensor

from denots.fields.autonomous import AutonomousField
from denots.ode.solution import Solution
from denots.ode.solve import Backend, solve
from denots.paths.path import Path


@runtime_checkable
class SolverOptions(Protocol):
    """What the configuration of a backbone says about its solver."""

    @property
    def tolerance(self) -> float: ...

    @property
    def max_steps(self) -> int: ...

    @property
    def backend(self) -> Backend: ...


def run_free(
    field: AutonomousField,
    h0: Float[Tensor, "B H"],
    elapsed: Float64[Tensor, "B K"],
    options: SolverOptions,
) -> Solution:
    """States after the given times, which must not be negative."""
    n = len(h0)
    nothing, begin = h0.new_zeros(n, 1), elapsed.new_zeros(n)
    path = Path(
        times=begin,
        values=nothing,
        slopes=nothing,
        begin=torch.arange(n),
        end=torch.arange(1, n + 1),
        t0=begin,
        t1=begin,
        present=torch.zeros(n, 1, dtype=torch.bool),
    )
    return solve(
        field,
        path,
        h0,
        rtol=options.tolerance,
        atol=options.tolerance,
        at=elapsed,
        max_steps=options.max_steps,
        backend=options.backend,
    )
