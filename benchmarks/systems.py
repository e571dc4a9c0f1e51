"""How long every system trains for an epoch of Pendulum: `python -m benchmarks.systems [--quick]`.

256 batches of 128 through the ordinary training loop, from a few batches of them; each system
with one and with two threads, whichever is faster.
"""

import argparse
from collections.abc import Sequence
from typing import Any

import torch

from benchmarks import machine, results
from benchmarks.epoch import train_once
from benchmarks.measure import wait_for_quiet, watched
from benchmarks.tables import console
from denots.datasets import load
from denots.runs.published import published_run
from denots.runs.run import Trial, read_problem, system_of
from denots.systems import SYSTEMS, Shape, Trained
from denots.systems.trained import examples

EPOCH, DEPTH, AGAINST, GOAL = 256, 10.0, "gru", 3.0
UNTRAINED = {"constant", "last-value"}


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="How long every system trains for an epoch of Pendulum.")
    parser.add_argument("--quick", action="store_true", help="two batches of a small set, nothing stored")
    options = parser.parse_args(arguments)
    size, batches = ((256, 16, 2), 2) if options.quick else ((4096, 128, 2), 24)
    problem = read_problem(load("pendulum", size=size))
    found: dict[str, Any] = {"machine": machine.describe(), "batches": batches, "epoch": EPOCH, "systems": {}}
    with watched() as others:
        for system in SYSTEMS:
            if system not in UNTRAINED and isinstance(SYSTEMS[system], Trained):
                wait_for_quiet(0.0 if options.quick else 30.0)
                found["systems"][system] = epoch_seconds(system, problem, batches, repeats=1 if options.quick else 2)
    found["others_share_of_cpu"] = others.share
    show(found)
    if not options.quick:
        console.print(f"stored in {results.store('systems', found)}")


def epoch_seconds(system: str, problem: Trial, batches: int, repeats: int) -> dict[str, float]:
    """The best of several runs with either number of threads, scaled to a whole epoch."""
    chosen = system_of(published_run("pendulum", system, "paper"))
    assert isinstance(chosen, Trained)
    if "depth" in chosen.options and system != "gru-ode":
        chosen = chosen.with_options(depth=DEPTH)
    model = chosen.build(problem.task, Shape.of(problem.train.series), seed=0)
    model.backbone.calibrate(problem.train.series)
    train, val = examples(model, problem.train), examples(model, problem.val)
    best = {}
    for threads in (1, 2):
        torch.set_num_threads(threads)
        train_once(model, train, val, batches=2)
        best[threads] = min(train_once(model, train, val, batches) for _ in range(repeats))
    threads = min(best, key=lambda count: best[count])
    return {
        "seconds": best[threads] * EPOCH / batches,
        "threads": threads,
        "parameters": model.backbone.core_parameters,
    }


def show(found: dict[str, Any]) -> None:
    """Slowest last, and whether the goal against the GRU is met."""
    systems = found["systems"]
    ours = systems["denots"]["seconds"]
    for name, row in sorted(systems.items(), key=lambda item: item[1]["seconds"]):
        console.print(f"{name:12} {row['seconds']:8.2f} s  {row['seconds'] / ours:6.2f}x  {row['threads']} threads")
    ratio = systems[AGAINST]["seconds"] / ours
    verdict = "met" if ratio >= GOAL else "missed"
    console.print(f"DeNOTS at depth {DEPTH:g} is {ratio:.1f} times as fast as {AGAINST} (goal {GOAL:g}: {verdict})")


if __name__ == "__main__":
    main()
