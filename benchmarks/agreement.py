"""Does everybody solve the same problem? Checked before anything is timed."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import torch

from benchmarks.contenders import CONTENDERS, Outcome, contender
from benchmarks.workloads import KINDS, Workload, agreement
from denots import solve
from denots.ode.native import fused

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


def exact(workload: Workload) -> Outcome:
    """The solution in double precision with a tolerance that leaves nothing to argue about.

    Where only the reference can solve it, the tolerance is what its memory allows.
    """
    torch.set_num_threads(2)
    path, field = workload.path(torch.float64), workload.field(torch.float64)
    h0 = torch.zeros(len(path), workload.states, dtype=torch.float64)
    tolerance = 1e-7 if isinstance(fused(field, path, h0, "dopri5"), str) else 1e-9
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


def rival(names: Iterable[str]) -> str:
    """The one that all others are compared with: the native solver, or the reference where no kernel applies."""
    return next(name for name in ("native-2", "reference") if name in names)


def apart(one: float, other: float, tolerance: float) -> bool:
    """Whether two errors are too different for the same work."""
    return max(one, other) > NOT_WORSE_THAN * min(one, other) + tolerance


def check_agreement(names: list[str] | None = None) -> dict[str, dict[str, float]]:
    """Solve a smooth problem of each kind with everyone; raise Disagreement where one differs from the native solver.

    Smooth, because only there does a tolerance say something about the solution: real paths bend
    between all of their many knots, and steps that span several knots land elsewhere after any rounding.
    The controlled field has kinks of its own, so there errors must be alike, as on real paths.
    """
    report = {}
    for kind in KINDS:
        workload = agreement(kind)
        kinds = {name: contender(name) for name in names or CONTENDERS}
        outcomes = {
            name: who(workload).outcome()
            for name, who in kinds.items()
            if who.solves_the_same and who.can_solve(workload)
        }
        if len(outcomes) < 2:
            continue
        first = rival(outcomes)
        truth = exact(workload) if kind == "controlled" else None
        for name, outcome in outcomes.items():
            shown = name if kind == "anti" else f"{name}, {kind} field"
            found = difference(outcome, outcomes[first])
            report[shown] = {
                "states_in_tolerances": found.states / workload.tolerance,
                "gradient": found.gradient,
                "mean_evaluations": float(np.mean(outcome.evaluations)),
            }
            if truth is None:
                _expect_equal(name, first, found, workload.tolerance)
            else:
                _expect_alike(
                    name, first, *(difference(outcomes[who], truth) for who in (name, first)), workload.tolerance
                )
    return report


def _expect_equal(name: str, first: str, found: Difference, tolerance: float) -> None:
    if found.states > STATES_WITHIN * tolerance or found.gradient > GRADIENT_WITHIN:
        raise Disagreement(
            f"{name} differs from {first} on smooth series: states by {found.states / tolerance:.2g} "
            f"tolerances (at most {STATES_WITHIN:g}), gradient by {found.gradient:.2g} (at most {GRADIENT_WITHIN:g})."
        )


def _expect_alike(name: str, first: str, mine: Difference, theirs: Difference, tolerance: float) -> None:
    for what in ("typical", "gradient"):
        one, other = getattr(mine, what), getattr(theirs, what)
        if apart(one, other, tolerance):
            raise Disagreement(
                f"{name} has an error of {one:.2g} ({what}), {first} one of {other:.2g}: more than a factor of "
                f"{NOT_WORSE_THAN:g} apart, so they did not do the same work."
            )
