"""Labels of rows from table to answers, by commands and in Python alike."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import roc_auc_score

from cli.conftest import Run, invoked
from denots import RowPredictor, SeriesSet, load
from denots.cli.predict import read_step
from denots.errors import InvalidOption, SolverWarning

COLUMNS = ["--id", "stay", "--time", "hour", "--time-unit", "h"]


@pytest.fixture(scope="module")
def ward(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a table of stays and a model of their alarms, to be read only."""
    folder, rng, rows = tmp_path_factory.mktemp("ward"), np.random.default_rng(0), []
    for k in range(40):
        hours = np.sort(rng.choice(np.arange(30), rng.integers(3, 14), replace=False))
        pulse = 70 + rng.normal(size=len(hours)).cumsum()
        rows += [(f"s{k}", t, x, float(x > 70.5)) for t, x in zip(hours.tolist(), pulse.tolist(), strict=True)]
    frame = pd.DataFrame(rows, columns=["stay", "hour", "pulse", "alarm"])
    frame.loc[frame.index % 7 == 0, "alarm"] = np.nan
    frame.to_csv(folder / "stays.csv", index=False)
    shown = invoked(
        "fit",
        folder / "stays.csv",
        *COLUMNS,
        *("--row-target", "alarm", "--system", "running-trees", "--set", "rounds=20"),
        *("-o", folder / "model"),
    )
    assert "row-classification ('alarm' holds two different numbers)" in shown.stdout
    return folder


def read(file: Path) -> pd.DataFrame:
    return pd.read_csv(file, float_precision="round_trip")


def test_every_row_has_the_answer_that_python_gives(ward: Path, run: Run, tmp_path: Path) -> None:
    run("predict", ward / "model", ward / "stays.csv", "--every", "row", "-o", tmp_path / "out.csv")
    told, table = read(tmp_path / "out.csv"), read(ward / "stays.csv")
    assert list(told) == ["stay", "hour", "prediction", "p_0", "p_1", "status"]
    pd.testing.assert_frame_equal(told[["stay", "hour"]], table[["stay", "hour"]].astype({"hour": float}))
    series = SeriesSet.from_frame(table, id="stay", time="hour", time_unit="h", row_target="alarm")
    again = RowPredictor("running-trees", options={"rounds": 20}, random_state=0).fit(series)
    np.testing.assert_array_equal(told["p_1"], np.concatenate(again.predict_proba(table))[:, 1])
    np.testing.assert_array_equal(told["prediction"], np.concatenate(again.predict(table)))


def test_a_row_is_answered_as_if_the_table_ended_there(ward: Path, run: Run, tmp_path: Path) -> None:
    table = read(ward / "stays.csv").drop(columns="alarm")
    table[table["hour"] <= 12].to_csv(tmp_path / "half.csv", index=False)
    run("predict", ward / "model", tmp_path / "half.csv", "-o", tmp_path / "half-out.csv")
    run("predict", ward / "model", ward / "stays.csv", "-o", tmp_path / "out.csv")
    whole = read(tmp_path / "out.csv").query("hour <= 12").reset_index(drop=True)
    half = read(tmp_path / "half-out.csv")
    pd.testing.assert_frame_equal(half.drop(columns="status"), whole.drop(columns="status"))


def test_moments_are_named_as_steps_times_or_questions(ward: Path, run: Run, tmp_path: Path) -> None:
    table, model = read(ward / "stays.csv"), load(ward / "model")
    run("predict", ward / "model", ward / "stays.csv", "--every", "120min", "-o", tmp_path / "steps.csv")
    steps = read(tmp_path / "steps.csv")
    own = table.query("stay == 's3'")["hour"]
    assert steps.query("stay == 's3'")["hour"].tolist() == list(range(own.min(), own.max() + 1, 2))
    run("predict", ward / "model", ward / "stays.csv", "--at", "29.5", "-o", tmp_path / "late.csv")
    late = read(tmp_path / "late.csv")
    asked = pd.DataFrame({"stay": ["s3", "s0"], "hour": [29.5, 29.5]})
    asked.to_csv(tmp_path / "asked.csv", index=False)
    run("predict", ward / "model", ward / "stays.csv", "--at-table", tmp_path / "asked.csv", "-o", tmp_path / "few.csv")
    few = read(tmp_path / "few.csv")
    assert late.set_index("stay")["p_1"].loc[["s3", "s0"]].tolist() == few["p_1"].tolist()
    told = model.predict_proba(table, [29.5])
    np.testing.assert_array_equal(late["p_1"], [own[0, 1] for own in told])


