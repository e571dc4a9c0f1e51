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
    last = {answer["id"]: answer["status"] for answer in answers}
    words = told.groupby("id")["status"].last().map(lambda status: status if "holds" in status else "ok")
    assert last == words.to_dict()
    assert last["s0"] == "unusual: column 'pos' holds 'Up'; training had 'asleep', 'down', 'up', should it be 'up'?"
    assert last["s3"].startswith("unusual: column 'ward' holds 'C'")


@either
def test_a_word_is_unusual_from_its_row_on_and_is_still_known_after_a_snapshot(system: str) -> None:
    stream = fitted(system).stream(lag=9.0, expire=20.0)
    stream.push("a", 1.0, {"x": 1.0, "pos": "up"}, static={"ward": "A"})
    stream.push("a", 2.0, {"pos": "Up"})
    stream.push("b", 2.0, {"pos": "down"}, static={"ward": "Z"})
    again = fitted(system).stream()
    again.restore(stream.snapshot())
    for one in (stream, again):
        first, second = one.ask([("a", 1.0), ("a", 2.0)])
        assert first.status == "ok"
        assert second.status.startswith("unusual: column 'pos' holds 'Up'")
        assert [answer.status[:32] for answer in one.now(2.0, ["b"])] == ["unusual: column 'ward' holds 'Z'"]
        one.forget(30.0)
        one.push("a", 31.0, {"pos": "up"})
        assert one.now(31.0)[0].status == "ok"


def test_of_a_long_word_the_beginning_is_kept() -> None:
    stream = fitted("running-trees").stream()
    stream.push("a", 1.0, {"pos": "up" * 100_000})
    assert len(json.dumps(stream.snapshot().values)) < 1000
    assert stream.now(1.0)[0].status.startswith(f"unusual: column 'pos' holds '{'up' * 29}")


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
