"""A stream gives the answers of `predict` on the same rows, to the last bit, in whatever order rows come within the lag."""

import math
from pathlib import Path

import numpy as np
import pytest

from denots import RowPredictor, SeriesSet
from denots.errors import InvalidEvent, InvalidFile, InvalidOption, UnknownName
from denots.stream import Stream
from denots.stream.snapshot import Snapshot

FAST = {
    "running-trees": {"rounds": 12},
    "running-gru": {"max_epochs": 1, "batches_per_epoch": 3, "state_size": 8},
    "cut-denots": {"max_epochs": 1, "batches_per_epoch": 3, "state_size": 8, "cuts": 2},
}
NAMES = ("pulse", "breath")


def stays(n: int = 30, seed: int = 0) -> SeriesSet:
    rng = np.random.default_rng(seed)
    times = [np.sort(rng.uniform(0, 9, rng.integers(2, 12))) for _ in range(n)]
    values = [rng.normal(size=(len(t), 2)).cumsum(axis=0) for t in times]
    labels = [x[:, 0] > 0 for x in values]
    for table in values:
        table[1:][rng.random((len(table) - 1, 2)) < 0.4] = np.nan
    return SeriesSet.from_arrays(
        times,
        values,
        row_target=labels,
        channels=NAMES,
        static=rng.normal(size=(n, 1)),
        static_names=["age"],
        ids=[f"s{k}" for k in range(n)],
        start=-1.0,
    )


@pytest.fixture(scope="module", params=FAST)
def model(request: pytest.FixtureRequest) -> RowPredictor:
    return RowPredictor(request.param, options=FAST[request.param], random_state=0).fit(stays())


@pytest.fixture(scope="module")
def trees() -> RowPredictor:
    return RowPredictor(options=FAST["running-trees"], random_state=0).fit(stays())


def events(series: SeriesSet) -> list[tuple[str, float, dict, float]]:
    """All rows of all series, in order of time."""
    rows = [
        (one.id, float(t), dict(zip(NAMES, x.tolist(), strict=True)), float(one.static[0]))
        for one in series
        for t, x in zip(one.times, one.values, strict=True)
    ]
    return sorted(rows, key=lambda row: row[1])


def push(stream: Stream, rows: list) -> None:
    for id, time, values, age in rows:
        stream.push(id, time, values, static={"age": age}, start=-1.0)


def test_every_row_is_answered_as_by_predict_as_soon_as_it_has_come(model: RowPredictor) -> None:
    series = stays(6, seed=1)
    stream, told = model.stream(), {one.id: [] for one in series}
    for row in events(series):
        push(stream, [row])
        (answer,) = stream.now(row[1], [row[0]])
        told[row[0]].append(answer.columns["p_1"])
    for one, shares in zip(series, model.predict_proba(series), strict=True):
        np.testing.assert_array_equal(told[one.id], shares[:, 1])


def test_all_series_are_answered_together_between_rows(model: RowPredictor) -> None:
    series = stays(6, seed=1)
    stream = model.stream()
    push(stream, events(series))
    answers = stream.now(5.25)
    begun = [one for one in series if one.times[0] <= 5.25]
    assert {answer.id for answer in answers} == {one.id for one in begun}
    wanted = {one.id: own[0, 1] for one, own in zip(series, model.predict_proba(series, [5.25]), strict=True)}
    assert all(answer.columns["p_1"] == wanted[answer.id] for answer in answers)


def test_rows_within_the_lag_may_come_in_any_order(trees: RowPredictor) -> None:
    series = stays(5, seed=2)
    ordered, shuffled = trees.stream(), trees.stream(lag=20.0)
    push(ordered, events(series))
    push(shuffled, [events(series)[k] for k in np.random.default_rng(0).permutation(len(series.times))])
    by_id = {answer.id: answer for answer in shuffled.now(9.0)}
    assert [by_id[answer.id] for answer in ordered.now(9.0)] == ordered.now(9.0)


def test_a_row_that_is_too_late_is_refused_by_name_and_changes_nothing(trees: RowPredictor) -> None:
    stream = trees.stream(lag=1.0)
    stream.push("ann", 5.0, {"pulse": 1.0})
    before = stream.now(6.0)
    with pytest.raises(InvalidEvent, match=r"series 'ann': the row at time 3 is 2 late, and rows may be 1 late"):
        stream.push("ann", 3.0, {"pulse": 9.0})
    assert stream.now(6.0) == before


