"""The options of DeNOTS for answers at any time."""

from dataclasses import dataclass

from denots.inference.solver import SolverConfig
from denots.options import Choice, Range, tunable


@dataclass(frozen=True)
class RunningDeNOTSConfig(SolverConfig):
    """See also `SolverConfig`.

    depth: how long the median time from row to row takes on the stretched clock; the shorter, the longer the memory.
    """

    state_size: int = tunable(64, Choice((32, 64, 128)))
    depth: float = tunable(0.2, Range(0.05, 2.0, log=True))
    field: str = "anti"
    method: str = "bosh3"
    predict_tolerance: float | None = 1e-3
