"""The built-in data sets on the command line, and what the command says of itself."""

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import denots
from cli.conftest import Run
from denots.datasets import DATASETS, load


def test_list_names_every_data_set_in_full(run: Run) -> None:
    shown = run("data", "list").stdout
    assert [name for name in DATASETS if not re.search(rf"^ *{name} ", shown, re.MULTILINE)] == []


def test_build_says_where_the_data_are(run: Run) -> None:
    folder = Path(run("data", "build", "bump", "--size", "9", "--seed", "3").stdout.strip())
    assert (folder / "dataset.json").is_file()
    built = denots.datasets.open_dataset(folder)
    assert built.splits.test.same_as(load("bump", size=9, seed=3).splits.test)


def test_info_shows_counts_and_a_sketch(run: Run) -> None:
    shown = run("data", "info", "pendulum-small", "--size", "12", "--split", "test").stdout
    splits = load("pendulum-small", size=12).splits
    assert f"{len(splits.train)} train, {len(splits.val)} val, {len(splits.test)} test; below: test" in shown
    assert f"{len(splits.test.times)}; {splits.test.lengths.min()} to {splits.test.lengths.max()} a series" in shown
    missing = np.isnan(splits.test.values).mean(axis=0)
    assert f"x {missing[0]:.1%}, y {missing[1]:.1%}" in shown
    assert "test-0: " in shown
    assert "│" in shown
    assert "classes" in run("data", "info", "bump", "--size", "12").stdout


def test_an_exported_table_reads_back_as_the_data_set(run: Run, tmp_path: Path) -> None:
    shown = run(
        "data", "export", "pendulum-small", "--size", "12", "--split", "val", "--out", tmp_path / "t.csv"
    ).stdout
    expected = load("pendulum-small", size=12).splits.val
    table = pd.read_csv(tmp_path / "t.csv", float_precision="round_trip")
    assert f"{len(expected)} series, {len(table)} rows" in shown
    assert list(table.columns) == ["id", "time", "x", "y", "target"]
    read = denots.SeriesSet.from_frame(table, id="id", time="time", target="target")
    np.testing.assert_array_equal(read.times, expected.times)
    np.testing.assert_array_equal(read.values.astype(np.float32), expected.values)
    np.testing.assert_array_equal(read.ids, expected.ids)
    np.testing.assert_array_equal(read.target, expected.target)


def test_a_forecasting_set_is_exported_without_a_target(run: Run, tmp_path: Path) -> None:
    run("data", "export", "sine-2", "--size", "6", "--out", tmp_path / "t.parquet")
    assert list(pd.read_parquet(tmp_path / "t.parquet").columns) == ["id", "time", "value"]


@pytest.mark.parametrize(
    ("command", "nearest"),
    [
        (["build", "pendulm"], "'pendulum'"),
        (["info", "bumb"], "'bump'"),
        (["export", "sine-mx", "--out", "t.csv"], "'sine-mix'"),
        (["info", "bump", "--size", "9", "--split", "tests"], "'test'"),
    ],
)
def test_unknown_names_bring_the_nearest(run: Run, command: list[str], nearest: str) -> None:
    result = run("data", *command, code=2)
    assert result.stderr.startswith("error: unknown ")
    assert nearest in result.stderr


def test_a_size_too_small_is_refused(run: Run) -> None:
    assert "at least 3 series" in run("data", "build", "bump", "--size", "2", code=2).stderr


def test_info_tells_versions_extension_and_home(run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    import torch

    monkeypatch.setenv("DENOTS_HOME", str(tmp_path))
    shown = run("info").stdout
    for words in (denots.__version__, f"torch {torch.__version__}", "AntiFeedbackGRU", "DENOTS_TARGET", str(tmp_path)):
        assert words in shown


def test_version(run: Run) -> None:
    assert run("--version").stdout == f"denots {denots.__version__}\n"


@pytest.mark.parametrize(
    "command",
    ["fit", "predict", "evaluate", "train", "info", "data list", "data build", "data info", "data export"],
)
def test_every_help_text_holds_an_example_that_fits_the_screen(
    run: Run, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    prose = run(*command.split(), "--help").stdout.split("╭")[0]
    assert re.search(rf"^ +denots {command}\b", prose, re.MULTILINE)


def test_a_mistyped_command_is_a_usage_error(run: Run) -> None:
    assert "No such command 'fot'" in run("fot", code=2).stderr
