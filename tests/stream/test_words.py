"""Words of rows are read as `predict` reads those of tables, with its bits."""

import json
from functools import cache

import numpy as np
import pandas as pd
import pytest

from denots import RowPredictor, SeriesSet
from denots.errors import InvalidEvent, UnknownName
from denots.stream.lines import Lines

FAST = {"running-trees": {"rounds": 12}, "running-gru": {"max_epochs": 1, "batches_per_epoch": 3, "state_size": 8}}
either = pytest.mark.parametrize("system", list(FAST))


def postures(n: int, seed: int) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    rows = n * 6
    posture = np.array(["up", "down", "asleep", None], dtype=object)[rng.integers(0, 4, rows)]
    table = {"id": np.repeat([f"s{k}" for k in range(n)], 6), "time": np.sort(rng.uniform(0, 9, (n, 6))).ravel()}
    ward = np.repeat(np.array(["A", "B", None], dtype=object)[rng.integers(0, 3, n)], 6)
    values = {"x": rng.normal(size=rows), "pos": posture, "ward": ward, "alarm": (posture == "up") * 1.0}
    return pd.DataFrame(table | values)


@cache
def fitted(system: str) -> RowPredictor:
    series = SeriesSet.from_frame(
        postures(40, 0), id="id", time="time", static="ward", values=["x", "pos"], row_target="alarm", na="none"
    )
    return RowPredictor(system, options=FAST[system], random_state=0).fit(series)


def line(row: dict) -> bytes:
    values, static = {"x": row["x"], "pos": row["pos"]}, {"ward": row["ward"]}
    return json.dumps({"id": row["id"], "time": row["time"], "values": values, "static": static}).encode()


@either
@pytest.mark.filterwarnings("ignore::denots.errors.UnusualSeries")
def test_lines_with_words_have_the_bits_of_predict(system: str) -> None:
    model, table = fitted(system), postures(10, 1)
    table.loc[[0, 7, 20], "pos"] = ["Up", "", "none"]
    table.loc[table["id"] == "s3", "ward"] = "C"
    told = model.predict_table(table.drop(columns="alarm"))
    answers = Lines(model.stream()).answered([line(row) for row in table.to_dict("records")])
    names = [name for name in told.columns if name in answers[0] and name not in ("id", "time", "status")]
    assert names
    for name in names:
        assert [answer[name] for answer in answers] == told[name].tolist()


def test_spread_columns_are_still_read() -> None:
    a, b = fitted("running-trees").stream(), fitted("running-trees").stream()
    a.push("s", 1.0, {"x": 1.0, "pos": "up"}, static={"ward": "B"})
    zeros = {"pos=asleep": 0, "pos=down": 0, "pos=up": 1}
    b.push("s", 1.0, {"x": 1.0, **zeros}, static={"ward=A": 0, "ward=B": 1})
    assert a.now(1.0) == b.now(1.0)


def test_odd_words_are_refused_and_misspelt_columns_offered() -> None:
    stream = fitted("running-trees").stream()
    with pytest.raises(
        InvalidEvent, match=r"series 's': channel 'pos' is \['up'\]; expected text, such as 'asleep', 'down', 'up'"
    ):
        stream.push("s", 1.0, {"pos": ["up"]})
    with pytest.raises(InvalidEvent, match=r"series 's': static 'ward' is True; expected text"):
        stream.push("s", 1.0, {"pos": "up"}, static={"ward": True})
    with pytest.raises(UnknownName, match=r"unknown channel of series 's': 'pso'. Did you mean 'pos'"):
        stream.push("s", 1.0, {"pso": "up"})
    with pytest.raises(InvalidEvent, match="channel 'x' is 'up'; expected a finite number"):
        stream.push("s", 1.0, {"x": "up"})
