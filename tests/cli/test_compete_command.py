"""`denots compete` and `denots order` from the command line."""

import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from cli.conftest import Run
from denots.errors import SkippedSeries

from published_files import gestures, write_ts


@pytest.fixture
def waves(run: Run, tmp_path: Path) -> Path:
    for name in ("One", "Two"):
        data = gestures(train=24, test=12, steps=12, channels=1)
        for values, labels in data.values():
            values += 3 * labels.astype(np.float32)[:, None, None]
        write_ts(tmp_path, name, data)
    assert "uea-One in " in run("data", "import", "uea", tmp_path).stdout
    assert "uea-Two" in run("data", "list").stdout
    return tmp_path


def test_systems_compete_and_a_page_is_written(run: Run, waves: Path) -> None:
    records, page = waves / "r.jsonl", waves / "docs" / "competition.md"
    options = ["--sets", "uea", "--systems", "trees,constant", "--gaps", "0.5", "--draws", "1", "--records", records]
    shown = run("compete", *options).stdout
    assert "50% of the time steps dropped" in shown
    assert "trees against constant: 2 / 0 / 0" in shown
    assert len(records.read_text().splitlines()) == 2 * 2
    shown = run("compete", "--show", "--records", records, "--page", page).stdout
    assert f"wrote {page}" in shown
    text = page.read_text()
    assert "| mean rank | 1.00 | 2.00 |" in text
    assert "figures/competition-gap-50.svg" in text
    assert (waves / "docs" / "figures" / "competition-gap-50.svg").read_text().startswith("<svg")


def test_what_cannot_be_played_is_told(run: Run, tmp_path: Path) -> None:
    records = ["--records", tmp_path / "r.jsonl"]
    assert "denots data import uea" in run("compete", "--sets", "uea", *records, code=2).stderr
    assert (
        "Did you mean 'trees'" in run("compete", "--sets", "pendulum", "--systems", "treees", *records, code=2).stderr
    )
    assert "numbers with commas" in run("compete", "--gaps", "half", *records, code=2).stderr
    assert "no match to show" in run("compete", "--show", *records, code=2).stderr
    listed = {line.split()[0] for line in run("compete", "--list").stdout.splitlines() if line.split()}
    assert {"minirocket", "fast", "denots"} < listed
    assert not {"running-trees", "cut-denots", "forecast"} & listed


@pytest.mark.slow
def test_the_order_of_a_table_is_examined(run: Run, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    rows = []
    for k in range(60):
        values = np.sort(rng.normal(size=15))[:: 1 if k % 2 else -1]
        rows += [{"id": k, "time": float(t), "x": x, "up": k % 2} for t, x in enumerate(values)]
    pd.DataFrame(rows).to_csv(tmp_path / "t.csv", index=False)
    shown = run("order", tmp_path / "t.csv", "--target", "up", "--folds", "3", "--set", "rounds=20").stdout
    assert "rows shuffled" in shown
    assert "The order of the rows matters" in shown
    assert "name the column to learn" in run("order", tmp_path / "t.csv", code=2).stderr


def test_order_cleans_a_table_as_fit_does(tmp_path: Path, run: Run) -> None:
    rng = np.random.default_rng(0)
    rows = pd.DataFrame({"id": np.repeat(np.arange(30), 5), "time": np.tile(np.arange(5.0), 30)})
    rows = rows.assign(x=rng.normal(size=150).round(3), up=np.where(rows["id"] % 2, "yes", "no"))
    rows.to_csv(tmp_path / "clean.csv", index=False)
    empty = pd.DataFrame({"id": [99], "time": [0.0], "x": ["gone"], "up": ["no"]})
    backwards = rows.sort_values(["id", "time"], ascending=[True, False])
    pd.concat([backwards, rows[:1], empty]).to_csv(tmp_path / "messy.csv", index=False)
    fast = ["--target", "up", "--folds", "2", "--system", "summary"]
    cleaning = ["--sort", "--duplicates", "mean", "--skip-empty", "--na", "gone"]
    expected = run("order", tmp_path / "clean.csv", *fast).stdout
    assert "trivial answer" in expected
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SkippedSeries)
        assert run("order", tmp_path / "messy.csv", *fast, *cleaning).stdout == expected
    assert "--sort" in run("order", tmp_path / "messy.csv", *fast, "--na", "gone", code=1).stderr
