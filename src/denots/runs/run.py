"""One experiment: train a backbone on a built-in data set and record what came out."""

import json
import os
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from denots.data.hide import hide_for_forecasting
from denots.data.series import SeriesSet
from denots.datasets import Dataset, load
from denots.errors import InvalidFolder, InvalidOption, InvalidTarget
from denots.readout import TASKS, Readout
from denots.registry import lookup
from denots.runs.record import FILE, RunRecord, Status, append_record, find_record, plain, versions
from denots.runs.spec import RunSpec
from denots.training.boosted_trees import BoostedTrees
from denots.training.examples import Examples
from denots.training.fit import fit
from denots.training.model import Model, ModelSpec, Output, build_model, run_model

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


Measure = Callable[[Model, Problem], Any]


def run(
    spec: RunSpec,
    folder: Path | None = None,
    progress: bool = False,
    *,
    measures: Mapping[str, Measure] | None = None,
    deadline: float | None = None,
) -> RunRecord:
    """Train on the training split, stop early on the validation split, and judge both others.

    Args:
        folder: keeps the checkpoint, the learning curve and `record.jsonl`. The same spec in the
            same folder goes on where it was interrupted, and is not run again once it is recorded.
        measures: what else to find out about the trained model; plain values, by name, that go
            into `extra` of the record. Trees are not measured.
        deadline: see `fit`.
    """
    if folder is not None:
        earlier = find_record(folder / FILE, spec)
        if earlier is not None:
            return earlier
        _claim(folder, spec)
    chosen = spec.dataset
    problem = read_problem(load(chosen.name, seed=chosen.seed, size=chosen.size, protocol=spec.protocol))
    if spec.backbone.name == "boosted-trees":
        record = _grow_trees(spec, problem)
    else:
        record = _train_model(spec, problem, folder, progress, measures or {}, deadline)
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


def _train_model(
    spec: RunSpec,
    problem: Problem,
    folder: Path | None,
    progress: bool,
    measures: Mapping[str, Measure],
    deadline: float | None,
) -> RunRecord:
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
    val, test = problem.val.examples(model), problem.test.examples(model)
    train = problem.train.examples(model)
    history = fit(model, train, val, spec.train, folder=folder, progress=progress, deadline=deadline)
    on_val = run_model(model, val.inputs, val.at)
    started = time.perf_counter()
    on_test = run_model(model, test.inputs, test.at)
    return _record(
        spec,
        model.readout,
        {"val": (on_val, val.target), "test": (on_test, test.target)},
        curve=history.rows,
        parameters=model.parameter_count,
        seconds=history.seconds,
        test_seconds=time.perf_counter() - started,
        extra={name: measure(model, problem) for name, measure in measures.items()},
    )


def _grow_trees(spec: RunSpec, problem: Problem) -> RunRecord:
    """Trees are grown at once: there is nothing to resume, and no epoch to show."""
    started = time.perf_counter()
    readout = lookup(TASKS, problem.task, "task")(1, problem.outputs)
    readout.calibrate(problem.train.target)
    config = BoostedTrees.Config(**spec.backbone.options)
    trees = BoostedTrees(config, readout, problem.task, spec.seed).fit(*problem.train)
    grown = time.perf_counter()
    answers = {}
    for split, part in (("val", problem.val), ("test", problem.test)):
        outputs = trees.outputs(part.series, part.at)
        answers[split] = (Output(outputs, torch.ones(len(outputs), dtype=torch.bool), None), part.target)
    return _record(
        spec,
        readout,
        answers,
        curve=[],
        parameters=trees.leaves,
        seconds=grown - started,
        test_seconds=time.perf_counter() - grown,
    )


def _record(
    spec: RunSpec,
    readout: Readout,
    answers: dict[str, tuple[Output, Tensor]],
    *,
    curve: list[dict[str, float]],
    parameters: int,
    seconds: float,
    test_seconds: float,
    extra: dict[str, Any] | None = None,
) -> RunRecord:
    test = answers["test"][0]
    failed, counts = int((~test.ok).sum()), test.evaluations
    status: Status = "ok" if not failed else "all-failed" if failed == len(test.ok) else "some-failed"
    return RunRecord(
        spec=spec,
        status=status,
        metrics=plain({split: _metrics(readout, *answer) for split, answer in answers.items()}),
        curve=plain(curve),
        parameters=parameters,
        evaluations=None if counts is None else {"mean": float(counts.double().mean()), "max": float(counts.max())},
        failed=failed,
        seconds=seconds,
        test_seconds=test_seconds,
        versions=versions(),
        extra=plain(extra or {}),
    )


def _metrics(readout: Readout, output: Output, target: Tensor) -> dict[str, float]:
    """The metric over the split, failed series included, and the loss over the others."""
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
