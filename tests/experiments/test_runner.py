"""Every run once: through budgets, kills and two processes at work."""

import gc
import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from denots.errors import WorkerLost
from denots.experiments import EXPERIMENTS, Request
from denots.experiments.results import Findings, Results
from denots.experiments.runner import Job, make_runs, plan
from denots.runs.record import read_lines
from denots.runs.run import Trial
from denots.runs.spec import RunSpec
from denots.training.examples import Examples
from denots.training.fit import completed_epochs
from denots.training.model import Model

from run_records import record, spec

SMOKE = Request("smoke")
COMMAND = [sys.executable, "-c", "from denots.cli import main; main()", "reproduce", "memory", "--profile", "smoke"]


def started(results: Path, *options: str) -> subprocess.Popen:
    env = {**os.environ, "OMP_NUM_THREADS": "1"}
    return subprocess.Popen([*COMMAND, "--results", str(results), *options], env=env, stderr=subprocess.PIPE, text=True)


def made(results: Path) -> int:
    """Runs that are recorded with their measure."""
    return sum("memory" in record.extra for record in Results(results).records("memory"))


def trained(results: Path) -> Counter[str]:
    """How often each run was trained."""
    lines = map(json.loads, read_lines(results / "runs.jsonl"))
    return Counter(json.dumps(line["spec"], sort_keys=True) for line in lines if "metrics" in line)


def test_a_killed_reproduction_goes_on_without_repeating_a_run(tmp_path: Path) -> None:
    process = started(tmp_path, "--jobs", "1")
    until = time.time() + 120
    while made(tmp_path) < 1 and time.time() < until:
        time.sleep(0.05)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    before = made(tmp_path)
    assert 1 <= before < 3
    with (tmp_path / "runs.jsonl").open("a") as file:
        file.write('{"spec": {"half a li')  # what a kill in the middle of a write leaves
    _, told = started(tmp_path, "--jobs", "1").communicate()
    assert trained(tmp_path) == dict.fromkeys(trained(tmp_path), 1)
    assert made(tmp_path) == 3
    assert told.count("recorded") == 3 - before


@pytest.mark.slow
def test_two_processes_share_the_work(tmp_path: Path) -> None:
    processes = [started(tmp_path, "--jobs", "1") for _ in range(2)]
    told = "".join(process.communicate()[1] for process in processes)
    assert [process.returncode for process in processes] == [0, 0]
    assert trained(tmp_path) == dict.fromkeys(trained(tmp_path), 1)
    assert made(tmp_path) == told.count("recorded") == 3


def held() -> set[int]:
    """Models and data in memory; fixtures of other tests may hold some."""
    return {id(thing) for thing in gc.get_objects() if type(thing) in (Model, Examples)}


def test_the_data_of_a_run_are_let_go(tmp_path: Path) -> None:
    jobs, _ = plan([EXPERIMENTS["memory"]], EXPERIMENTS.values(), SMOKE, Results(tmp_path))
    gc.collect()
    before = held()
    gc.disable()
    try:
        make_runs(jobs[:1], Results(tmp_path))
        assert held() <= before
    finally:
        gc.enable()


def test_a_run_of_two_experiments_is_made_once_with_the_measures_of_both(tmp_path: Path) -> None:
    chosen = [EXPERIMENTS["sine-mix"], EXPERIMENTS["memory"]]
    jobs, known = plan(chosen, EXPERIMENTS.values(), SMOKE, Results(tmp_path))
    assert known == 0
    shared = [job for job in jobs if len(job.experiments) == 2]
    assert len(shared) == 3
    assert all(set(job.measures) == {"memory"} for job in shared)
    jobs, _ = plan([EXPERIMENTS["trajectories"]], EXPERIMENTS.values(), SMOKE, Results(tmp_path))
    assert any({"norms", "weights"} <= set(job.measures) for job in jobs)


def test_what_another_experiment_recorded_is_taken_over(tmp_path: Path) -> None:
    results = Results(tmp_path)
    for run in EXPERIMENTS["sine-mix"].plan(SMOKE).runs:
        results.runs.add(record(run, 0.5, memory=None, saturation=None), ["memory"])
    jobs, known = plan([EXPERIMENTS["sine-mix"]], EXPERIMENTS.values(), SMOKE, results)
    assert known == 0
    outcome = make_runs(jobs, results)
    assert outcome.fates["known"] == len(jobs) == len(results.records("sine-mix"))
    assert plan([EXPERIMENTS["sine-mix"]], EXPERIMENTS.values(), SMOKE, results) == ([], len(jobs))


