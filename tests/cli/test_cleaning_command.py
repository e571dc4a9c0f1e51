"""Tables as they are: cleaned at `fit`, read in the same way by `predict` and `evaluate`, from and to streams."""

import io
import json
from pathlib import Path

import pandas as pd
import pytest
from typer.testing import CliRunner

import denots
from cli.conftest import NEW, VISITS, Run, frame
from denots.cli import app

ROLES = ["--id", "patient", "--time", "when", "--time-unit", "h", "--target", "outcome"]
TREES = ["--system", "trees", "--set", "rounds=5", "--quiet"]
OPTIONS = [
    "--sort",
    "--duplicates",
    "mean",
    "--skip-empty",
    "--na",
    "n/a",
    "--na",
    "-999",
    "--time-format",
    "%d.%m.%Y %H:%M",
]


def messy(text: str) -> pd.DataFrame:
    """The same visits turned round, every row twice, oddly spelled, with a patient of whom nothing is known."""
    table = frame(text)
    table["when"] = pd.to_datetime(table["when"]).dt.strftime("%d.%m.%Y %H:%M")
    table["pulse"] = table["pulse"].astype(object).where(table["pulse"].notna(), "n/a")
    table["temperature"] = table["temperature"].fillna(-999)
    empty = table[:1].assign(patient="zoe", pulse="n/a", temperature=-999)
    return pd.concat([table, table, empty])[::-1]


def test_a_messy_table_gives_the_model_and_the_answers_of_a_clean_one(
    visits: Path, new: Path, run: Run, tmp_path: Path
) -> None:
    order = list(messy(VISITS)["patient"].unique())[1:]
    clean = frame(VISITS).sort_values("patient", key=lambda column: column.map(order.index), kind="stable")
    clean.to_csv(visits, index=False)
    messy(VISITS).to_csv(tmp_path / "messy.csv.xz", index=False)
    messy(NEW).to_csv(tmp_path / "messy_new.csv", index=False)
    run("fit", visits, *ROLES, *TREES, "--static", "age", "-o", tmp_path / "a")
    told = run("fit", tmp_path / "messy.csv.xz", *ROLES, *TREES, "--static", "age", *OPTIONS, "-o", tmp_path / "b")
    assert told.stderr == "warning: 1 of 9 series are left out because nothing was observed in them: 'zoe'.\n"
    a, b = (denots.load(tmp_path / name) for name in "ab")
    assert b.schema_.duplicates == "mean"
    run("predict", tmp_path / "a", new, "-o", tmp_path / "a.csv")
    run("predict", tmp_path / "b", tmp_path / "messy_new.csv", "--max-failed", "0.3", "-o", tmp_path / "b.csv")
    answers = [pd.read_csv(tmp_path / f"{name}.csv", dtype={"patient": str}).set_index("patient") for name in "ab"]
    pd.testing.assert_frame_equal(answers[1].drop("zoe").loc[answers[0].index], answers[0])
    assert "no observed value" in answers[1].loc["zoe", "status"]
    assert a.score(
        denots.SeriesSet.from_frame(clean, id="patient", time="when", time_unit="h", target="outcome", static="age")
    )
    judged = [
        json.loads(run("evaluate", tmp_path / model, table, "--json", "--max-failed", "0.2").stdout)["metrics"]
        for model, table in (("a", visits), ("b", tmp_path / "messy.csv.xz"))
    ]
    assert judged[0]["AUROC"]["model"] == judged[1]["AUROC"]["model"]


def test_every_fault_is_told_in_one_line_with_its_remedy(visits: Path, run: Run, tmp_path: Path) -> None:
    table = frame(VISITS).astype({"pulse": object})
    table.loc[[3, 4, 9], "pulse"] = "n/a"
    table.loc[[0, 1], "when"] = ["2024-03-01T20:30:00", "2024-03-01T08:00:00"]
    table.loc[[23], "when"] = table["when"][22]
    table.to_csv(visits, index=False)
    result = run("fit", visits, *ROLES, *TREES, "--channels", "pulse", "-o", tmp_path / "m", code=1)
    (line,) = result.stderr.splitlines()
    for words in (
        "error: 4 series cannot be read: ",
        "unsorted times, 1 series: series 'ann'",
        "--sort",
        "several rows at one time, 1 series: series 'hal'",
        "--duplicates mean",
        "text among the numbers of 'pulse', 3 rows in 2 series: series 'bob', line 5: 'n/a'",
        "--na",
    ):
        assert words in line


def test_text_among_static_columns_and_channels_is_learnt_and_saved(visits: Path, run: Run, tmp_path: Path) -> None:
    table = frame(VISITS).assign(ward=lambda part: part["patient"].map(lambda name: "er" if name < "d" else "icu"))
    table["event"] = ["visit", "call"] * 12
    table.to_csv(visits, index=False)
    named = ["--static", "ward", "--channels", "pulse,event"]
    run("fit", visits, *ROLES, *TREES, *named, "-o", tmp_path / "m")
    model = denots.load(tmp_path / "m")
    assert model.channels_ == ("pulse", "event=call", "event=visit")
    assert model.static_names_ == ("ward=er", "ward=icu")
    table.assign(ward="hall", event="letter").to_csv(tmp_path / "new.csv", index=False)
    run("predict", tmp_path / "m", tmp_path / "new.csv", "-o", tmp_path / "p.csv")
    assert len(pd.read_csv(tmp_path / "p.csv")) == 8


def test_a_table_comes_from_standard_input_and_answers_go_to_standard_output(
    clinic: Path, new: Path, run: Run, tmp_path: Path
) -> None:
    run("predict", clinic / "classifier", new, "-o", tmp_path / "p.csv")
    told = CliRunner().invoke(app, ["predict", str(clinic / "classifier"), "-", "-o", "-"], input=NEW)
    assert told.exit_code == 0
    assert told.stdout == (tmp_path / "p.csv").read_text()
    assert told.stderr.splitlines()[-1].startswith("done: 3 predictions in standard output")
    assert list(pd.read_csv(io.StringIO(told.stdout))["patient"]) == ["ida", "jon", "007"]


@pytest.mark.parametrize(
    ("option", "words"),
    [(["--duplicates", "means"], "Did you mean 'mean'"), (["--time-format", "%Q"], "'%Q' is no format of dates")],
)
def test_a_way_of_cleaning_that_does_not_exist_is_refused(
    visits: Path, run: Run, tmp_path: Path, option: list[str], words: str
) -> None:
    assert words in run("fit", visits, *ROLES, *option, "-o", tmp_path / "m", code=2).stderr
