"""One experiment: train a backbone on a built-in data set and record what came out."""

import json
import os
import time
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from denots.data.hide import hide_for_forecasting
from denots.data.series import SeriesSet
from denots.datasets import Dataset, load
from denots.errors import InvalidFolder, InvalidOption, InvalidTarget
from denots.training.fit import History, fit
from denots.training.loader import Examples
from denots.training.model import Model, ModelSpec, Output, build_model, run_model
from denots.training.record import FILE, RunRecord, Status, append_record, find_record, plain, versions
from denots.training.spec import RunSpec

SPEC = "spec.json"


class Part(NamedTuple):
    """A split as the task wants it: what is seen, what to learn, and when it is asked for."""

    series: SeriesSet
    target: Tensor
    at: Tensor | None = None

    def examples(self, model: Model) -> Examples:
        return Examples(model.backbone.prepare(self.series), self.target, self.at)


class Problem(NamedTuple):
    """A data set, ready for any backbone."""

    task: str
    outputs: int
    train: Part
    val: Part
    test: Part


def run(spec: RunSpec, folder: Path | None = None, progress: bool = False) -> RunRecord:
    """Train on the training split, stop early on the validation split, and judge both others.

    Args:
        folder: keeps the checkpoint, the learning curve and `record.jsonl`. The same spec in the
            same folder goes on where it was interrupted, and is not run again once it is recorded.
    """
    if folder is not None:
        earlier = find_record(folder / FILE, spec)
        if earlier is not None:
            return earlier
        _claim(folder, spec)
    problem = read_problem(load(spec.dataset.name, seed=spec.dataset.seed, size=spec.dataset.size))
    model = build_model(
        ModelSpec(
            backbone=spec.backbone.name,
            options=spec.backbone.options,
            task=problem.task,
            channels=len(problem.train.series.channels),
            static_size=len(problem.train.series.static_names),
            outputs=problem.outputs,
        ),
        spec.seed,
    )
    model.backbone.calibrate(problem.train.series)
    model.readout.calibrate(problem.train.target)
    val = problem.val.examples(model)
    history = fit(model, problem.train.examples(model), val, spec.train, folder=folder, progress=progress)
    record = _judge(spec, model, history, val, problem.test.examples(model))
    if folder is not None:
        append_record(record, folder / FILE)
    return record


def read_problem(dataset: Dataset) -> Problem:
    """Encode the targets of a data set, or hide what a forecaster has to tell."""
    splits = dataset.splits
    sets = (splits.train, splits.val, splits.test)
    if dataset.task == "forecast":
        exercises = [hide_for_forecasting(series) for series in sets]
        parts = [Part(h.visible, torch.from_numpy(h.target), torch.from_numpy(h.at)) for h in exercises]
        return Problem(dataset.task, len(splits.train.channels), *parts)
    targets = [series.target for series in sets]
    if any(target is None for target in targets):
        raise InvalidTarget(f"data set {dataset.name!r} has the task {dataset.task} but no target.")
    known = [np.asarray(target) for target in targets]
    if dataset.task == "regression":
        if min(map(len, sets)) < 2:
            sizes = " / ".join(str(len(series)) for series in sets)
            raise InvalidOption(f"splits of {sizes} series are too small for R2, which needs two; give a larger size.")
        numbers = [torch.from_numpy(target.astype(np.float64).reshape(len(target), -1)) for target in known]
        return Problem(dataset.task, numbers[0].shape[1], *(Part(s, t) for s, t in zip(sets, numbers, strict=True)))
    classes = np.unique(np.concatenate(known))
    codes = [torch.from_numpy(np.searchsorted(classes, target)) for target in known]
    outputs = 1 if dataset.task == "binary" else len(classes)
    return Problem(dataset.task, outputs, *(Part(s, t) for s, t in zip(sets, codes, strict=True)))


def _judge(spec: RunSpec, model: Model, history: History, val: Examples, test: Examples) -> RunRecord:
    on_val = run_model(model, val.inputs, val.at)
    started = time.perf_counter()
    on_test = run_model(model, test.inputs, test.at)
    test_seconds = time.perf_counter() - started
    failed = int((~on_test.ok).sum())
    status: Status = "ok" if not failed else "all-failed" if failed == len(test) else "some-failed"
    counts = on_test.evaluations
    return RunRecord(
        spec=spec,
        status=status,
        metrics=plain({"val": _metrics(model, on_val, val.target), "test": _metrics(model, on_test, test.target)}),
        curve=plain(history.rows),
        parameters=model.parameter_count,
        evaluations=None if counts is None else {"mean": float(counts.double().mean()), "max": float(counts.max())},
        failed=failed,
        seconds=history.seconds,
        test_seconds=test_seconds,
        versions=versions(),
    )


def _metrics(model: Model, output: Output, target: Tensor) -> dict[str, float]:
    """The metric over the split, failed series included, and the loss over the others."""
    readout = model.readout
    loss = readout.loss(output.outputs[output.ok], target[output.ok]) if output.ok.any() else torch.tensor(torch.nan)
    return {readout.metric_name: float(readout.metric(output.outputs, target)), "loss": float(loss)}


def _claim(folder: Path, spec: RunSpec) -> None:
    """Tie a folder to a spec; only the largest number of epochs may change, to go on for longer."""
    folder.mkdir(parents=True, exist_ok=True)
    claim = json.dumps(replace(spec, train=replace(spec.train, max_epochs=1)).as_dict(), indent=1)
    file = folder / SPEC
    if file.exists() and file.read_text(encoding="utf-8") != claim:
        raise InvalidFolder(f"{folder} holds a run with other settings (see {SPEC}); choose another folder.")
    fresh = folder / f"{SPEC}.new"
    fresh.write_text(claim, encoding="utf-8")
    os.replace(fresh, file)
