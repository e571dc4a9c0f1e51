"""Timing, memory and the page that is made from them."""

import time
from typing import Any

import numpy as np
import pytest
from benchmarks.agreement import Disagreement
from benchmarks.measure import Times, burst
from benchmarks.memory import reset_peak, resident
from benchmarks.report import page
from benchmarks.solver import check_accuracy, derive
from benchmarks.workloads import agreement

from benchmarks import results, solver


def test_a_burst_times_the_call_and_not_the_warm_up() -> None:
    calls: list[float] = []

    def call() -> None:
        time.sleep(0.2 if not calls else 0.01)
        calls.append(0.0)

    times = Times()
    burst(call, times, budget=0.5)
    assert len(times.seconds) == len(calls) - 1
    assert 0.01 <= min(times.seconds) < 0.15


def test_the_high_water_mark_sees_memory_that_is_gone_again() -> None:
    if not reset_peak():
        pytest.skip("the high-water mark can only be reset on Linux")
    before = resident("VmRSS")
    np.ones(10_000_000).sum()
    assert 70_000 < resident("VmHWM") - before < 120_000


def test_flops_are_those_of_the_two_products() -> None:
    workload = agreement()
    assert workload.flops == 2 * sum(workload.weights[name].numel() for name in ("weight_ih", "weight_hh"))


def test_a_contender_that_is_fast_by_being_wrong_is_refused() -> None:
    rows = {
        "native-2": {"error": {"typical_state": 1e-3, "gradient": 1e-3}},
        "sloppy": {"error": {"typical_state": 1e-1, "gradient": 1e-3}},
    }
    with pytest.raises(Disagreement, match="sloppy"):
        check_accuracy(rows, tolerance=1e-3)


def test_rates_follow_from_time_and_evaluations() -> None:
    workload = agreement()
    row = {
        "threads": 2,
        "forward": {"best_ms": 2.0},
        "gradient": {"best_ms": 8.0},
        "evaluations": {"mean": 500.0, "max": 600, "total": 8000},
    }
    rival = {"forward": {"best_ms": 1.0}, "gradient": {"best_ms": 2.0}}
    derive(row, rival, workload, {"2": 100.0})
    assert row["forward"] == {"best_ms": 2.0, "ratio": 2.0}
    assert row["gradient"]["ratio"] == 4.0
    assert row["ns_per_evaluation"] == {"forward": 250.0, "gradient": 1000.0}
    assert row["fma_share"] == pytest.approx(8000 * workload.flops / 2e-3 / 100e9)


def test_the_stored_results_make_a_page_with_ratios_first() -> None:
    file = results.latest()
    text = page(results.read(file), file.name)
    assert text.index("How many times as long") < text.index("How it was measured") < text.index("### ")
    for workload in results.read(file)["solver"]["workloads"].values():
        assert f"### {workload['title']}" in text


def test_a_repeat_keeps_the_ratios_of_what_it_replaces() -> None:
    def made(at: str, ratio: float) -> dict[str, Any]:
        return {"measured": at, "contenders": {"paper": {"forward": {"ratio": 1.0}, "gradient": {"ratio": ratio}}}}

    first = solver.remember(made("10:00", 54.0), None)
    second = solver.remember(made("11:00", 68.0), first)
    again = solver.remember(made("11:00", 68.0), second)  # stored once more, beside another workload
    third = solver.remember(made("12:00", 60.0), again)
    assert [run["paper"]["gradient"] for run in third["earlier"]] == [54.0, 68.0]


def test_only_workloads_of_this_commit_count_as_stored(monkeypatch: pytest.MonkeyPatch) -> None:
    stored = {"tight": {"commit": "abc"}, "wide": {"commit": "old"}, "rough": {}}
    monkeypatch.setattr(solver.results, "read", lambda _: {"solver": {"workloads": stored}})
    monkeypatch.setattr(solver.machine, "commit", lambda: "abc")
    assert solver.missing(["tight", "wide", "rough", "pendulum-1"]) == ["wide", "rough", "pendulum-1"]
    monkeypatch.setattr(solver.machine, "commit", lambda: "abc with changes")
    assert solver.missing(["tight"]) == ["tight"]
