"""Columns of text go through an estimator as categories: unknown ones are remarked on, and they make groups."""

from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import denots
from denots import SeriesRegressor, SeriesSet
from denots.errors import InvalidTarget, UnknownName, UnusualSeries


def in_wards(n: int, seed: int) -> pd.DataFrame:
    """Two rows a patient, whose stay is told with an error that is ten times as large in ward B."""
    rng = np.random.default_rng(seed)
    ward = np.where(rng.random(n) < 0.5, "A", "B")
    stay = rng.normal(size=n) * np.where(ward == "B", 1.0, 0.1)
    table = {"id": np.arange(n), "ward": ward, "age": rng.uniform(20, 80, n), "stay": stay}
    frame = pd.DataFrame(table).loc[np.repeat(np.arange(n), 2)].reset_index(drop=True)
    return frame.assign(t=np.tile([0.0, 1.0], n), pulse=rng.normal(80, 5, 2 * n))


@pytest.fixture(scope="module")
def model() -> SeriesRegressor:
    series = SeriesSet.from_frame(
        in_wards(400, 0), id="id", time="t", target="stay", static=["ward", "age"], values="pulse"
    )
    return SeriesRegressor("summary").fit(series)


def test_an_unknown_category_and_a_wild_static_number_are_remarked_on(model: SeriesRegressor, tmp_path: Path) -> None:
    model.save(tmp_path / "m")
    table = in_wards(20, 1)
    table.loc[[6, 7], "ward"], table.loc[[8, 9], "age"] = "a ", 5000.0
    for one in (model, denots.load(tmp_path / "m")):
        with pytest.warns(UnusualSeries, match=r"2 of 20 series .*: 3, 4\. Series 3: column 'ward' holds 'a '"):
            status = one.predict_table(table)["status"].tolist()
        assert status[3].startswith("unusual: column 'ward' holds 'a '; training had 'A', 'B'")
        assert status[4].startswith("unusual: static 'age' is 5000, in training 2")
        assert set(status[:3] + status[5:]) == {"ok"}
        with pytest.warns(UnusualSeries, match="column 'ward' holds no category that is known; training had 'A', 'B'"):
            one.predict(one.table_schema().read(table))
        with pytest.warns(UnusualSeries):
            assert one.evaluate(table, table["stay"][::2].to_numpy(), confidence=None).rows["status"].tolist() == status


def test_a_coverage_holds_in_each_category_of_a_column_of_text(model: SeriesRegressor) -> None:
    table = in_wards(2000, 2)
    first = table.drop_duplicates("id")
    low, high = model.predict_interval(table, 0.8, groups="ward").T
    again = model.predict_interval(table, 0.8, groups="ward=B").T
    np.testing.assert_array_equal((low, high), again)  # of two categories, one tells both
    held = ((low <= first["stay"]) & (first["stay"] <= high)).groupby(first["ward"]).mean()
    assert np.abs(held - 0.8).max() < 0.1
    width = pd.Series(high - low).groupby(first["ward"].to_numpy()).mean()
    assert width["B"] > 5 * width["A"]


@pytest.mark.filterwarnings("ignore::denots.errors.UnusualSeries")
def test_groups_of_text_are_missing_or_unknown_where_the_column_is(model: SeriesRegressor) -> None:
    table = in_wards(10, 3)
    table["ward"] = np.repeat(["A", "A", "B", "B", "A", "B", "A", "B", None, "C"], 2)
    with pytest.warns(UserWarning, match="no finite limit") as said:
        found = model.predict_interval(table, 0.8, groups="ward")
    assert any("2 series of group C, missing have no finite limit" in str(one.message) for one in said)
    assert np.isfinite(found[:8]).all()
    assert np.isinf(found[8:]).all()
    with pytest.warns(UserWarning, match="no finite limit") as said:
        model.predict_interval(model.table_schema().read(table), 0.8, groups="ward")
    assert any("group missing, no known category have" in str(one.message) for one in said)


def test_a_static_column_of_text_that_is_misspelt_is_offered(model: SeriesRegressor) -> None:
    with pytest.raises(UnknownName, match=r"unknown static feature to group by: 'wrad'. Did you mean 'ward'"):
        model.predict_interval(in_wards(5, 1), groups="wrad")


def test_evaluate_groups_a_set_as_it_groups_its_table(model: SeriesRegressor) -> None:
    table = in_wards(50, 4)
    known = table["stay"][::2].to_numpy()
    series = model.table_schema().read(table)
    a, b = (model.evaluate(X, known, by="ward", confidence=None).groups for X in (table, series))
    assert list(a) == list(b) == ["A", "B"]
    assert a["A"].metrics == b["A"].metrics


def test_a_table_that_has_the_target_is_judged_as_it_is(model: SeriesRegressor) -> None:
    table = in_wards(40, 3)
    series = model.schema_.read(table, target="stay")
    assert model.evaluate(table).metrics == model.evaluate(series).metrics
    for form in (table, pl.from_pandas(table), pa.Table.from_pandas(table)):
        assert model.score(form) == model.score(series)
    with pytest.raises(InvalidTarget, match="give y, or a SeriesSet"):
        model.score(table.drop(columns="stay"))
