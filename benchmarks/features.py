"""What each part of the features and of the blend gives: `python -m benchmarks.features [--sets ...]`.

Every set of the archive that is imported, its training part with half of the steps dropped; at most 500 of its series. Each
row changes one thing and is judged by what is said of series that were left out; test parts are not read. Records are
lines of JSON, kept as they finish and never made twice; the page is drawn from them.
"""

import argparse
import json
import time
import warnings
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np

from benchmarks.tables import console
from denots import SeriesSet
from denots.competition.contest import open_contest
from denots.datasets.archive import imported_archives
from denots.errors import UnusualSeries
from denots.features import convolutions, oscillators
from denots.folders import write_file_whole
from denots.inference import even_grid
from denots.runs.record import append_line, read_lines
from denots.systems import SYSTEMS, Fitted, Problem
from denots.systems.auto import FOLDS, combine
from denots.systems.bagged import fit_bag
from denots.systems.held_out import trivial_outputs
from denots.tasks import TASKS

RECORDS = Path(__file__).parent / "results" / "features.jsonl"
PAGE = Path(__file__).parents[1] / "docs" / "ablation-features.md"
MOST, GAP = 500, 0.5

# Options of the system, or constants of the modules that make the features.
OSCILLATORS: dict[str, dict[str, Any]] = {
    "the default: 2000 oscillators, 5 thresholds": {},
    "250 oscillators": {"oscillators": 250},
    "1000 oscillators": {"oscillators": 1000},
    "5000 oscillators, 2 thresholds": {"oscillators": 5000, "thresholds": 2},
    "10,000 oscillators, one threshold": {"thresholds": 1},
    "slowest and fastest rate the same for all sets": {"SLOWEST": 1.0, "steps": 200.0},
    "up to twice as many turns before they fade": {"TURNS": 3 * np.pi},
    "no turns: they only fade": {"TURNS": 1e-6},
    "each reads one channel": {"MOST_CHANNELS": 1},
    "looked at more often between knots": {"PIECES": 256},
    "thresholds from 8 series": {"SAMPLE": 8},
    "the clock drives them, too, and parts of the series count": {"timed": True},
}
CONVOLUTIONS: dict[str, dict[str, Any]] = {
    "the default: 2000 filters, 5 thresholds": {},
    "500 filters": {"filters": 500},
    "10,000 filters, one threshold": {"filters": 10_000, "thresholds": 1},
    "each filter reads one channel": {"MOST_CHANNELS": 1},
    "a grid of as many points as a long series has rows": {"MOST_LONGER": 1.0},
    "thresholds of filters from 8 series": {"SAMPLE": 8},
}
CHANGES = {"oscillators": OSCILLATORS, "convolutions": CONVOLUTIONS}
MODULES = {"oscillators": (oscillators,), "convolutions": (convolutions, even_grid)}
MEMBERS = ("summary", "trees", "oscillators", "timed-oscillators", "convolutions", "forest")
STATISTICS = ("summary", "trees")  # members for which nothing speaks before held-out answers do
BLENDS: dict[str, Sequence[str]] = {
    "all of them": MEMBERS,
    **{f"without {one}": [name for name in MEMBERS if name != one] for one in MEMBERS},
    **{f"{one} alone": [one] for one in MEMBERS},
}


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="What each part of the features and of the blend gives.")
    parser.add_argument("--sets", default="", help="data sets, separated by commas; default: all that are imported")
    parser.add_argument("--only-page", action="store_true", help="draw the page from the records there are")
    options = parser.parse_args(arguments)
    warnings.simplefilter("ignore", UnusualSeries)
    names = options.sets.split(",") if options.sets else imported_archives()
    for name in () if options.only_page else names:
        series = training_part(name)
        for system, rows in CHANGES.items():
            for row in rows:
                if (name, row) not in read_records():
                    keep(name, {row: changed(system, row, series)})
        if any((name, row) not in read_records() for row in BLENDS):
            keep(name, blended(series))
    write_file_whole(PAGE, page(read_records()).encode())
    console.print(f"written: {PAGE}")


def training_part(name: str) -> SeriesSet:
    train, _, _ = open_contest(name).arranged(GAP, draw=0, resample=0)
    labels = np.asarray(train.target)
    rows = np.sort(np.random.default_rng(0).permutation(len(train))[:MOST])
    counts = dict(zip(*np.unique(labels[rows], return_counts=True), strict=True))
    return train.select([row for row in rows if counts[labels[row]] > 1])


