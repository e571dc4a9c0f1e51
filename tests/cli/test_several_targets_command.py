"""`--target a --target b`, from the table to predictions and their judgement."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import r2_score

from cli.conftest import Run

FAST = ["--system", "summary", "--quiet", "--channels", "x"]


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """Series of six rows with two numbers and two classes to learn."""
    rng = np.random.default_rng(0)
    level = np.repeat(rng.uniform(1, 4, 40), 6)
    rows = pd.DataFrame({"id": np.repeat(np.arange(40), 6), "time": np.tile(np.arange(6.0), 40)})
    rows = rows.assign(x=level + rng.normal(0, 0.1, 240), height=level.round(3), weight=(1000 - 9 * level**2).round())
    rows = rows.assign(died=(level > 2).astype(int), ward=np.where(level > 3, "east", "west"))
    rows.to_csv(tmp_path / "table.csv", index=False)
    return tmp_path / "table.csv"


def test_two_targets_go_from_table_to_judgement(table: Path, run: Run, tmp_path: Path) -> None:
    named = ["--target", "height", "--target", "weight", "--channels", "x", "--system", "summary"]
    shown = run("fit", table, *named, "--out", tmp_path / "model").stdout
    assert "regression ('height' and 'weight' hold numbers)" in shown
    run("predict", tmp_path / "model", table, "--coverage", "0.8", "-o", tmp_path / "out.csv")
    told = pd.read_csv(tmp_path / "out.csv", float_precision="round_trip")
    ends = [f"{end}_prediction_{name}" for name in ("height", "weight") for end in ("low", "high")]
    assert list(told) == ["id", "prediction_height", "prediction_weight", *ends, "status"]
    judged = run(
        "evaluate", tmp_path / "model", table, "--json", "--series", tmp_path / "each.csv", "--coverage", "0.8"
    )
    found = json.loads(judged.stdout)["metrics"]
    truth = pd.read_csv(table).groupby("id").first()
    each = [r2_score(truth[name], told[f"prediction_{name}"]) for name in ("height", "weight")]
    assert [found["R2 height"]["model"], found["R2 weight"]["model"]] == pytest.approx(each)
    assert found["R2"]["model"] == pytest.approx(np.mean(each))
    held = truth["weight"].between(told["low_prediction_weight"], told["high_prediction_weight"]).mean()
    assert found["coverage weight"]["model"] == pytest.approx(held)
    rows = pd.read_csv(tmp_path / "each.csv")
    np.testing.assert_allclose(rows["truth_weight"], truth["weight"])


def test_targets_may_stand_in_a_table_of_their_own(table: Path, run: Run, tmp_path: Path) -> None:
    rows = pd.read_csv(table)
    rows.groupby("id")[["height", "weight", "ward"]].first().reset_index().to_csv(tmp_path / "y.csv", index=False)
    rows[["id", "time", "x"]].to_csv(tmp_path / "x.csv", index=False)
    named = ["--target", "height", "--target", "weight"]
    run("fit", tmp_path / "x.csv", "--targets", tmp_path / "y.csv", *named, *FAST, "--out", tmp_path / "model")
    apart = ("evaluate", tmp_path / "model", tmp_path / "x.csv", "--targets", tmp_path / "y.csv", "--json")
    whole = ("evaluate", tmp_path / "model", table, "--json")
    assert json.loads(run(*apart).stdout) == json.loads(run(*whole).stdout)
    refused = run("evaluate", tmp_path / "model", tmp_path / "x.csv", code=1)
    assert "no target column 'height'" in " ".join(refused.stderr.split())


@pytest.mark.parametrize(
    ("names", "words"),
    [
        (("height", "ward"), "target column 'ward' holds text"),
        (("height", "died"), "one of these has only two different values, as classes do; fit a model for each"),
        (("height", "height"), "named as target and as target"),
    ],
)
def test_what_cannot_be_learnt_together_is_refused(
    table: Path, run: Run, tmp_path: Path, names: tuple[str, str], words: str
) -> None:
    told = run("fit", table, "--target", names[0], "--target", names[1], *FAST, "--out", tmp_path / "model", code=1)
    assert words in " ".join(told.stderr.split())
    assert not (tmp_path / "model").exists()