@pytest.mark.parametrize(
    ("form", "zone"), [("%Y-%m-%dT%H:%M:%S", None), ("%Y-%m-%dT%H:%M:%S+02:00", "+02:00"), ("%d.%m.%Y %H:%M", None)]
)
def test_moments_of_a_table_with_dates_are_dates(
    ward: Path, run: Run, tmp_path: Path, form: str, zone: str | None
) -> None:
    table, file = read(ward / "stays.csv"), tmp_path / "dated.csv"
    begin = pd.Timestamp("2024-05-01") + pd.Timedelta("1h") * (table["hour"] + 0.5)
    table.assign(hour=begin.dt.strftime(form)).to_csv(file, index=False)
    more = ["--time-format", form] if form.startswith("%d") else []
    options = [*COLUMNS, *more, "--row-target", "alarm", "--system", "running-trees", "--set", "rounds=5", "-q"]
    run("fit", file, *options, "-o", tmp_path / "model")
    predict = ("predict", tmp_path / "model", file)
    run(*predict, "-o", tmp_path / "rows.csv")
    rows = read(tmp_path / "rows.csv")
    as_read = pd.to_datetime(rows["hour"], format=form if more else "ISO8601")
    expected = begin if zone is None else begin.dt.tz_localize(zone)
    assert (as_read == expected).all()
    assert zone is None or rows["hour"].str.endswith(zone).all()
    run(*predict, "--every", "90min", "-o", tmp_path / "steps.csv")
    steps = read(tmp_path / "steps.csv")
    own = pd.to_datetime(steps.query("stay == 's3'")["hour"], format=form if more else "ISO8601")
    first = expected[table["stay"] == "s3"].min()
    assert own.tolist() == [first + k * pd.Timedelta("90min") for k in range(len(own))]
    steps[["stay", "hour"]].to_csv(tmp_path / "asked.csv", index=False)
    run(*predict, "--at-table", tmp_path / "asked.csv", "-o", tmp_path / "asked-out.csv")
    pd.testing.assert_frame_equal(read(tmp_path / "asked-out.csv"), steps)


def test_a_series_that_cannot_be_read_does_not_take_the_dates_of_the_others(tmp_path: Path) -> None:
    days = pd.date_range("2024-05-01", periods=4, freq="D", tz="Europe/Berlin")
    table = pd.DataFrame({"stay": np.repeat(["a", "b", "c"], 4), "day": np.tile(days, 3), "x": np.arange(12.0)})
    table["alarm"] = np.tile([0.0, 1.0], 6)
    series = SeriesSet.from_frame(table, id="stay", time="day", time_unit="d", row_target="alarm")
    model = RowPredictor("running-trees", options={"rounds": 2}, random_state=0).fit(series)
    table.loc[5, "day"] = pd.NaT
    with pytest.warns(SolverWarning, match="'b'"):
        told = model.predict_table(table)
    assert str(told["day"].dt.tz) == "Europe/Berlin"
    assert told.query("stay == 'c'")["day"].tolist() == days.tolist()
    assert told.query("stay == 'b'")["day"].isna().all()


def test_only_the_question_asked_too_early_says_so(ward: Path, run: Run, tmp_path: Path) -> None:
    run("predict", ward / "model", ward / "stays.csv", "--at=29.5", "-o", tmp_path / "late.csv")
    run("predict", ward / "model", ward / "stays.csv", "--at=-1,29.5", "-o", tmp_path / "both.csv")
    late, both = read(tmp_path / "late.csv"), read(tmp_path / "both.csv")
    early = both["hour"] == -1
    pd.testing.assert_frame_equal(both[~early].reset_index(drop=True), late, check_dtype=False)
    assert both["status"][early].str.startswith("asked before its first observation at ").all()
    assert both["p_1"][early].isna().all()


def test_evaluate_judges_the_rows_that_are_known(ward: Path, run: Run, tmp_path: Path) -> None:
    table, model = read(ward / "stays.csv"), load(ward / "model")
    found = model.evaluate(table, confidence=None).metrics
    share = np.concatenate(model.predict_proba(table))[:, 1]
    known = table["alarm"].notna()
    assert found["AUROC"].model == pytest.approx(roc_auc_score(table["alarm"][known], share[known]))
    table.drop(columns="alarm").to_csv(tmp_path / "blind.csv", index=False)
    assert "no row target" in run("evaluate", ward / "model", tmp_path / "blind.csv", code=1).stderr


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--row-target", "alarm", "--target", "alarm"], "give --target or --row-target"),
        (["--row-target", "alarm", "--system", "trees"], "system 'trees' may look ahead"),
        (["--row-target", "alarm", "--task", "regression"], "does not learn labels of rows"),
        (["--task", "row-regression"], "name their column with --row-target"),
        (["--row-target", "larm"], "Did you mean 'alarm'"),
    ],
)
def test_what_does_not_go_together_is_refused(ward: Path, run: Run, tmp_path: Path, words: list, told: str) -> None:
    shown = run("fit", ward / "stays.csv", *COLUMNS, *words, "-q", "-o", tmp_path / "model", code=2)
    assert told in " ".join(shown.stderr.split())


def test_steps_are_counted_in_the_unit_of_the_model() -> None:
    assert [read_step("1h", "h"), read_step("90 min", "h"), read_step("0.5", "h"), read_step("2d", "min")] == [
        1.0,
        1.5,
        0.5,
        2880.0,
    ]
    for text, unit in (("-1h", "h"), ("now", "h"), ("0", "h"), ("1h", ""), ("1.2.3", "h")):
        with pytest.raises(InvalidOption, match="--every"):
            read_step(text, unit)