def keep(name: str, rows: dict[str, dict[str, float]]) -> None:
    for row, told in rows.items():
        append_line(json.dumps({"dataset": name, "row": row, **told}), RECORDS)
        console.print(f"{name}, {row}: accuracy {told['accuracy']:.3f}, log loss {told['loss']:.3f}")


def changed(system: str, row: str, series: SeriesSet) -> dict[str, float]:
    """Leave-one-out score of a system with one thing changed."""
    constants = {name: value for name, value in CHANGES[system][row].items() if name.isupper()}
    options = {name: value for name, value in CHANGES[system][row].items() if name.islower()}
    steps = options.pop("steps", None)
    if steps is not None:
        constants["FASTEST"] = steps / float(np.median(series.lengths))
    began = time.process_time()
    with ExitStack() as stack:
        for name, value in constants.items():
            [module] = [module for module in MODULES[system] if hasattr(module, name)]
            stack.enter_context(patch.object(module, name, value))
        fitted = SYSTEMS[system].with_options(**options).fit(posed(series), seed=0)
    return {**judged(fitted, series), "seconds": time.process_time() - began}


def blended(series: SeriesSet) -> dict[str, dict[str, float]]:
    """Every member is fitted once; blends are weighed anew."""
    problem = posed(series)
    target = problem.train.target
    found: dict[str, Fitted] = {}
    seconds = {}
    for name in MEMBERS:
        began, system = time.process_time(), SYSTEMS[name]
        found[name] = fit_bag(system, problem, FOLDS, seed=0) if system.holds_out else system.fit(problem, seed=0)
        seconds[name] = time.process_time() - began
    rows = {}
    for row, members in BLENDS.items():
        blend = combine(
            problem.task,
            {name: found[name] for name in members},
            trivial_outputs(problem.task, target),
            target,
            unlikely=STATISTICS,
        )
        rows[row] = {**judged(blend, series), "seconds": sum(seconds[name] for name in members)}
    return rows


def posed(series: SeriesSet) -> Problem:
    task = TASKS["classification"].read(series)
    part = task.pose(series)
    return Problem(task.calibrated(part), part, None)


def judged(fitted: Fitted, series: SeriesSet) -> dict[str, float]:
    """By what was said of the series that were left out."""
    problem, told = posed(series), fitted.held_out
    if told is None:
        raise ValueError("nothing was held out")
    chosen = told.argmax(dim=1) if told.shape[1] > 1 else (told[:, 0] > 0).long()
    target = problem.train.target
    return {
        "accuracy": float((chosen == target.long()).double().mean()),
        "loss": float(problem.task.loss(told, target)),
    }


def read_records() -> dict[tuple[str, str], dict[str, Any]]:
    lines = [json.loads(line) for line in read_lines(RECORDS)] if RECORDS.exists() else []
    return {(record["dataset"], record["row"]): record for record in lines}


def page(records: dict[tuple[str, str], dict[str, Any]]) -> str:
    sets = sorted({name for name, _ in records})
    lines = [
        "# What each part of the features and of the blend gives",
        "",
        "<!-- generated by `python -m benchmarks.features` from benchmarks/results/features.jsonl; do not edit -->",
        "",
        f"Training parts of {len(sets)} sets of the UEA/UCR archive ({', '.join(name[4:] for name in sets)}), half of the",
        f"steps dropped, at most {MOST} series of each; means over the sets of what is said of series that were left out",
        "(one by one for a ridge, by folds for trees). Weights of a blend are learnt on the same series. One seed: two",
        "rows that differ by less than about 0.005 are equal.",
        "",
        *_table("a ridge on oscillators", OSCILLATORS, records, sets),
        "",
        *_table("a ridge on convolutions", CONVOLUTIONS, records, sets),
        "",
        *_table("a blend, or one system", BLENDS, records, sets),
    ]
    return "\n".join(lines) + "\n"


def _table(title: str, rows: Sequence[str] | dict[str, Any], records: dict[Any, Any], sets: list[str]) -> list[str]:
    lines = [f"| {title} | accuracy | log loss | seconds of the processor, all sets |", "|---|---|---|---|"]
    for row in rows:
        found = [records[name, row] for name in sets if (name, row) in records]
        if len(found) < len(sets) or not found:
            lines.append(f"| {row} | not measured on all sets | | |")
            continue
        mean = {what: float(np.mean([record[what] for record in found])) for what in ("accuracy", "loss")}
        seconds = sum(record["seconds"] for record in found)
        lines.append(f"| {row} | {mean['accuracy']:.4f} | {mean['loss']:.4f} | {seconds:.0f} |")
    return lines


if __name__ == "__main__":
    main()
