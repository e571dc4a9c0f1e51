"""One experiment: train a backbone on a built-in data set and record what came out."""

import json
import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from denots.backbones import BACKBONES
from denots.datasets import Dataset, load
from denots.errors import InvalidFolder, InvalidOption, InvalidTarget
from denots.ode.used import solvers_used
from denots.runs.origin import Profile, origin_here
from denots.runs.record import FILE, RunRecord, Status, append_record, find_record, plain, versions
from denots.runs.spec import RunSpec
from denots.runs.store import has_measures
from denots.systems import SYSTEMS, Fitted, Problem, System, TrainedModel, trained
from denots.tasks import TASKS, Part, Task
from denots.tasks.scale import Units
from denots.training.model import Model, Output

SPEC = "spec.json"


@dataclass(frozen=True, slots=True, eq=False)
class Trial(Problem):
    """A data set, ready for any system: what it learns from, and what it is judged on."""

    val: Part
    test: Part


Measure = Callable[[Model, Trial], Any]


def run(
    spec: RunSpec,
    folder: Path | None = None,
    progress: bool = False,
    *,
    measures: Mapping[str, Measure] | None = None,
    deadline: float | None = None,
    profile: Profile | None = None,
    keep: Callable[[RunRecord], None] = lambda record: None,
) -> RunRecord:
    """Train on the training split, stop early on the validation split, and judge both others.

    Args:
        folder: keeps the checkpoint, the learning curve and `record.jsonl`. The same spec in the
            same folder goes on where it was interrupted, and is not run again once it is recorded.
        measures: what else to find out about the trained model; plain values, by name, that go
            into `extra` of the record. Trees are not measured.
        deadline: see `fit`.
        profile: of the experiments that it is made for, for the record.
        keep: called with the record before anything is measured, so that a measure that fails costs
            no training; called again in the same folder, only what is missing is measured.
    """
    spec.backbone.check()
    record = None if folder is None else find_record(folder / FILE, spec)
    wanted = measures or {}
    if record is not None and has_measures(record, wanted):
        keep(record)
        return record
    if folder is not None:
        _claim(folder, spec)
    chosen = spec.dataset
    dataset = load(chosen.name, seed=chosen.seed, size=chosen.size, protocol=spec.protocol)
    problem = read_problem(dataset, spec.target)
    fitted = system_of(spec).fit(problem, seed=spec.seed, folder=folder, progress=progress, deadline=deadline)
    if record is None:
        record = _judged(spec, problem, fitted, profile)
        if folder is not None:
            append_record(record, folder / FILE)
    keep(record)
    if wanted and isinstance(fitted, TrainedModel):
        found = {name: measure(fitted.model, problem) for name, measure in wanted.items() if name not in record.extra}
        record = replace(record, extra=plain({**record.extra, **found}))
        if folder is not None:
            append_record(record, folder / FILE)
    return record


def read_problem(dataset: Dataset, target: Units = "standardised") -> Trial:
    """Pose the task of a data set in each of its splits, its numbers to be learnt in these units."""
    splits = dataset.splits
    sets = (splits.train, splits.val, splits.test)
    kind = TASKS.find(dataset.task)
    if kind.needs_target and any(series.target is None for series in sets):
        raise InvalidTarget(f"data set {dataset.name!r} has the task {dataset.task} but no target.")
    if min(map(len, sets)) < kind.fewest:
        sizes = " / ".join(str(len(series)) for series in sets)
        raise InvalidOption(f"splits of {sizes} series are too small to judge by {kind.name}; give a larger size.")
    task = kind.read(*sets).in_units(target)
    train, val, test = (task.pose(series) for series in sets)
    return Trial(task.calibrated(train), train, val, test)


def system_of(spec: RunSpec) -> System:
    """The system that a run fits, with the options and the training that its spec names."""
    name, options = spec.backbone.name, spec.backbone.options
    if name in BACKBONES:
        return replace(trained(name, "", **options), train=spec.train)
    return SYSTEMS.find(name).with_options(**options)


def _judged(spec: RunSpec, problem: Trial, fitted: Fitted, profile: Profile | None) -> RunRecord:
    """The record of a fitted system, by what it answers for the two splits that it has not learnt from."""
    on_val = fitted.outputs(problem.val.series, problem.val.at)
    started = time.perf_counter()
    with solvers_used() as solvers:
        on_test = fitted.outputs(problem.test.series, problem.test.at)
    test_seconds = time.perf_counter() - started
    failed, counts = int((~on_test.ok).sum()), on_test.evaluations
    status: Status = "ok" if not failed else "all-failed" if failed == len(on_test.ok) else "some-failed"
    return RunRecord(
        spec=spec,
        status=status,
        metrics=plain(
            {
                "val": _metrics(problem.task, on_val, problem.val.target),
                "test": _metrics(problem.task, on_test, problem.test.target),
            }
        ),
        curve=plain(fitted.curve),
        parameters=fitted.parameters,
        evaluations=None if counts is None else {"mean": float(counts.double().mean()), "max": float(counts.max())},
        failed=failed,
        seconds=fitted.seconds,
        test_seconds=test_seconds,
        versions=versions(),
        origin=origin_here(solvers, profile),
    )


def _metrics(task: Task, output: Output, target: Tensor) -> dict[str, float]:
    """The metric over the split, failed series included, and the loss over the others."""
    loss = task.loss(output.outputs[output.ok], target[output.ok]) if output.ok.any() else torch.tensor(torch.nan)
    return {task.metric_name: float(task.metric(output.outputs, target)), "loss": float(loss)}


def _claim(folder: Path, spec: RunSpec) -> None:
    """Tie a folder to a spec; where no schedule depends on it, the number of epochs may change, to go on for longer."""
    folder.mkdir(parents=True, exist_ok=True)
    train = replace(spec.train, max_epochs=1) if spec.train.schedule == "constant" else spec.train
    claim = json.dumps(replace(spec, train=train).as_dict(), indent=1)
    file = folder / SPEC
    if file.exists() and file.read_text(encoding="utf-8") != claim:
        raise InvalidFolder(f"{folder} holds a run with other settings (see {SPEC}); choose another folder.")
    fresh = folder / f"{SPEC}.new"
    fresh.write_text(claim, encoding="utf-8")
    os.replace(fresh, file)
