"""Broken series through estimators, adapters and the command line: a right answer, or one typed error."""

import csv
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from denots import SeriesRegressor
from denots.cli import app
from denots.errors import DenotsError

from strategies import PLACE, QUICK, broken_tables

COLUMNS = ["id", "t", "x", "y"]
ODD = [np.nan, np.inf, -np.inf, 1e300, 3.0]
ITEMS = st.lists(
    st.tuples(
        st.lists(st.sampled_from([0.0, 1.0, 2.0, 2.0, -1.0, np.nan, np.inf]), max_size=4),
        st.lists(st.sampled_from([1.0, 2.5, *ODD]), max_size=4),
    ),
    min_size=1,
    max_size=4,
)


def known() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    level = np.repeat(rng.normal(size=30), 4)
    rows = {"id": np.repeat(np.arange(30), 4), "t": np.tile(np.arange(4.0), 30), "x": level, "y": level + 1}
    return pd.DataFrame(rows).assign(target=level)


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("model")
    known().to_csv(folder / "known.csv", index=False)
    words = ["fit", folder / "known.csv", "--time", "t", "--target", "target", "--system", "summary", "--quiet"]
    assert CliRunner().invoke(app, [*map(str, words), "--out", str(folder / "model")]).exit_code == 0
    return folder / "model"


@pytest.fixture(scope="module")
def regressor() -> SeriesRegressor:
    series = known()
    pairs = [(own["t"].to_numpy(), own["x"].to_numpy()) for _, own in series.groupby("id")]
    return SeriesRegressor("summary").fit(pairs, series.groupby("id")["target"].first())


@QUICK
@given(rows=broken_tables())
def test_a_table_from_the_command_line_is_answered_or_refused_in_words(
    model: Path, tmp_path_factory: pytest.TempPathFactory, rows: list[Any]
) -> None:
    folder = tmp_path_factory.mktemp("broken")
    with (folder / "table.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([COLUMNS, *rows])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        done = CliRunner().invoke(app, ["predict", *map(str, (model, folder / "table.csv", "-o", folder / "out.csv"))])
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    assert "Traceback" not in done.output
    if not (folder / "out.csv").exists():
        assert done.exit_code == 1
        assert PLACE.search(" ".join(done.stderr.split())), done.stderr
        return
    told = pd.read_csv(folder / "out.csv", dtype={"id": str}, keep_default_na=False, na_values=[""])
    assert told["id"].tolist() == list(dict.fromkeys(row[0] for row in rows))
    answered = ~told["status"].str.startswith("not ")
    assert (told["prediction"].notna() == answered).all()
    assert done.exit_code == (3 if (~answered).sum() > 0.1 * len(told) else 0)


def told_by(model: Any, X: Any) -> np.ndarray | str:
    """Answers, or the words of a typed error."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return np.asarray(model.predict(X))
        except (DenotsError, ValueError, TypeError) as error:
            return str(error)


@QUICK
@given(items=ITEMS)
def test_a_list_is_answered_item_by_item_as_if_alone(regressor: SeriesRegressor, items: list[Any]) -> None:
    one_by_one = [told_by(regressor, [item]) for item in items]
    alone = [np.nan if isinstance(one, str) else one[0] for one in one_by_one]
    told = told_by(regressor, items)
    if isinstance(told, str):
        assert PLACE.search(told + " ") or "item " in told, told
        assert np.isnan(alone).all()
    else:
        np.testing.assert_allclose(told, alone, rtol=1e-9)


@pytest.fixture(scope="module")
def panels() -> list[Any]:
    """A fitted model of each adapter."""
    from denots.adapters import aeon, sktime

    learnt = known().astype({"t": int}).set_index(["id", "t"])  # sktime has no other numbers as times
    levels = learnt.groupby("id")["target"].first().to_numpy()
    return [
        aeon.SeriesRegressor("summary", random_state=0).fit(learnt["x"].to_numpy().reshape(30, 1, 4), levels),
        sktime.SeriesRegressor("summary", random_state=0).fit(learnt[["x"]], levels),
    ]


@QUICK
@given(rows=st.lists(st.lists(st.sampled_from([0.5, 1.0, 2.5, *ODD]), max_size=4), min_size=1, max_size=3))
def test_adapters_answer_as_the_estimator_does_or_refuse(panels: list[Any], rows: list[list[float]]) -> None:
    index = pd.MultiIndex.from_tuples(
        [(k, t) for k, row in enumerate(rows) for t in range(len(row))], names=["id", "t"]
    )
    panel = pd.DataFrame({"x": [x for row in rows for x in row]}, index=index if len(index) else None)
    for model, broken in zip(panels, ([np.array([row]) for row in rows], panel), strict=True):
        told = told_by(model, broken)
        if isinstance(told, str):
            assert told
        else:
            whole = [row for row in rows if row]  # a panel knows no empty series
            channel = model.model_.channels_[0]
            own = told_by(model.model_, [pd.DataFrame({channel: row}) for row in whole])
            np.testing.assert_allclose(told, own, rtol=1e-9)
