"""What is missing, and what it costs."""

from dataclasses import replace
from pathlib import Path

import pytest

from denots.experiments import EXPERIMENTS, Request
from denots.experiments.costs import Costs
from denots.experiments.missing import missing
from denots.experiments.results import Findings, Results
from denots.runs.record import versions

from run_records import record, spec

SMALL = Request("paper", datasets=("pendulum-small", "pendulum"), systems=("denots", "gru"))


def test_each_missing_run_counts_once_with_the_cost_of_those_made(tmp_path: Path) -> None:
    results = Results(tmp_path)
    chosen = [EXPERIMENTS[name] for name in ("overfitting", "main", "tolerance")]
    made = spec("pendulum-small", "denots", profile="paper", depth=1.0)
    results.runs.add(record(made, 0.5, fit={}), ["overfitting"])
    odd = replace(made, train=replace(made.train, max_epochs=13))  # of no profile, for another purpose
    results.runs.add(replace(record(odd, 0.5), seconds=1e9), ["ablation"])
    found = {(each.dataset, each.system): each for each in missing(chosen, results, SMALL)}
    small, gru, deep = (found[p] for p in (("pendulum-small", "denots"), ("pendulum", "gru"), ("pendulum", "denots")))
    assert (small.runs, small.epoch, small.epochs, small.hours) == (5, 60.0, 1, pytest.approx(5 * 60 / 3600))
    assert str(small) == "pendulum-small denots: 5 runs (overfitting), 60.0 s an epoch, about 0.1 h in all"
    assert (deep.runs, deep.experiments) == (18, ("main", "tolerance"))
    assert str(gru) == "pendulum gru: 3 runs (main), cost not measured: denots reproduce costs"


def test_what_was_never_run_costs_what_was_measured(tmp_path: Path) -> None:
    results = Results(tmp_path)
    options = Costs().options(Request("paper"))
    results.add_findings("costs", Findings(options, {"pendulum": {"gru": 46.2}, "uwgl": "not here"}, 1.0, versions()))
    (gru,) = missing([EXPERIMENTS["main"]], results, Request("paper", datasets=("pendulum",), systems=("gru",)))
    assert str(gru) == "pendulum gru: 3 runs (main), 46.2 s an epoch"
    slower = spec("pendulum", "gru", seed=7, profile="paper")  # made by older code
    results.runs.add(record(slower, 0.5), ["main"])
    (gru,) = missing([EXPERIMENTS["main"]], results, Request("paper", datasets=("pendulum",), systems=("gru",)))
    assert (gru.epoch, gru.epochs) == (46.2, 1)
    longer = record(spec("pendulum", "constant", seed=7, profile="paper"), 0.5)
    longer.curve[:] = longer.curve * 5
    results.runs.add(longer, ["main"])
    both = Request("paper", datasets=("pendulum",), systems=("gru", "tempformer"))
    epochs = {each.system: each.epochs for each in missing([EXPERIMENTS["main"]], results, both)}
    assert epochs == {"gru": 1, "tempformer": 3}  # its own runs tell, else those of all
    best = Request("paper", "best", datasets=("pendulum",), systems=("gru",))
    (gru,) = missing([EXPERIMENTS["main"]], results, best)
    assert (gru.epoch, gru.epochs) == (None, None)  # its epochs are others
    results.runs.add(record(spec("pendulum", "gru", seed=7, profile="paper", protocol="best"), 0.5), ["main"])
    (gru,) = missing([EXPERIMENTS["main"]], results, best)
    assert (gru.epoch, gru.epochs) == (60.0, 1)
    (trees,) = missing([EXPERIMENTS["main"]], results, Request("paper", datasets=("pendulum",), systems=("trees",)))
    assert str(trees) == "pendulum trees: 3 runs (main), fitted at once, without epochs"


def test_the_cost_of_an_epoch_is_that_of_its_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    """A run whose batches take half a second each, the first time twice as long, with a quarter of a processor."""

    def fake(run):
        batches = run.train.batches_per_epoch
        made = record(run, 0.5)
        made.curve[:] = [{"epoch": 0, "seconds": 1.0 * batches}, {"epoch": 1, "seconds": 0.5 * batches}]
        return made

    for clock, times in (("perf_counter", [10.0, 14.0]), ("process_time", [3.0, 4.0])):
        monkeypatch.setattr(f"denots.experiments.costs.{clock}", iter(times).__next__)
    monkeypatch.setattr("denots.experiments.costs.run", fake)
    monkeypatch.setattr("denots.experiments.costs.unavailable", lambda name: "gone" if name == "uwgl" else None)
    found = Costs().make({"systems": {"pendulum": ["gru"], "uwgl": ["gru"]}})
    assert found == {"pendulum": {"gru": pytest.approx(256 * 0.5 / 4)}, "uwgl": "gone"}
