"""`denots evaluate`: intervals, groups, reliability and one row a series."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import accuracy_score

import denots
from cli.conftest import VISITS, Run, frame


def test_metrics_have_intervals_beside_the_trivial_answer(clinic: Path, visits: Path, run: Run) -> None:
    found = json.loads(run("evaluate", clinic / "classifier", visits, "--json", "--confidence", "0.8").stdout)
    assert found["confidence"] == 0.8
    for name in ("accuracy", "balanced accuracy", "Brier", "log loss", "calibration error"):
        one = found["metrics"][name]
        assert one["low"] <= one["model"] <= one["high"]
        assert one["baseline"] is not None
    assert sum(one["series"] for one in found["reliability"]) == 8
    shown = run("evaluate", clinic / "classifier", visits).stdout
    for word in ("average precision", "sensitivity at specificity 0.9", "calibration slope", "0.95", "reliability"):
        assert word in shown


def test_the_file_of_series_says_what_became_of_each(clinic: Path, run: Run, tmp_path: Path) -> None:
    bad = VISITS + "kay,2024-05-01T00:00:00,50,,,ill\n"  # nothing was observed
    (tmp_path / "t.csv").write_text(bad)
    each = tmp_path / "each.csv"
    found = run("evaluate", clinic / "classifier", tmp_path / "t.csv", "--series", each, "--json", "--max-failed", "1")
    rows = pd.read_csv(each, float_precision="round_trip")
    assert list(rows) == ["patient", "truth", "answer", "error", "status"]
    assert list(rows["patient"]) == [*frame(VISITS)["patient"].unique(), "kay"]
    told = rows[rows["answer"].notna()]
    accuracy = accuracy_score(told["truth"], told["answer"])
    assert json.loads(found.stdout)["metrics"]["accuracy"]["model"] == pytest.approx(accuracy)
    shares = denots.load(clinic / "classifier").predict_proba(frame(VISITS))
    np.testing.assert_allclose(told["error"], np.where(told["truth"] == "ill", shares[:, 1], shares[:, 0]), atol=1e-12)
    assert rows["status"].iloc[-1].startswith("not read: ")
    assert np.isnan(rows["error"].iloc[-1])


def test_a_forecast_has_one_row_a_series_too(clinic: Path, visits: Path, run: Run, tmp_path: Path) -> None:
    run("evaluate", clinic / "forecaster", visits, "--series", tmp_path / "each.parquet")
    rows = pd.read_parquet(tmp_path / "each.parquet")
    assert list(rows) == ["patient", "asked", "error", "status"]
    assert (rows["error"] > 0).all()


def test_groups_are_those_of_a_column_and_each_is_judged_alone(
    clinic: Path, visits: Path, run: Run, tmp_path: Path
) -> None:
    table = frame(VISITS).assign(ward=lambda t: np.where(t["patient"].isin(["ann", "bob", "cem"]), "east", "west"))
    table.to_csv(visits, index=False)
    found = json.loads(run("evaluate", clinic / "classifier", visits, "--by", "ward", "--json").stdout)["groups"]
    assert {name: group["series"] for name, group in found.items()} == {"east": 3, "west": 5}
    table[table["ward"] == "east"].to_csv(tmp_path / "east.csv", index=False)
    alone = json.loads(run("evaluate", clinic / "classifier", tmp_path / "east.csv", "--json").stdout)["metrics"]
    assert found["east"]["metrics"] == alone
    shown = run("evaluate", clinic / "classifier", visits, "--by", "ward").stdout
    assert "east" in shown
    by_age = json.loads(run("evaluate", clinic / "classifier", visits, "--by", "age", "--json").stdout)["groups"]
    assert by_age["missing"]["series"] == 1


@pytest.mark.parametrize(
    ("options", "words", "code"),
    [
        (["--by", "pulse"], "column 'pulse' has several values within", 1),
        (["--by", "aeg"], "age", 2),
        (["--confidence", "95"], "between 0 and 1", 2),
        (["--series", "nowhere/each.csv"], "existing folder", 1),
        (["--series", "each.txt"], "each.txt", 1),
    ],
)
def test_what_cannot_be_done_is_said_in_one_line(
    clinic: Path, visits: Path, run: Run, options: list[str], words: str, code: int
) -> None:
    told = run("evaluate", clinic / "classifier", visits, *options, code=code).stderr
    assert words in told
    assert told.startswith("error: ")


def test_the_table_that_is_read_is_not_written_over(clinic: Path, visits: Path, run: Run) -> None:
    assert "would be lost" in run("evaluate", clinic / "classifier", visits, "--series", visits, code=2).stderr
    assert visits.read_text() == VISITS


@pytest.mark.filterwarnings("ignore:.*no finite limit")  # so few visits are held out
def test_sets_and_intervals_are_columns_of_the_answers(clinic: Path, new: Path, run: Run, tmp_path: Path) -> None:
    run("predict", clinic / "classifier", new, "--coverage", "0.5", "-o", tmp_path / "p.csv")
    found = pd.read_csv(tmp_path / "p.csv")
    assert list(found) == ["patient", "prediction", "p_ill", "p_well", "set", "status"]
    assert set(found["set"]) <= {"{}", "{ill}", "{well}", "{ill, well}"}
    at = ["--at", "1,5", "-o", tmp_path / "f.csv"]
    run("predict", clinic / "forecaster", new, "--coverage", "0.5", *at)
    told = pd.read_csv(tmp_path / "f.csv")
    assert list(told)[2:-1] == [
        "pulse",
        "temperature",
        "low_pulse",
        "high_pulse",
        "low_temperature",
        "high_temperature",
    ]
    assert (told["low_pulse"] <= told["pulse"]).all()
    assert (told["pulse"] <= told["high_pulse"]).all()


def test_the_coverage_of_sets_is_judged(clinic: Path, visits: Path, run: Run) -> None:
    found = json.loads(run("evaluate", clinic / "classifier", visits, "--coverage", "0.5", "--json").stdout)["metrics"]
    sets = denots.load(clinic / "classifier").predict_set(frame(VISITS), 0.5)
    truth = frame(VISITS).groupby("patient", sort=False)["outcome"].first() == "well"
    assert found["coverage"]["model"] == pytest.approx(sets[np.arange(8), truth.astype(int)].mean())


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--coverage", "0.99"], "needs at least 99 held-out answers"),
        (["--coverage", "90"], "between 0 and 1"),
        (["--groups", "age"], "give --coverage, too"),
        (["--coverage", "0.5", "--groups", "aeg"], "age"),
    ],
)
def test_a_coverage_that_cannot_be_had_is_refused(
    clinic: Path, new: Path, run: Run, tmp_path: Path, options: list[str], words: str
) -> None:
    assert words in run("predict", clinic / "classifier", new, *options, "-o", tmp_path / "p.csv", code=2).stderr


def test_a_model_that_is_no_better_than_the_trivial_answer_is_told(run: Run, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    names = np.repeat(np.arange(60), 3)
    table = pd.DataFrame({"id": names, "time": np.tile(np.arange(3.0), 60), "x": rng.normal(size=180)})
    table["rare"] = np.where(names % 6 == 0, "yes", "no")
    table.to_csv(tmp_path / "t.csv", index=False)
    words = ["--target", "rare", "--system", "summary", "--quiet", "--balanced", "--out", tmp_path / "model"]
    run("fit", tmp_path / "t.csv", *words)
    told = " ".join(run("evaluate", tmp_path / "model", tmp_path / "t.csv").stderr.split())
    assert "by log loss, the model is no better on this table than class shares" in told
    assert "fitted with weights of classes, which move probabilities" in told
    clear = table.assign(x=table["x"] + 9 * (table["rare"] == "yes"))
    clear.to_csv(tmp_path / "clear.csv", index=False)
    run("fit", tmp_path / "clear.csv", *words, "--overwrite")
    assert "no better" not in run("evaluate", tmp_path / "model", tmp_path / "clear.csv").stderr
