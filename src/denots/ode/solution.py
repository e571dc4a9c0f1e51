"""What a solve found and what it cost, series by series."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, Literal

from jaxtyping import Float, Float64, Int
from torch import Tensor

from denots.errors import SolverFailure


class Status(IntEnum):
    OK = 0
    MAX_STEPS = 1
    STEP_UNDERFLOW = 2
    NOT_FINITE = 3


_REASONS = {
    Status.MAX_STEPS: "reached max_steps; raise it, loosen the tolerance or lower the depth",
    Status.STEP_UNDERFLOW: "needs steps too small to advance; loosen the tolerance or lower the depth",
    Status.NOT_FINITE: "left the finite numbers; use a field with negative feedback or lower the depth",
}


@dataclass(frozen=True, slots=True, eq=False)
class Solution:
    """States at the query times. A series that failed has NaN states and no gradient."""

    states: Float[Tensor, "n K H"]
    status: Int[Tensor, " n"]
    evaluations: Int[Tensor, " n"]  # field calls, rejected steps and the first-step search included
    accepted: Int[Tensor, " n"]
    rejected: Int[Tensor, " n"]
    reached: Float64[Tensor, " n"]  # time up to which the state is known
    backend: Literal["native", "reference"]
    fallback: str | None = None  # why the reference ran although nobody asked for it

    @property
    def ok(self) -> Tensor:
        return self.status == Status.OK

    def check(self, ids: Sequence[Any] | None = None) -> "Solution":
        """Return self, or raise a SolverFailure that names each failed series (by id where given)."""
        failed = (~self.ok).nonzero().flatten().tolist()
        if not failed:
            return self
        lines = [
            f"series {ids[i] if ids is not None else i!r} {_REASONS[Status(int(self.status[i]))]}"
            f" (at time {self.reached[i].item():.6g}, after {int(self.accepted[i])} steps)"
            for i in failed[:5]
        ]
        more = f" and {len(failed) - 5} more" if len(failed) > 5 else ""
        raise SolverFailure(f"{len(failed)} of {len(self.status)} series failed: " + "; ".join(lines) + more + ".")
