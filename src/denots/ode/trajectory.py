"""The way of the states, not only where it leads: every accepted step of a solve."""

from dataclasses import dataclass

import torch
from jaxtyping import Float, Float64, Int
from torch import Tensor

from denots import kernels
from denots.errors import NativeUnavailable
from denots.fields.field import VectorField
from denots.ode.native import fused, pose, run, solution_of
from denots.ode.solution import Solution
from denots.ode.solve import check_options, check_shapes
from denots.ode.used import noted
from denots.paths.path import Path
from denots.registry import lookup
from denots.tableaus import METHODS


@dataclass(frozen=True, slots=True, eq=False)
class Trajectory:
    """Times and states where accepted steps began, and where the last one ended, series after series.

    Series i owns rows `offsets[i]` to `offsets[i + 1]`, one more than it has steps. One that failed has NaN in
    its last row, at the time up to which its state is known; `solution` says why.
    """

    times: Float64[Tensor, " R"]
    states: Float[Tensor, "R H"]
    offsets: Int[Tensor, " n_plus_1"]
    solution: Solution


def trajectory(
    field: VectorField,
    path: Path,
    h0: Float[Tensor, "n H"],
    *,
    rtol: float,
    atol: float,
    method: str = "dopri5",
    max_steps: int = 10_000,
) -> Trajectory:
    """Integrate as `solve` does, from the start to the end of each path, and keep every accepted step.

    Only the fused kernels keep their steps: what they cannot do raises NativeUnavailable. There is no gradient.
    """
    table = lookup(METHODS, method, "method")
    ends = path.t1[:, None]
    check_shapes(field, path, h0, ends, None)
    kernel = fused(field, path, h0, method)
    if isinstance(kernel, str):
        raise NativeUnavailable(f"only the fused solver keeps its steps, and it cannot do this: {kernel}.")
    check_options(table, method, rtol, atol, max_steps, None)
    posed = pose(kernel, path, h0, queries=ends, method=method, rtol=rtol, atol=atol, max_steps=max_steps)
    problem, tape, found = run(*posed, record=True)
    solution = solution_of(found)
    offsets = torch.cat([torch.zeros(1, dtype=torch.int64), (solution.accepted + 1).cumsum(0)])
    rows = int(offsets[-1])
    times, states = torch.empty(rows, dtype=torch.float64), h0.new_empty(rows, h0.shape[1])
    kernels.steps(problem, tape, offsets=offsets.numpy(), times=times.numpy(), states=states.numpy())
    last = offsets[1:] - 1
    times[last], states[last] = solution.reached, solution.states[:, 0]
    return Trajectory(times, states, offsets, noted(solution))
