"""Does everybody solve the same problem? Checked before anything is timed."""

from dataclasses import dataclass

import numpy as np
import torch

from benchmarks.contenders import CONTENDERS, Outcome, contender
from benchmarks.workloads import Workload, agreement
from denots import solve

STATES_WITHIN = 5.0  # tolerances, between any contender and the native solver
GRADIENT_WITHIN = 1e-3  # relative, likewise
NOT_WORSE_THAN = 2.0  # times the error of the native solver, on data where no tolerance bounds it


class Disagreement(Exception):
    """Contenders that do not solve the same problem must not be compared."""


@dataclass(frozen=True, slots=True)
class Difference:
    """Largest difference of a state, and relative difference of the gradient as one vector."""

    states: float
    gradient: float
    typical: float  # root mean square of the differences of all states


def difference(one: Outcome, other: Outcome) -> Difference:
    gap = one.states - other.states
    mine, theirs = (np.concatenate([o.gradient[name].ravel() for name in other.gradient]) for o in (one, other))
    return Difference(
        float(np.abs(gap).max()),
        float(np.linalg.norm(mine - theirs) / np.linalg.norm(theirs)),
        float(np.sqrt(np.mean(gap**2))),
    )


def exact(workload: Workload, tolerance: float = 1e-9) -> Outcome:
    """The solution in double precision with a tolerance that leaves nothing to argue about."""
    torch.set_num_threads(2)
    path, field = workload.path(torch.float64), workload.field(torch.float64)
    h0 = torch.zeros(len(path), workload.states, dtype=torch.float64)
    solution = solve(field, path, h0, rtol=tolerance, atol=tolerance, max_steps=10_000_000).check()
    loss = (solution.states[:, 0] * workload.cotangent.double()).sum()
    names, weights = zip(*field.named_parameters(), strict=True)
    gradient = torch.autograd.grad(loss, weights)
    return Outcome(
        solution.states[:, 0].detach().numpy(),
        {name: g.numpy() for name, g in zip(names, gradient, strict=True)},
        solution.evaluations.numpy(),
        solution.accepted.numpy(),
    )


def check_agreement(names: list[str] | None = None) -> dict[str, dict[str, float]]:
    """Solve a smooth problem with everyone; raise Disagreement where one differs from the native solver.

    Smooth, because only there does a tolerance say something about the solution: real paths bend
    between all of their many knots, and steps that span several knots land elsewhere after any rounding.
    """
    workload = agreement()
    kinds = {name: contender(name) for name in names or CONTENDERS}
    outcomes = {name: kind(workload).outcome() for name, kind in kinds.items() if kind.solves_the_same}
    native = contender("native-2")(workload).outcome()
    report = {}
    for name, outcome in outcomes.items():
        found = difference(outcome, native)
        report[name] = {
            "states_in_tolerances": found.states / workload.tolerance,
            "gradient": found.gradient,
            "mean_evaluations": float(np.mean(outcome.evaluations)),
        }
        if found.states > STATES_WITHIN * workload.tolerance or found.gradient > GRADIENT_WITHIN:
            raise Disagreement(
                f"{name} differs from native-2 on smooth series: states by {found.states / workload.tolerance:.2g} "
                f"tolerances (at most {STATES_WITHIN:g}), gradient by {found.gradient:.2g} (at most {GRADIENT_WITHIN:g})."
            )
    return report
