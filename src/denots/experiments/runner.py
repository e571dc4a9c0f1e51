"""Make the runs of experiments: side by side, within a budget, each only once."""

import gc
import os
import shutil
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field, replace
from multiprocessing import get_context
from pathlib import Path
from typing import Any, Literal, get_args

from denots.errors import DenotsError, OutOfTime, WorkerLost
from denots.experiments.experiment import Experiment, Request, Study
from denots.experiments.results import Findings, Results
from denots.processors import start_worker
from denots.runs.origin import Profile
from denots.runs.record import RunRecord, versions
from denots.runs.run import Measure, run
from denots.runs.spec import TARGET_THEN, RunSpec

Fate = Literal["recorded", "known", "elsewhere", "unfinished", "failed"]


@dataclass(frozen=True)
class Job:
    """A run for all experiments that want it, with all their measures; or one study."""

    experiments: tuple[str, ...]
    spec: RunSpec | None = None
    measures: Mapping[str, Measure] = field(default_factory=dict)
    profile: Profile | None = None
    study: tuple[Study, dict[str, Any]] | None = None

    @property
    def label(self) -> str:
        return self.experiments[0] if self.spec is None else label_of(self.spec)


def label_of(spec: RunSpec) -> str:
    """A run in a few words."""
    options = spec.backbone.options
    name = options["field"] if spec.backbone.name == "denots" else spec.backbone.name
    numbers = [f"{key} {options[key]:g}" for key in ("depth", "tolerance") if key in options]
    special = [
        word
        for word, so in (
            ("learnt", options.get("learn_depth")),
            ("fair", spec.protocol == "fair"),
            (spec.target, spec.target != TARGET_THEN),
        )
        if so
    ]
    return " ".join([spec.dataset.name, str(name), *special, *numbers, f"seed {spec.seed}"])


@dataclass
class Outcome:
    """How the jobs of one call ended, and the words of those that failed."""

    fates: dict[Fate, int] = field(default_factory=lambda: dict.fromkeys(get_args(Fate), 0))
    failures: list[str] = field(default_factory=list)
    left: list[Job] = field(default_factory=list)


def plan(
    chosen: Sequence[Experiment], everything: Iterable[Experiment], request: Request, results: Results
) -> tuple[list[Job], int]:
    """The jobs still to do for the chosen experiments, and how many runs are recorded already.

    A run that several of all experiments want is made once, with the measures of all of them.
    """
    plans = {experiment.name: _by_name(experiment, request) for experiment in chosen}
    measures: dict[str, dict[str, Measure]] = {}
    for experiment in everything:
        if experiment.measures:
            for name in plans.get(experiment.name) or _by_name(experiment, request):
                measures.setdefault(name, {}).update(experiment.measures)
    wanted: dict[str, list[str]] = {}
    known = 0
    jobs: dict[str, Job] = {}
    for experiment in chosen:
        for name, spec in plans[experiment.name].items():
            entry = results.runs.find(spec, experiment.measures)
            if entry is not None and experiment.name in entry.experiments:
                known += 1
                continue
            wanted.setdefault(name, []).append(experiment.name)
            jobs[name] = Job(tuple(wanted[name]), spec, measures.get(name, {}), request.profile)
    found = list(jobs.values())
    for experiment in chosen:
        if isinstance(experiment, Study):
            options = experiment.options(request)
            if any(findings.options == options for findings in results.findings(experiment.name)):
                known += 1
            else:
                found.append(Job((experiment.name,), study=(experiment, options)))
    return found, known


def _by_name(experiment: Experiment, request: Request) -> dict[str, RunSpec]:
    return {spec.fingerprint: spec for spec in experiment.plan(request).runs}


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
    outcome, done = Outcome(), set[int]()
    for job, fate, words in (
        _in_turn(jobs, results, deadline) if workers == 1 else _side_by_side(jobs, results, deadline, workers)
    ):
        outcome.fates[fate] += 1
        if fate != "unfinished":
            done.add(id(job))
        if words:
            outcome.failures.append(f"{job.label} ({', '.join(job.experiments)}): {words}")
        report(job, fate)
    outcome.left = [job for job in jobs if id(job) not in done]
    return outcome


def _in_turn(jobs: Sequence[Job], results: Results, deadline: float | None) -> Iterator[tuple[Job, Fate, str]]:
    for job in jobs:
        if deadline is not None and time.time() > deadline:
            return
        yield (job, *_make(job, results.folder, deadline))


def _side_by_side(
    jobs: Sequence[Job], results: Results, deadline: float | None, workers: int
) -> Iterator[tuple[Job, Fate, str]]:
    threads = max(1, (os.cpu_count() or 1) // workers)
    waiting, running = list(reversed(jobs)), dict[Future[tuple[Fate, str]], Job]()
    with ProcessPoolExecutor(workers, get_context("spawn"), start_worker, (threads, os.getpid())) as pool:
        while waiting or running:
            while waiting and len(running) < workers and not (deadline is not None and time.time() > deadline):
                job = waiting.pop()
                running[pool.submit(_make, job, results.folder, deadline)] = job
            if not running:
                return
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                job = running.pop(future)
                try:
                    yield (job, *future.result())
                except BrokenProcessPool as error:
                    raise WorkerLost(
                        f"a process was killed at {job.label}, most likely for want of memory; start again with fewer --jobs."
                    ) from error


def _make(job: Job, folder: Path, deadline: float | None) -> tuple[Fate, str]:
    results = Results(folder)
    if job.study is not None:
        return _study(*job.study, results)
    assert job.spec is not None
    with results.claim(job.spec.fingerprint) as work:
        if work is None:
            return "elsewhere", ""
        fate: Fate = "known" if results.runs.find(job.spec, job.measures) else "recorded"
        if fate == "known":
            results.runs.extend(job.spec, experiments=job.experiments)
        else:
            try:
                _run(job, job.spec, results, work, deadline)
            except OutOfTime:
                return "unfinished", ""
            except Exception as error:  # hours of other runs must not be lost to one
                return "failed", str(error) if isinstance(error, DenotsError) else f"{type(error).__name__}: {error}"
            finally:
                gc.collect()  # a run leaves cycles behind that hold all of its data
        shutil.rmtree(work)
    return fate, ""


def _run(job: Job, spec: RunSpec, results: Results, work: Path, deadline: float | None) -> None:
    """Train, store the record at once, then store what is measured: a measure that fails costs no training."""

    def keep(record: RunRecord) -> None:
        entry = results.runs.find(spec)
        if entry is not None and replace(entry.record, extra={}) == replace(record, extra={}):
            results.runs.extend(spec, experiments=job.experiments)
        else:
            results.runs.add(replace(record, extra={}), job.experiments)

    record = run(spec, work, measures=job.measures, deadline=deadline, profile=job.profile, keep=keep)
    if record.extra:
        results.runs.extend(spec, extra=record.extra)


def _study(study: Study, options: dict[str, Any], results: Results) -> tuple[Fate, str]:
    with results.claim(study.name) as work:
        if work is None:
            return "elsewhere", ""
        if any(findings.options == options for findings in results.findings(study.name)):
            return "known", ""
        started = time.perf_counter()
        found = study.make(options)
        results.add_findings(study.name, Findings(options, found, time.perf_counter() - started, versions()))
    return "recorded", ""
