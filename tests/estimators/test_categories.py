"""Columns of text go through an estimator as categories: unknown ones are remarked on, and they make groups."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import denots
from denots import SeriesRegressor, SeriesSet
from denots.errors import UnusualSeries


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
