"""What does accuracy cost? Error against evaluations and time for each method; writes docs/precision.md."""

import argparse
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from rich.console import Console

from benchmarks import results
from benchmarks.figures import draw_precision
from benchmarks.workloads import Workload, build
from denots import solve
from denots.datasets import load
from denots.errors import NotImported
from denots.ode import METHODS, Solution

PAGE = Path(__file__).parents[1] / "docs" / "precision.md"
SETS = {  # title, series of the test split, depth
    "pendulum": ("Pendulum", 128, 10.0),
    "uwgl": ("UWaveGesture with gaps", 128, 10.0),
    "sepsis": ("Sepsis", 128, 10.0),
    "bump": ("Bump", 128, 10.0),
    "sine-mix": ("SineMix", 32, 10.0),
}
TRIED = {  # a name for the table, the method, and its safety
    "dopri5": ("dopri5", 0.9),
    "tsit5": ("tsit5", 0.9),
    "bosh3": ("bosh3", 0.9),
    "bosh3, safety 0.7": ("bosh3", 0.7),
    "owrenzen4, safety 0.9": ("owrenzen4", 0.9),
    "owrenzen4": ("owrenzen4", 0.7),
}
DRAWN = ("dopri5", "tsit5", "bosh3", "owrenzen4")
TOLERANCES = (1e-1, 3e-2, 1e-2, 3e-3, 1e-3, 3e-4, 1e-4, 3e-5, 1e-5, 3e-6, 1e-6)
MARKS = (1e-2, 1e-3, 1e-4)


def measure(workload: Workload, repeats: int = 3) -> dict[str, Any]:
    """Error of the last state in single precision, and what it cost, for every method and tolerance."""
    exact = solver_of(workload, torch.float64)("dopri5", 1e-10).states
    run = solver_of(workload, torch.float32)
    found: dict[str, Any] = {}
    for label, (method, safety) in TRIED.items():
        kept = METHODS[method]
        METHODS[label] = replace(kept, safety=safety)
        rows = []
        for tolerance in TOLERANCES:
            seconds = []
            for _ in range(repeats):
                started = time.process_time()
                solution = run(label, tolerance)
                seconds.append(time.process_time() - started)
            off = (solution.states.double() - exact).square().mean(dim=(1, 2)).sqrt()
            attempts = solution.accepted + solution.rejected
            rows.append(
                {
                    "tolerance": tolerance,
                    "error": float(off.square().mean().sqrt()),
                    "evaluations": float(solution.evaluations.double().mean()),
                    "rejected": float(solution.rejected.sum() / attempts.sum()),
                    "ms_per_1000": 1e6 * min(seconds) / len(off),
                }
            )
        found[label] = rows
        if label != method:
            del METHODS[label]
        METHODS[method] = kept
    return found


def solver_of(workload: Workload, dtype: torch.dtype) -> Callable[[str, float], Solution]:
    """A forward pass by method and tolerance, with everything else prepared."""
    path, field = workload.path(dtype), workload.field(dtype)
    h0 = torch.zeros(len(path), workload.states, dtype=dtype)

    @torch.no_grad()
    def run(method: str, tolerance: float) -> Solution:
        return solve(field, path, h0, rtol=tolerance, atol=tolerance, method=method, max_steps=1_000_000).check()

    return run


def at_error(rows: list[dict[str, float]], error: float, cost: str) -> float | None:
    """The cost of an error, between the two tolerances around it, or of the coarsest; None where none was as good."""
    errors = np.log([row["error"] for row in rows])
    if errors.min() > np.log(error):
        return None
    order = np.argsort(errors)
    return float(np.exp(np.interp(np.log(error), errors[order], np.log([rows[i][cost] for i in order]))))


def table_of_sets(found: dict[str, Any]) -> list[str]:
    """Evaluations and milliseconds for 1000 series at equal errors."""
    lines = [
        f"| data set | method | {' | '.join(f'error {mark:.0e}' for mark in MARKS)} | rejected at 1e-3 |",
        f"|---|---|{'---|' * (len(MARKS) + 1)}",
    ]
    for name, methods in found.items():
        for label, rows in methods.items():
            cells = []
            for mark in MARKS:
                evaluations, spent = (at_error(rows, mark, cost) for cost in ("evaluations", "ms_per_1000"))
                cells.append("-" if evaluations is None or spent is None else f"{evaluations:.0f} ({spent:.0f} ms)")
            rejected = next(row["rejected"] for row in rows if row["tolerance"] == 1e-3)
            lines.append(f"| {SETS[name][0]} | {label} | {' | '.join(cells)} | {rejected:.0%} |")
    return lines


def table_of_moves(found: dict[str, Any]) -> list[str]:
    lines = [
        "| data set | default | series | moved by more than 1e-3 | largest move | s per 1000 series | training, s | metric |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for name, defaults in found.items():
        for label, row in defaults.items():
            lines.append(
                f"| {name} | {label} | {row['series']} | {row['moved']:.2%} | {row['largest']:.1e} | "
                f"{row['seconds_per_1000']:.2f} | {row['training_seconds']:.1f} | {row['metric']:.3f} |"
            )
    return lines


def write_page(content: dict[str, Any]) -> None:
    """The page from the latest results: what was measured, then what was tried and left out."""
    told = (Path(__file__).parent / "precision.md").read_text(encoding="utf-8")
    page = told.replace("{sets}", "\n".join(table_of_sets(content["precision"])))
    PAGE.write_text(page.replace("{moves}", "\n".join(table_of_moves(content.get("halving", {})))), encoding="utf-8")
    draw_precision({SETS[name][0]: {key: rows[key] for key in DRAWN} for name, rows in content["precision"].items()})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--page", action="store_true", help="only write the page from the latest results")
    console = Console(highlight=False, soft_wrap=True)
    if not parser.parse_args().page:
        torch.set_num_threads(1)
        found = {}
        for name, (title, n, depth) in SETS.items():
            try:
                series = load(name).splits.test.select(np.arange(n))
            except NotImported as error:
                console.print(f"{name} is left out: {error}")
                continue
            found[name] = measure(build(name, title, series, depth=depth))
            console.print(f"{name} measured")
        console.print(f"stored in {results.store('precision', found)}")
    write_page(results.read(results.latest()))


if __name__ == "__main__":
    main()
