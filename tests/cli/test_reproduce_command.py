"""`denots reproduce` and `denots report`: what they list, make, write and refuse."""

import json
from pathlib import Path

import pytest

from denots.experiments import EXPERIMENTS


def test_the_list_names_every_experiment_and_why_some_cannot_run(run, tmp_path: Path) -> None:
    listed = run("reproduce", "--list", "--results", tmp_path).stdout
    for name in EXPERIMENTS:
        assert f" {name} " in listed
    assert "left out: " in listed
    assert "0 / 19" in listed


def test_an_experiment_is_made_once_and_written_as_tables_and_page(run, tmp_path: Path) -> None:
    results = tmp_path / "results"
    options = ["reproduce", "overfitting", "gaps", "--profile", "smoke", "--jobs", "1", "--results", results]
    first = run(*options)
    assert "0 recorded, 3 to do" in first.stdout
    assert "3 runs made" in first.stdout
    assert "depth 10" in (results / "tables" / "overfitting.md").read_text()
    assert r"\toprule" in (results / "tables" / "overfitting.tex").read_text()
    assert "3 recorded, 0 to do" in run(*options).stdout
    assert "2 / 2" in run("reproduce", "--list", "--results", results).stdout
    run(*options, "--protocol", "fair")
    assert (results / "fair" / "tables" / "overfitting.md").exists()
    run("report", "--results", results, "--out", tmp_path / "page.html", "--date", "2026-01-02")
    page = (tmp_path / "page.html").read_text()
    assert "2026-01-02" in page
    assert "on equal terms (protocol fair)" in page


def test_a_budget_that_is_over_says_what_is_left(run, tmp_path: Path) -> None:
    told = run(
        "reproduce", "overfitting", "--profile", "smoke", "--jobs", "1", "--budget", "1e-9", "--results", tmp_path
    )
    assert "2 left when the time was over; next: pendulum-small anti raw depth 1" in told.stdout


def test_wrong_names_and_options_are_refused(run, tmp_path: Path) -> None:
    assert "Did you mean 'bump'" in run("reproduce", "bumb", code=2).stderr
    assert "name an experiment or all" in run("reproduce", code=2).stderr
    assert "whole numbers" in run("reproduce", "bump", "--seeds", "a", code=2).stderr
    assert "Did you mean 'gru'" in run("reproduce", "bump", "--system", "gro", code=2).stderr
    assert "unknown data set 'pend'" in run("reproduce", "main", "--dataset", "uwgl,pend", code=2).stderr
    assert "positive number of minutes" in run("reproduce", "bump", "--budget", "-1", code=2).stderr
    assert "profile is one of" in run("reproduce", "bump", "--profile", "tiny", code=2).stderr
    assert "is no folder" in run("report", "--results", tmp_path / "nothing", code=2).stderr
    assert "YYYY-MM-DD" in run("report", "--results", tmp_path, "--date", "today", code=2).stderr


def test_records_are_verified_and_one_that_the_same_code_does_not_repeat_is_an_error(
    run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in ("denots.runs.origin", "denots.runs.verify"):
        monkeypatch.setattr(f"{module}.code_version", lambda: "abc")
    results = tmp_path / "results"
    run("reproduce", "overfitting", "--profile", "smoke", "--jobs", "1", "--results", results)
    told = run("reproduce", "--verify", "5", "--results", results).stdout
    assert "2 of 2 equal" in told
    assert told.count("equal to the last digit; same code") == 2
    file = results / "runs.jsonl"
    record, *rest = map(json.loads, file.read_text().splitlines())
    record["metrics"]["test"]["R2"] += 0.5
    file.write_text("".join(json.dumps(line) + "\n" for line in (record, *rest)))
    told = run("reproduce", "--verify", "5", "--results", results, code=1).stdout
    assert "BROKEN pendulum-small anti raw depth" in told
    assert "off by up to 0.5 (test R2: " in told
    record["origin"]["code"] = "unknown"
    file.write_text("".join(json.dumps(line) + "\n" for line in (record, *rest)))
    assert "made by code unknown" in run("reproduce", "--verify", "5", "--results", results).stdout
