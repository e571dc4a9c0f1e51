"""An epoch of training, and where its time goes: `python -m benchmarks.epoch [--quick]`.

Pendulum, depth 10, 256 batches of 128, through the ordinary training loop. The kernels are
timed from the inside of one run; a second run under the profiler says what the rest is.
"""

import argparse
import cProfile
import pstats
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from typing import Any

import numpy as np
import torch

from benchmarks import machine, results
from benchmarks.measure import wait_for_quiet, watched
from benchmarks.tables import console
from denots import kernels
from denots.datasets import load
from denots.runs.run import read_problem
from denots.systems import Shape, trained
from denots.systems.trained import examples
from denots.training.config import TrainConfig
from denots.training.examples import Examples
from denots.training.fit import fit
from denots.training.model import Model

TIMED = ("problem", "solve", "pull_back")
GOAL = 0.25  # largest share of the time outside the kernels
SHOWN = 12


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="An epoch of training, and where its time goes.")
    parser.add_argument("--quick", action="store_true", help="32 batches of a small set, nothing stored")
    options = parser.parse_args(arguments)
    size, batches = ((1024, 128, 2), 32) if options.quick else (None, 256)
    torch.set_num_threads(2)
    problem = read_problem(load("pendulum", size=size))
    model, train, val = prepare(problem)
    wait_for_quiet(0.0 if options.quick else 120.0)
    with watched() as others:
        found = timed(model, train, val, batches, repeats=1 if options.quick else 3)
    found["others_share_of_cpu"] = others.share
    found["profile"] = profile(model, train, val, batches)
    found.update(machine=machine.describe(), load_average_after=machine.load_average(), train_series=len(train))
    show(found)
    if not options.quick:
        console.print(f"stored in {results.store('epoch', found)}")


def prepare(problem: Any) -> tuple[Model, Examples, Examples]:
    """The model and its inputs, as every training run has them."""
    model = trained("denots", "", depth=10.0).build(problem.task, Shape.of(problem.train.series), seed=0)
    model.backbone.calibrate(problem.train.series)
    return model, examples(model, problem.train), examples(model, problem.val)


def train_once(model: Model, train: Examples, val: Examples, batches: int) -> float:
    """Seconds of one epoch, validation included, as the training journal has them."""
    start = {name: value.clone() for name, value in model.state_dict().items()}
    history = fit(model, train, val, TrainConfig(max_epochs=1, batches_per_epoch=batches))
    model.load_state_dict(start)
    return history.seconds


def timed(model: Model, train: Examples, val: Examples, batches: int, repeats: int) -> dict[str, Any]:
    """The best of several epochs: all of it, and what of it was spent in the kernels."""
    train_once(model, train, val, batches=4)
    runs = []
    for _ in range(repeats):
        with kernel_timers() as seconds:
            total = train_once(model, train, val, batches)
        runs.append({"seconds": total, "kernels": dict(seconds)})
    best = min(runs, key=lambda run: run["seconds"])
    inside = sum(best["kernels"].values())
    return {
        **best,
        "batches": batches,
        "batch_size": TrainConfig().batch_size,
        "kernel_seconds": inside,
        "share_outside": 1 - inside / best["seconds"],
        "all_seconds": [run["seconds"] for run in runs],
    }


@contextmanager
def kernel_timers() -> Iterator[dict[str, float]]:
    """Seconds in each function of the native extension's Python face."""
    seconds = dict.fromkeys(TIMED, 0.0)
    plain = {name: getattr(kernels, name) for name in TIMED}

    def timer(name: str, call: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(call)
        def measured(*args: Any, **options: Any) -> Any:
            started = time.perf_counter()
            try:
                return call(*args, **options)
            finally:
                seconds[name] += time.perf_counter() - started

        return measured

    for name, call in plain.items():
        setattr(kernels, name, timer(name, call))
    try:
        yield seconds
    finally:
        for name, call in plain.items():
            setattr(kernels, name, call)


def profile(model: Model, train: Examples, val: Examples, batches: int) -> list[dict[str, Any]]:
    """Functions by their own time, largest first; the profiler itself slows small functions down."""
    profiler = cProfile.Profile()
    with torch.autograd.set_multithreading_enabled(False):  # else the backward pass hides in another thread
        profiler.enable()
        train_once(model, train, val, batches)
        profiler.disable()
    rows = []
    for (file, line, function), (_, calls, own, _, _) in pstats.Stats(profiler).stats.items():  # type: ignore[attr-defined]
        where = function if file == "~" else f"{short(file)}:{line} {function}"
        rows.append({"where": where, "calls": calls, "seconds": own})
    whole = float(np.sum([row["seconds"] for row in rows]))
    rows.sort(key=lambda row: -row["seconds"])
    return [{**row, "share": row["seconds"] / whole} for row in rows[:SHOWN]]


def short(file: str) -> str:
    """The path from the package on."""
    parts = Path(file).parts
    for root in ("site-packages", "src"):
        if root in parts:
            return "/".join(parts[parts.index(root) + 1 :])
    return "/".join(parts[-2:])


def show(found: dict[str, Any]) -> None:
    verdict = "met" if found["share_outside"] <= GOAL else "missed"
    console.print(
        f"epoch of {found['batches']} batches of {found['batch_size']}: {found['seconds']:.2f} s, "
        f"kernels {found['kernel_seconds']:.2f} s, outside {found['share_outside']:.1%} (goal {GOAL:.0%}: {verdict}); "
        f"others used {found['others_share_of_cpu']:.0%} of the processor"
    )
    for row in found["profile"]:
        console.print(
            f"  {row['share']:6.1%} {row['seconds']:8.3f} s {row['calls']:>9} calls  {row['where']}", highlight=False
        )


if __name__ == "__main__":
    main()