def test_channels_of_one_time_may_come_one_by_one_but_not_twice(trees: RowPredictor) -> None:
    apart, together = trees.stream(), trees.stream()
    apart.push("ann", 1.0, {"pulse": 1.0})
    apart.push("ann", 1.0, {"breath": 2.0, "pulse": None})
    together.push("ann", 1.0, {"pulse": 1.0, "breath": 2.0})
    assert apart.now(2.0) == together.now(2.0)
    with pytest.raises(InvalidEvent, match="two values of one channel at time 1, 1 and 7"):
        apart.push("ann", 1.0, {"pulse": 7.0})


def test_memory_is_bounded_and_series_expire(trees: RowPredictor) -> None:
    stream, long = trees.stream(rows=4, expire=10.0), np.arange(9.0)
    for time in long:
        stream.push("ann", time, {"pulse": time}, static={"age": 1.0}, start=0.0)
    assert stream.snapshot().arrays["lengths"].tolist() == [4]
    kept = SeriesSet.from_arrays(
        [long[-4:]],
        [np.c_[long[-4:], np.full(4, np.nan)]],
        channels=NAMES,
        static=[[1.0]],
        static_names=["age"],
        start=0.0,
    )
    assert stream.now(8.0)[0].columns["p_1"] == trees.predict_proba(kept)[0][-1, 1]
    stream.push("bob", 18.5, {"pulse": 1.0})
    assert [answer.id for answer in stream.now(18.5)] == ["bob"]
    with pytest.raises(InvalidEvent, match="'ann' is not known"):
        stream.now(18.5, ["ann"])


def test_a_snapshot_goes_on_as_the_stream_would_have(trees: RowPredictor, tmp_path: Path) -> None:
    series = stays(5, seed=3)
    rows = events(series)
    whole, first, second = trees.stream(lag=2.0, expire=50.0), trees.stream(lag=2.0, expire=50.0), trees.stream()
    push(whole, rows)
    push(first, rows[:20])
    first.snapshot().write(tmp_path / "state")
    second.restore(Snapshot.read(tmp_path / "state"))
    push(second, rows[20:])
    assert second.now(9.0) == whole.now(9.0)
    assert (second.pushed, second.rules) == (whole.pushed, whole.rules)
    content = (tmp_path / "state").read_bytes()
    for damaged in (content[:-3], content.replace(b"pulse", b"pulze"), b"something else"):
        (tmp_path / "bad").write_bytes(damaged)
        with pytest.raises(InvalidFile, match="start without"):
            Snapshot.read(tmp_path / "bad")
    with pytest.raises(InvalidOption, match="other channels"):
        Stream(trees.fitted_, ("else",)).restore(first.snapshot())


def test_a_series_of_which_nothing_was_observed_has_no_answer_yet(trees: RowPredictor) -> None:
    stream = trees.stream()
    stream.push(7, 1.0, {"pulse": math.nan})
    assert stream.now(2.0)[0][2:] == ({}, "nothing observed yet")
    stream.push(7, 3.0, {"pulse": 1.0})
    assert stream.now(3.0)[0].status == "ok"
    assert stream.now(0.5) == []


@pytest.mark.parametrize(
    ("event", "error", "words"),
    [
        (("ann", 1.0, {"puls": 1.0}), UnknownName, "unknown channel of series 'ann': 'puls'. Did you mean 'pulse'"),
        (("ann", math.nan, {"pulse": 1.0}), InvalidEvent, "the time is nan"),
        (("ann", "noon", {"pulse": 1.0}), InvalidEvent, "the time is 'noon'"),
        (("ann", 1.0, {"pulse": math.inf}), InvalidEvent, "channel 'pulse' is inf"),
        (("ann", 1.0, {"pulse": "high"}), InvalidEvent, "channel 'pulse' is 'high'"),
        (("ann", 1.0, [1.0]), InvalidEvent, "values are told by the name of their channel"),
        ((None, 1.0, {"pulse": 1.0}), InvalidEvent, "an id is text or a whole number"),
    ],
)
def test_bad_rows_are_refused_with_the_reason(trees: RowPredictor, event: tuple, error: type, words: str) -> None:
    stream = trees.stream()
    with pytest.raises(error, match=words.replace("'", ".")):
        stream.push(*event)
    assert len(stream) == 0


def test_bad_rules_are_refused(trees: RowPredictor) -> None:
    for rules in ({"lag": -1.0}, {"rows": 0}, {"expire": 0.0}):
        with pytest.raises(InvalidOption, match="a stream allows"):
            trees.stream(**rules)
