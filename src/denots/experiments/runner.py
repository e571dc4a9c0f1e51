"""Make the runs of experiments: side by side or on a cluster, within a budget, each only once."""

import gc
import os
import shutil
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from multiprocessing import get_context
from pathlib import Path
from typing import Any, Literal, NamedTuple, get_args

from denots.cluster.workers import Here, Workers
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

    @property
    def claimed(self) -> str:
        """The name under which one process at a time is at it."""
        return self.experiments[0] if self.spec is None else self.spec.fingerprint


def label_of(spec: RunSpec) -> str:
    """A run in a few words."""
    options = spec.backbone.options
    name = options["field"] if spec.backbone.name == "denots" else spec.backbone.name
    numbers = [f"{key} {options[key]:g}" for key in ("depth", "tolerance") if key in options]
    special = [
        word
        for word, so in (
            ("learnt", options.get("learn_depth")),
            (spec.protocol, spec.protocol != "paper"),
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
    processes: int = 1,
    workers: Workers | None = None,
    deadline: float | None = None,
    report: Callable[[Job, Fate], None] = lambda job, fate: None,
) -> Outcome:
    """Run the jobs in order, in so many processes or by workers elsewhere; after the deadline nothing new starts.

    A run in progress at the deadline stops at the end of its epoch and goes on next time.
    """
    outcome, done = Outcome(), set[int]()
    if workers is not None and not isinstance(workers, Here):
        made = _elsewhere(jobs, results, deadline, workers)
    elif processes == 1:
        made = _in_turn(jobs, results, deadline)
    else:
        made = _side_by_side(jobs, results, deadline, processes)
    for job, fate, words in made:
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
    jobs: Sequence[Job], results: Results, deadline: float | None, processes: int
) -> Iterator[tuple[Job, Fate, str]]:
    threads = max(1, (os.cpu_count() or 1) // processes)
    waiting, running = list(reversed(jobs)), dict[Future[tuple[Fate, str]], Job]()
    with ProcessPoolExecutor(processes, get_context("spawn"), start_worker, (threads, os.getpid())) as pool:
        while waiting or running:
            while waiting and len(running) < processes and not (deadline is not None and time.time() > deadline):
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


def _elsewhere(
    jobs: Sequence[Job], results: Results, deadline: float | None, workers: Workers
) -> Iterator[tuple[Job, Fate, str]]:
    """Runs are pieces of work of others; this process claims them and writes what they find."""
    settled: list[tuple[Job, Fate, str]] = []
    claims: dict[int, ExitStack] = {}

    def pieces() -> Iterator[_Piece]:
        for job in jobs:
            claim = ExitStack()
            work = claim.enter_context(results.claim(job.claimed))
            if work is None or _is_known(job, results, work):
                settled.append((job, "elsewhere" if work is None else "known", ""))
                claim.close()
            else:
                claims[id(job)] = claim
                yield _Piece(job, work, deadline)

    until = None if deadline is None else time.monotonic() + deadline - time.time()
    try:
        for piece, made in workers.each(_find_out, pieces(), deadline=until):
            yield (piece.job, *_write_down(piece, results, made))
            claims.pop(id(piece.job)).close()
            while settled:
                yield settled.pop()
    finally:
        for claim in claims.values():
            claim.close()
    yield from settled


def _make(job: Job, folder: Path, deadline: float | None) -> tuple[Fate, str]:
    results = Results(folder)
    with results.claim(job.claimed) as work:
        if work is None:
            return "elsewhere", ""
        if _is_known(job, results, work):
            return "known", ""
        piece = _Piece(job, work, deadline)
        return _write_down(piece, results, _find_out(piece))


def _is_known(job: Job, results: Results, work: Path) -> bool:
    """Whether somebody has found it meanwhile."""
    if job.study is not None:
        study, options = job.study
        return any(findings.options == options for findings in results.findings(study.name))
    assert job.spec is not None
    if results.runs.find(job.spec, job.measures) is None:
        return False
    results.runs.extend(job.spec, experiments=job.experiments)
    shutil.rmtree(work)
    return True


class _Piece(NamedTuple):
    """A job for whatever process takes it, with a folder for its checkpoints."""

    job: Job
    work: Path
    deadline: float | None


class _Made(NamedTuple):
    """What a process found out.

    record: the run before anything was measured on it, so that a measure that fails costs no training.
    extra: what was measured.
    findings: of a study.
    """

    fate: Fate
    words: str = ""
    record: RunRecord | None = None
    extra: dict[str, Any] | None = None
    findings: Findings | None = None


def _find_out(piece: _Piece) -> _Made:
    job = piece.job
    if job.study is not None:
        study, options = job.study
        started = time.perf_counter()
        found = study.make(options)
        return _Made("recorded", findings=Findings(options, found, time.perf_counter() - started, versions()))
    assert job.spec is not None
    kept: list[RunRecord] = []

    def ended(fate: Fate, words: str = "", extra: dict[str, Any] | None = None) -> _Made:
        return _Made(fate, words, kept[-1] if kept else None, extra)

    try:
        record = run(
            job.spec,
            piece.work,
            measures=job.measures,
            deadline=piece.deadline,
            profile=job.profile,
            keep=kept.append,
        )
        return ended("recorded", extra=record.extra)
    except OutOfTime:
        return ended("unfinished")
    except Exception as error:  # hours of other runs must not be lost to one
        words = str(error) if isinstance(error, DenotsError) else f"{type(error).__name__}: {error}"
        return ended("failed", words)
    finally:
        gc.collect()  # a run leaves cycles behind that hold all of its data


def _write_down(piece: _Piece, results: Results, made: _Made) -> tuple[Fate, str]:
    job = piece.job
    if made.findings is not None:
        results.add_findings(job.claimed, made.findings)
    if made.record is not None and job.spec is not None:
        entry = results.runs.find(job.spec)
        if entry is not None and replace(entry.record, extra={}) == replace(made.record, extra={}):
            results.runs.extend(job.spec, experiments=job.experiments)
        else:
            results.runs.add(replace(made.record, extra={}), job.experiments)
        if made.extra:
            results.runs.extend(job.spec, extra=made.extra)
        if made.fate == "recorded":
            shutil.rmtree(piece.work)
    return made.fate, made.words
