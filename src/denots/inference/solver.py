"""How accurately a backbone solves its ODE, in training and for predictions."""

from dataclasses import dataclass
from typing import Any, Literal

from denots.errors import InvalidOption

Backend = Literal["auto", "native", "reference"]


@dataclass(frozen=True)
class SolverConfig:
    """What all backbones with an ODE are told about their solver.

    method: see `METHODS`; "dopri5" as published.
    tolerance: relative and absolute tolerance of a step while the model is trained.
    predict_tolerance: that of predictions, unless `tolerance` is tighter; None takes `tolerance`. Training
        needs a direction and solves with gradients, a prediction is read by somebody and solved once.
    """

    method: str = "owrenzen4"
    tolerance: float = 0.1
    predict_tolerance: float | None = 1e-5
    max_steps: int = 10_000
    backend: Backend = "auto"

    def __post_init__(self) -> None:
        if self.predict_tolerance is not None and not self.predict_tolerance > 0:
            raise InvalidOption(f"predict_tolerance must be a positive number or None; got {self.predict_tolerance}.")

    def solving(self, coarse: bool) -> dict[str, Any]:
        """What `solve` is given: coarse for training, else for predictions."""
        tolerance = self.tolerance
        if not coarse and self.predict_tolerance is not None:
            tolerance = min(tolerance, self.predict_tolerance)
        return {
            "method": self.method,
            "rtol": tolerance,
            "atol": tolerance,
            "max_steps": self.max_steps,
            "backend": self.backend,
        }


SOLVED_THEN: dict[str, Any] = {"method": "dopri5", "predict_tolerance": None}  # as published, and in older records


def with_solver_of_then(options: dict[str, Any]) -> dict[str, Any]:
    """Options of a model or record that may be older than the choice of a solver, which then was dopri5,
    to one tolerance in training and prediction.
    """
    if "tolerance" not in options or "method" in options:
        return options
    return {**options, **SOLVED_THEN}
