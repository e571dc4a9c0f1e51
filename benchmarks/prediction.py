"""How many series a second a loaded model answers: `python -m benchmarks.prediction [DATASET] [--systems ...]`.

Each system is fitted to a part of the training series, saved and loaded; the best of several calls on the test part
counts. What is learnt hardly changes how long an answer takes, so networks are trained for few epochs. Then follows
how long 10,000 features of 1000 series of 300 points take.
"""

import argparse
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.measure import watched
from benchmarks.tables import console
from denots import SeriesClassifier, SeriesRegressor, SeriesSet
from denots.datasets import load
from denots.estimators import load_estimator
from denots.features import Oscillators
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
            model = load_estimator(folder)
            best = min(seconds(model.predict, problem.test.series) for _ in range(CALLS))
            console.print(f"| {name} | {len(problem.test.series)} | {len(problem.test.series) / best:.0f} |")
    console.print(f"other programs used {others.share:.0%} of the processor\n")
    console.print("| series of 300 points | features | seconds |\n|---|---:|---:|")
    with watched() as others:
        for name, even in (("at even times", True), ("at random times", False)):
            walks = random_walks(1000, even=even)
            features = Oscillators(2000, 5).fit(walks[:200])
            best = min(seconds(features.transform, walks) for _ in range(CALLS))
            console.print(f"| {len(walks)}, {name} | {len(features.get_feature_names_out())} | {best:.2f} |")
    console.print(f"other programs used {others.share:.0%} of the processor")


def seconds(call: Callable[[SeriesSet], Any], series: SeriesSet) -> float:
    started = time.perf_counter()
    call(series)
    return time.perf_counter() - started


def random_walks(count: int, *, even: bool) -> SeriesSet:
    """Three channels of 300 points each."""
    rng = np.random.default_rng(0)
    times = [np.arange(300.0) if even else np.sort(rng.uniform(0, 300, 300)) for _ in range(count)]
    return SeriesSet.from_arrays(times, [rng.normal(size=(300, 3)).cumsum(axis=0) for _ in times])


if __name__ == "__main__":
    main()