def test_a_record_without_a_measure_does_not_count_where_it_is_needed(tmp_path: Path) -> None:
    results = Results(tmp_path)
    runs = EXPERIMENTS["memory"].plan(SMOKE).runs
    for run in runs:
        results.runs.add(record(run, 0.5), ["memory"])
    jobs, known = plan([EXPERIMENTS["memory"]], EXPERIMENTS.values(), SMOKE, results)
    assert (len(jobs), known) == (len(runs), 0)


def test_after_the_deadline_nothing_starts_and_the_rest_is_named(tmp_path: Path) -> None:
    jobs, _ = plan([EXPERIMENTS["memory"]], EXPERIMENTS.values(), SMOKE, Results(tmp_path))
    outcome = make_runs(jobs, Results(tmp_path), deadline=time.time() - 1)
    assert outcome.left == jobs
    assert not any(outcome.fates.values())
    assert jobs[0].label == "sine-mix-jump sync raw depth 10 tolerance 0.001 seed 0"


def test_a_run_over_its_budget_stops_after_an_epoch_and_goes_on_next_time(tmp_path: Path) -> None:
    short = spec("sine-mix", "last-value", profile="smoke")
    long = replace(short, train=replace(short.train, max_epochs=100_000, patience=100_000))
    results, work = Results(tmp_path), tmp_path / ".unfinished" / long.fingerprint
    reached = [0]
    for _ in range(2):
        outcome = make_runs([Job(("sine-mix",), long)], results, deadline=time.time() + 1)
        assert outcome.fates["unfinished"] == len(outcome.left) == 1
        reached.append(completed_epochs(work))
    assert 0 < reached[1] < reached[2]
    assert results.records("sine-mix") == []


def test_a_lost_worker_is_told(tmp_path: Path) -> None:
    jobs = [
        Job(("sine-mix",), spec("sine-mix", "last-value", seed, profile="smoke"), {"end": end_process})
        for seed in (0, 1)
    ]
    with pytest.raises(WorkerLost, match="fewer --jobs"):
        make_runs(jobs, Results(tmp_path), processes=2)


def end_process(model: Model, problem: Trial) -> None:
    os._exit(9)


def test_a_study_is_made_once(tmp_path: Path) -> None:
    results, study = Results(tmp_path), EXPERIMENTS["gaps"]
    for fate in ("recorded", None):
        jobs, known = plan([study], EXPERIMENTS.values(), SMOKE, results)
        outcome = make_runs(jobs, results)
        assert (known, outcome.fates["recorded"]) == ((0, 1) if fate else (1, 0))
    assert isinstance(results.findings("gaps")[0], Findings)


def test_a_failed_run_is_told_and_does_not_stop_the_others(tmp_path: Path) -> None:
    good = spec("sine-mix", "last-value", profile="smoke")
    bad = replace(good, dataset=replace(good.dataset, size=4))
    outcome = make_runs([Job(("sine-mix",), bad), Job(("sine-mix",), good)], Results(tmp_path))
    assert outcome.fates["failed"] == outcome.fates["recorded"] == 1
    assert "too small to judge by regression" in outcome.failures[0]


def test_a_measure_that_fails_costs_no_training(tmp_path: Path) -> None:
    results, short = Results(tmp_path), spec("sine-mix", "last-value", profile="smoke")
    outcome = make_runs([job(short, {"size": broken})], results)
    assert outcome.fates["failed"] == 1
    assert "sine-mix last-value raw seed 0 (sine-mix): ValueError: no such thing" in outcome.failures[0]
    (entry,) = results.runs.entries()
    assert (entry.record.spec, entry.record.extra, entry.record.origin.profile) == (short, {}, "smoke")
    assert make_runs([job(short, {"size": size})], results).fates["recorded"] == 1
    (entry,) = results.runs.entries()
    assert entry.record.extra == {"size": 3}
    assert list(trained(tmp_path).values()) == [1]
    assert not list((tmp_path / ".unfinished").glob("*/*"))


def job(of: RunSpec, measures: dict) -> Job:
    return Job(("sine-mix",), of, measures, "smoke")


def broken(model: Model, problem: Trial) -> None:
    raise ValueError("no such thing")


def size(model: Model, problem: Trial) -> int:
    return len(problem.test.series)


@pytest.mark.slow
def test_everything_runs_in_smoke_and_then_nothing_is_left(tmp_path: Path) -> None:
    results = Results(tmp_path)
    jobs, _ = plan(list(EXPERIMENTS.values()), EXPERIMENTS.values(), SMOKE, results)
    outcome = make_runs(jobs, results, processes=2)
    assert outcome.failures == []
    assert outcome.fates["recorded"] == len(jobs)
    left, known = plan(list(EXPERIMENTS.values()), EXPERIMENTS.values(), SMOKE, results)
    assert left == []
    assert known >= len(jobs)
    for experiment in EXPERIMENTS.values():
        experiment.exhibits(results.records(experiment.name))
