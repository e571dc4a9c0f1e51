"""How many series a second a loaded model answers: `python -m benchmarks.prediction [DATASET] [--systems ...]`.

Each system is fitted to a part of the training series, saved and loaded; the best of several calls on the test part
counts. What is learnt hardly changes how long an answer takes, so networks are trained for few epochs.
"""

import argparse
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.measure import watched
from benchmarks.tables import console
from denots import SeriesClassifier, SeriesRegressor
from denots.datasets import load
from denots.estimators import load_estimator
from denots.runs.run import read_problem

LEARNT = 5000  # training series; above 4000 there are fewer features
CALLS = 3
OPTIONS: dict[str, dict[str, Any]] = {"denots": {"max_epochs": 2}}


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="Series a second, after loading.")
    parser.add_argument("dataset", nargs="?", default="sepsis")
    parser.add_argument(
        "--systems", nargs="+", default=["summary", "oscillators", "timed-oscillators", "fast", "denots"]
    )
    given = parser.parse_args(arguments)
    problem = read_problem(load(given.dataset, seed=0))
    series, target = problem.train.series, problem.train.target.numpy()
    learnt = slice(0, min(LEARNT, len(series)))
    kind = SeriesClassifier if problem.task.learns == "classes" else SeriesRegressor
    console.print("| system | test series | series a second |\n|---|---:|---:|")
    with tempfile.TemporaryDirectory() as place, watched() as others:
        for name in given.systems:
            folder = Path(place, name)
            kind(name, options=OPTIONS.get(name, {}), random_state=0).fit(series[learnt], target[learnt]).save(folder)
            model, best = load_estimator(folder), float("inf")
            for _ in range(CALLS):
                started = time.perf_counter()
                model.predict(problem.test.series)
                best = min(best, time.perf_counter() - started)
            console.print(f"| {name} | {len(problem.test.series)} | {len(problem.test.series) / best:.0f} |")
    console.print(f"other programs used {others.share:.0%} of the processor")


if __name__ == "__main__":
    main()
