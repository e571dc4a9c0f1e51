"""Blends, searches and reproductions whose work is dealt out find what they find here, bit for bit."""

import json
import pickle
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from cli.conftest import invoked
from cluster.conftest import QUIET, weights
from denots.cluster.workers import Here, Workers, workers_on
from denots.estimators import SeriesRegressor
from denots.experiments import EXPERIMENTS, Request
from denots.experiments.results import Results
from denots.experiments.runner import make_runs, plan
from denots.runs.record import RunRecord
from denots.systems import SYSTEMS
from denots.systems.auto import Auto
from denots.tuning import SeriesSearch, search
from wave_series import waves

pytestmark = QUIET
SHORT = {"max_epochs": 2, "batches_per_epoch": 2, "batch_size": 16, "state_size": 6, "copies": 0}


class Elsewhere(Workers):
    """Does the last piece first; what goes to and fro is packed, as for another process."""

    def each(self, work: Any, items: Any, *, deadline: float | None = None, queued: bool = True) -> Iterator[Any]:
        waiting = iter(items)
        for lot in iter(lambda: [item for _, item in zip(range(20 if queued else 2), waiting, strict=False)], []):
            for item in reversed(lot):
                yield item, pickle.loads(pickle.dumps(pickle.loads(pickle.dumps(work))(item)))

    def together(self, work: Any) -> Any:
        raise NotImplementedError


@pytest.fixture(params=["packed", pytest.param("ray", marks=pytest.mark.slow)])
def workers(request: pytest.FixtureRequest) -> Workers:
    if request.param == "packed":
        return Elsewhere()
    return workers_on(f"ray={request.getfixturevalue('nodes').address}")


def blend(seconds: float = 1000.0) -> Auto:
    """Something with a closed form, trees, and something that is trained."""
    trained = SYSTEMS["denots"].with_options(**SHORT)
    members = {"summary": SYSTEMS["summary"], "trees": SYSTEMS["trees"], "denots": trained}
    return replace(SYSTEMS["auto"], members=members).with_options(budget=seconds)  # type: ignore[type-var]


def board(estimator: SeriesRegressor) -> list[dict[str, Any]]:
    return [{name: value for name, value in row.items() if name != "seconds"} for row in estimator.leaderboard_]


def test_a_blend_whose_members_and_folds_are_dealt_out_is_that_of_a_local_run(workers: Workers, tmp_path: Path) -> None:
    series, boards = waves(60), []
    for name, system in (("here", blend()), ("there", blend().on(workers))):
        estimator = SeriesRegressor(system, random_state=0).fit(series)
        estimator.save(tmp_path / name)
        assert len(board(estimator)) == 5
        assert not any("note" in row for row in board(estimator))
        boards.append(board(estimator))
    assert boards[0] == boards[1]
    assert weights(tmp_path / "there") == weights(tmp_path / "here")


def test_a_blend_elsewhere_leaves_out_what_its_budget_cuts() -> None:
    began = time.monotonic()
    with pytest.warns(UserWarning, match="nothing that was tried"):
        estimator = SeriesRegressor(blend(1e-6).on(Elsewhere()), random_state=0).fit(waves(30))
    assert time.monotonic() - began < 60
    notes = [row["note"] for row in board(estimator) if "note" in row]
    assert notes == ["left out: it would not have fitted into the budget"] * 3


