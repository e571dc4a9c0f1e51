"""How far does a prediction move when the tolerance is halved, before and after the default was chosen for that?"""

import argparse
import time
from dataclasses import replace
from typing import Any

import torch
from rich.console import Console
from torch import Tensor

from benchmarks.results import store
from denots.datasets import load
from denots.errors import NotImported
from denots.runs.run import read_problem
from denots.systems import SYSTEMS, TrainedModel
from denots.tasks import Part, Task

BEFORE = {"method": "dopri5", "tolerance": 1e-3, "predict_tolerance": None}
VISIBLE = 1e-3  # of the spread of the predictions, or of the unit interval for probabilities
SETS: dict[str, dict[str, Any]] = {
    "pendulum": {"size": (2500, 500, 2000), "epochs": 20},
    "pendulum-small": {"epochs": 20},
    "pendulum-angles": {"epochs": 10},
    "sine-2": {"size": (1000, 32, 32), "epochs": 10},
    "sine-mix": {"epochs": 10},
    "bump": {"epochs": 10},
    "uwgl": {"epochs": 20},
    "sepsis": {"size": (2000, 500, 2000), "epochs": 3, "options": {"presence": True}},
}


def answers(fitted: TrainedModel, part: Part, tolerance: float | None = None) -> tuple[Tensor, float]:
    """What the model says of each series, and the seconds it took; a tolerance replaces that of predictions."""
    backbone: Any = fitted.model.backbone
    kept = backbone.config
    if tolerance is not None:
        backbone.config = replace(kept, predict_tolerance=tolerance)
    inputs = backbone.prepare(part.series)
    started = time.process_time()
    with torch.inference_mode():
        found = [
            fitted.model(inputs.select(rows), None if part.at is None else part.at[rows]).outputs
            for rows in torch.arange(len(inputs)).split(256)
        ]
    seconds = time.process_time() - started
    backbone.config = kept
    return fitted.task.answer(torch.cat(found)), seconds


def moves(task: Task, one: Tensor, other: Tensor) -> Tensor:
    """The largest move of each series' answers, in units that a user sees."""
    scale = torch.ones(()) if task.learns == "classes" else one.flatten(0, -2).std(dim=0)
    return ((one - other).abs() / scale).flatten(1).nan_to_num(0.0).amax(dim=1)


def measure(name: str, size: Any = None, epochs: int = 10, options: dict[str, Any] | None = None) -> dict[str, Any]:
    """Train with the old and the new default, and compare the answers at the tolerance and at half of it."""
    trial = read_problem(load(name, size=size))
    found: dict[str, Any] = {}
    for label, solver in (("before", BEFORE), ("now", {})):
        system = SYSTEMS["denots"].with_options(
            **(options or {}), **solver, max_epochs=epochs, patience=epochs, learning_rate=3e-3, batch_size=64
        )
        started = time.process_time()
        fitted = system.fit(trial, seed=0)
        trained = time.process_time() - started
        assert isinstance(fitted, TrainedModel)
        config: Any = fitted.model.backbone.config
        tolerance = config.solving(coarse=False)["rtol"]
        moved, seconds, n = [], 0.0, 0
        for part in (trial.train, trial.val, trial.test):
            given, spent = answers(fitted, part)
            moved.append(moves(trial.task, given, answers(fitted, part, tolerance / 2)[0]))
            seconds, n = seconds + spent, n + len(part)
        every = torch.cat(moved)
        found[label] = {
            "series": n,
            "moved": float((every > VISIBLE).double().mean()),
            "largest": float(every.max()),
            "seconds_per_1000": 1000 * seconds / n,
            "training_seconds": trained,
            "metric": float(
                trial.task.metric(fitted.outputs(trial.test.series, trial.test.at).outputs, trial.test.target)
            ),
        }
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sets", nargs="*", default=list(SETS), help=f"any of {', '.join(SETS)}")
    torch.set_num_threads(1)
    console = Console(highlight=False, soft_wrap=True)
    found = {}
    for name in parser.parse_args().sets:
        try:
            found[name] = measure(name, **SETS[name])
        except NotImported as error:
            console.print(f"{name} is left out: {error}")
            continue
        for label, row in found[name].items():
            console.print(
                f"{name:16} {label:7} {row['moved']:8.3%} moved, at most {row['largest']:.1e}, {row['seconds_per_1000']:.2f} s"
                f" per 1000 series, training {row['training_seconds']:.1f} s, metric {row['metric']:.3f}"
            )
    console.print(store("halving", found))


if __name__ == "__main__":
    main()
