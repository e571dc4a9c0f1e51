"""Make the runs of experiments: side by side, within a budget, each only once."""

import os
import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from dataclasses import dataclass, field
from multiprocessing import get_context
from pathlib import Path
from typing import Literal

import torch

from denots.errors import DenotsError, OutOfTime
from denots.experiments.experiment import Experiment, Request
from denots.experiments.results import Results, fingerprint
from denots.training.run import run
from denots.training.spec import RunSpec

Fate = Literal["recorded", "known", "elsewhere", "unfinished", "failed"]


@dataclass(frozen=True)
class Job:
    experiment: Experiment
    spec: RunSpec


@dataclass
class Outcome:
    """How the jobs of one call ended, and the words of those that failed."""

    fates: dict[Fate, int] = field(default_factory=lambda: dict.fromkeys(Fate.__args__, 0))  # type: ignore[attr-defined]
    failures: list[str] = field(default_factory=list)
    left: int = 0


def plan(experiments: Sequence[Experiment], request: Request, results: Results) -> tuple[list[Job], int]:
    """The jobs still to do, and how many are recorded already."""
    jobs, known = [], 0
    for experiment in experiments:
        recorded = {fingerprint(record.spec) for record in results.records(experiment.name)}
        planned = {fingerprint(spec): spec for spec in experiment.plan(request)}
        known += len(recorded & planned.keys())
        jobs += [Job(experiment, spec) for name, spec in planned.items() if name not in recorded]
    return jobs, known


def make_runs(
    jobs: Sequence[Job],
    results: Results,
    *,
    workers: int = 1,
    deadline: float | None = None,
    report: Callable[[Job, Fate], None] = lambda job, fate: None,
) -> Outcome:
    """Run the jobs in order, `workers` at a time; after the deadline nothing new starts.

    A run in progress at the deadline stops at the end of its epoch and goes on next time.
    """
    outcome = Outcome()
    for job, fate, words in (
        _in_turn(jobs, results, deadline) if workers == 1 else _abreast(jobs, results, deadline, workers)
    ):
        outcome.fates[fate] += 1
        if words:
            outcome.failures.append(
                f"{job.experiment.name}, {job.spec.dataset.name}, {job.spec.backbone.name}: {words}"
            )
        report(job, fate)
    outcome.left = len(jobs) - sum(outcome.fates.values()) + outcome.fates["unfinished"]
    return outcome


def _in_turn(jobs: Sequence[Job], results: Results, deadline: float | None) -> Iterator[tuple[Job, Fate, str]]:
    for job in jobs:
        if deadline is not None and time.time() > deadline:
            return
        yield (job, *_make(job, results.folder, deadline))


def _abreast(
    jobs: Sequence[Job], results: Results, deadline: float | None, workers: int
) -> Iterator[tuple[Job, Fate, str]]:
    threads = max(1, (os.cpu_count() or 1) // workers)
    waiting, running = list(reversed(jobs)), dict[Future[tuple[Fate, str]], Job]()
    with ProcessPoolExecutor(workers, get_context("spawn"), torch.set_num_threads, (threads,)) as pool:
        while waiting or running:
            while waiting and len(running) < workers and not (deadline is not None and time.time() > deadline):
                job = waiting.pop()
                running[pool.submit(_make, job, results.folder, deadline)] = job
            if not running:
                return
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                yield (running.pop(future), *future.result())


def _make(job: Job, folder: Path, deadline: float | None) -> tuple[Fate, str]:
    results, measures = Results(folder), job.experiment.measures
    known = results.find(job.spec, measures)
    if known is not None:
        results.add(job.experiment.name, known)
        return "known", ""
    with results.claim(job.spec) as work:
        if work is None:
            return "elsewhere", ""
        try:
            record = run(job.spec, work, measures=measures, deadline=deadline)
        except OutOfTime:
            return "unfinished", ""
        except DenotsError as error:
            return "failed", str(error)
        results.add(job.experiment.name, record)
        shutil.rmtree(work)
    return "recorded", ""