def test_trials_that_are_dealt_out_are_those_of_a_local_search(
    workers: Workers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def found(name: str) -> SeriesSearch:
        estimator = SeriesRegressor("denots", options=SHORT)
        return SeriesSearch(estimator, n_trials=4, on=name, study=tmp_path / name, random_state=0).fit(waves(24))

    here = found("local")
    monkeypatch.setattr(search, "workers_on", lambda place, tell: workers)
    there = found("there")
    # The first ten are drawn without regard to others, and none is ended early here.
    assert there.trials_.drop(columns="seconds").equals(here.trials_.drop(columns="seconds"))
    there.best_estimator_.save(tmp_path / "a")
    here.best_estimator_.save(tmp_path / "b")
    assert weights(tmp_path / "a") == weights(tmp_path / "b")
    assert found("there").trials_.equals(there.trials_)  # from the journal, which this process has written


@pytest.mark.slow
def test_one_trial_at_a_time_elsewhere_ends_those_early_that_a_local_search_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class OneAtATime(Elsewhere):
        def each(self, work: Any, items: Any, **_: Any) -> Iterator[Any]:
            for item in items:
                yield item, pickle.loads(pickle.dumps(work(item)))

    def found(name: str) -> SeriesSearch:
        estimator = SeriesRegressor("denots", options={**SHORT, "max_epochs": 5, "batches_per_epoch": 1})
        return SeriesSearch(estimator, n_trials=14, on=name, study=tmp_path / name, random_state=0).fit(waves(24))

    here = found("local")
    assert (here.trials_["state"] == "ended early").any()
    monkeypatch.setattr(search, "workers_on", lambda place, tell: OneAtATime())
    there = found("there")
    assert there.trials_.drop(columns="seconds").equals(here.trials_.drop(columns="seconds"))


def told(record: RunRecord) -> dict[str, Any]:
    """What a run found, without how long it took."""
    curve = [{name: value for name, value in row.items() if name != "seconds"} for row in record.curve]
    return {"metrics": record.metrics, "curve": curve, "extra": record.extra, "parameters": record.parameters}


def test_runs_and_studies_that_are_dealt_out_have_the_records_of_local_ones(workers: Workers, tmp_path: Path) -> None:
    chosen = [EXPERIMENTS["memory"], EXPERIMENTS["gaps"]]
    found = {}
    for name, place in (("here", Here()), ("there", workers)):
        results = Results(tmp_path / name)
        jobs, _ = plan(chosen, EXPERIMENTS.values(), Request("smoke"), results)
        outcome = make_runs(jobs, results, workers=place)
        assert outcome.failures == outcome.left == []
        assert outcome.fates["recorded"] == len(jobs) > 2
        found[name] = {record.spec.fingerprint: told(record) for record in results.records("memory")}
        assert not list((tmp_path / name / ".unfinished").glob("*/*"))
        assert json.loads((tmp_path / name / "studies" / "gaps.jsonl").read_text())["options"]
    assert found["there"] == found["here"]


@pytest.mark.slow
def test_commands_say_what_they_ask_of_a_cluster_and_what_they_cannot_deal_out(
    nodes: Any, place: Path, tmp_path: Path
) -> None:
    on, table = ["--on", f"ray={nodes.address}"], [place / "table.parquet", "--target", "target"]
    fast = ["--system", "fast", "--set", "budget=1000"]
    told = invoked("fit", *table, *fast, *on, "-o", tmp_path / "fast")
    assert "all systems as soon as the cluster has room" in told.stdout
    assert "each piece of work asks for 1" in told.stderr
    invoked("fit", *table, *fast, "-o", tmp_path / "here", "--quiet")
    assert weights(tmp_path / "fast") == weights(tmp_path / "here")
    refused = invoked("fit", *table, "--system", "trees", *on, "-o", tmp_path / "x", code=2)
    assert "'trees' learns from a table where it is read" in refused.stderr.replace("\n", " ")
    searched = [*("--system", "trees", "--trials", "2"), *on, "-o", tmp_path / "best"]
    assert "each piece of work asks for 1" in invoked("tune", *table, *searched).stderr
    made = invoked("reproduce", "gaps", "--profile", "smoke", *on, "--results", tmp_path / "results")
    assert "1 runs made" in made.stdout
    refused = invoked("reproduce", "gaps", *on, "--jobs", "2", "--results", tmp_path / "results", code=2)
    assert "--jobs is for runs here" in refused.stderr


@pytest.mark.parametrize(
    "words",
    [
        ("fit", "TABLE", "--target", "target", "--system", "fast", "-o", "OUT"),
        ("fit", "SHARDS", "--system", "denots", "-o", "OUT"),
        ("predict", "MODEL", "SHARDS", "-o", "OUT"),
        ("tune", "TABLE", "--target", "target", "--system", "trees", "-o", "OUT"),
        ("reproduce", "gaps", "--profile", "smoke", "--results", "OUT"),
        ("compete", "--sets", "pendulum", "--systems", "constant", "--records", "OUT"),
    ],
    ids=lambda words: " ".join(words[:2]),
)
def test_without_ray_a_command_says_how_to_get_it(
    words: tuple[str, ...], place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    named = {"TABLE": place / "table.parquet", "SHARDS": place / "shards", "MODEL": place / "model"}
    monkeypatch.setitem(sys.modules, "ray", None)
    refused = invoked(*({**named, "OUT": tmp_path / "out"}.get(word, word) for word in words), "--on", "ray", code=1)
    assert "pip install 'denots[ray]'" in refused.stderr
