"""Does a longer gap between observations always raise the error of a Gaussian process?

The paper draws sequences at random, widens one gap and compares posterior variances in float64.
There the kernel matrix of a squared-exponential process is singular for all but short sequences,
and the comparison is decided by rounding; with enough digits it can be decided.
"""

from typing import Any

import numpy as np

from denots.experiments.exhibit import Exhibit, Table
from denots.experiments.experiment import Request, Study
from denots.experiments.results import Findings
from denots.shapes import FloatArray
from denots.theory.gap import digits_for, draw, exact_variance, variance


class Gaps(Study):
    name = "gaps"
    title = "Longer gaps, larger error"
    shows = "algorithm of the Monte-Carlo test of the gap assumption"
    reduced = "Up to 20 times a sequence; in `paper` up to 80."

    def options(self, request: Request) -> dict[str, Any]:
        return {
            "lengths": request.of([5, 8], [5, 8, 12, 20], [5, 8, 12, 20, 40, 80]),
            "draws": request.of(5, 100, 200),
            "seed": 0,
        }

    def make(self, options: dict[str, Any]) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for n in options["lengths"]:
            draws = options["draws"] if n <= 20 else max(1, options["draws"] // 10)
            rng = np.random.default_rng([options["seed"], n])
            counts = {"draws": draws, "holds": 0, "float64 says no": 0, "float64 negative": 0}
            for _ in range(draws):
                times, moved, at, moved_at = draw(rng, n)
                digits = digits_for(n)
                counts["holds"] += bool(exact_variance(times, at, digits) < exact_variance(moved, moved_at, digits))
                before, after = _float64(times, at), _float64(moved, moved_at)
                counts["float64 says no"] += not before < after
                counts["float64 negative"] += min(before, after) < 0
            found[str(n)] = counts
        return found

    def shown(self, findings: Findings | None) -> list[Exhibit]:
        rows = tuple(
            (f"{n} times", tuple(str(counts[key]) for key in ("draws", "holds", "float64 says no", "float64 negative")))
            for n, counts in (findings.findings if findings is not None else {}).items()
        )
        columns = (
            "draws",
            "holds, decided with enough digits",
            "fails in float64",
            "of these or others, negative variance in float64",
        )
        note = "The paper: holds in 1000 of 1000 draws of 5 to 300 times, in float64."
        return [Table("Widening a gap raises the posterior variance", columns, rows, note)]


def _float64(times: FloatArray, at: float) -> float:
    try:
        return variance(times, at)
    except np.linalg.LinAlgError:
        return float("nan")
