"""A stream gives the answers of `predict` on the same rows, to the last bit, in whatever order rows come within the lag."""

import math
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from denots import RowPredictor, SeriesSet
from denots.errors import InvalidEvent, InvalidFile, InvalidOption, UnknownName
from denots.stream import Stream
from denots.stream.snapshot import Snapshot
from denots.systems import SYSTEMS

FAST = {"max_epochs": 1, "batches_per_epoch": 3, "rounds": 12, "state_size": 8, "cuts": 2, "budget": 4.0}
CAUSAL = [name for name, system in SYSTEMS.items() if system.causal]
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


@cache
def fitted(name: str) -> RowPredictor:
    options = {key: value for key, value in FAST.items() if key in SYSTEMS[name].options}
    return RowPredictor(name, options=options, random_state=0).fit(stays())


@pytest.fixture(params=CAUSAL)
def model(request: pytest.FixtureRequest) -> RowPredictor:
    return fitted(request.param)


@pytest.fixture(params=["running-trees", "running-gru"])
def either(request: pytest.FixtureRequest) -> RowPredictor:
    """One model that reads rows again, and one that carries its state."""
    return fitted(request.param)


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


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_every_row_is_answered_as_by_predict_as_soon_as_it_has_come(model: RowPredictor, dtype: type) -> None:
    series = stays(6, seed=1)
    series = replace(series, values=series.values.astype(dtype))
    stream, told = model.stream(), {one.id: [] for one in series}
    for row in events(series):
        push(stream, [row])
        (answer,) = stream.now(row[1], [row[0]])
        told[row[0]].append(answer.columns["p_1"])
    for one, shares in zip(series, model.predict_proba(series), strict=True):
        np.testing.assert_array_equal(told[one.id], shares[:, 1])


def test_all_series_are_answered_together_between_rows(model: RowPredictor) -> None:
    series = stays(6, seed=1)
    stream = model.stream(lag=20.0)
    push(stream, events(series))
    answers = stream.now(5.25)
    begun = [one for one in series if one.times[0] <= 5.25]
    assert {answer.id for answer in answers} == {one.id for one in begun}
    wanted = {one.id: own[0, 1] for one, own in zip(series, model.predict_proba(series, [5.25]), strict=True)}
    assert all(answer.columns["p_1"] == wanted[answer.id] for answer in answers)


def test_rows_within_the_lag_may_come_in_any_order(either: RowPredictor) -> None:
    series = stays(5, seed=2)
    ordered, shuffled = either.stream(), either.stream(lag=20.0)
    push(ordered, events(series))
    push(shuffled, [events(series)[k] for k in np.random.default_rng(0).permutation(len(series.times))])
    by_id = {answer.id: answer for answer in shuffled.now(9.0)}
    assert [by_id[answer.id] for answer in ordered.now(9.0)] == ordered.now(9.0)


def test_a_row_that_is_too_late_is_refused_by_name_and_changes_nothing(either: RowPredictor) -> None:
    stream = either.stream(lag=1.0)
    stream.push("ann", 5.0, {"pulse": 1.0})
    before = stream.now(6.0)
    with pytest.raises(InvalidEvent, match=r"series 'ann': the row at time 3 is 2 late, and rows may be 1 late"):
        stream.push("ann", 3.0, {"pulse": 9.0})
    assert stream.now(6.0) == before


def test_channels_of_one_time_may_come_one_by_one_but_not_twice(either: RowPredictor) -> None:
    apart, together = either.stream(), either.stream()
    apart.push("ann", 1.0, {"pulse": 1.0})
    apart.push("ann", 1.0, {"breath": 2.0, "pulse": None})
    together.push("ann", 1.0, {"pulse": 1.0, "breath": 2.0})
    assert apart.now(2.0) == together.now(2.0)
    with pytest.raises(InvalidEvent, match="two values of one channel at time 1, 1 and 7"):
        apart.push("ann", 1.0, {"pulse": 7.0})


def hourly(times: np.ndarray) -> SeriesSet:
    """One series with a row an hour, of which the pulse is known."""
    values = np.c_[times, np.full(len(times), np.nan)]
    return SeriesSet.from_arrays([times], [values], channels=NAMES, static=[[1.0]], static_names=["age"], start=0.0)


def test_memory_is_bounded(either: RowPredictor) -> None:
    stream, long = either.stream(rows=4), np.arange(9.0)
    for time in long:
        stream.push("ann", time, {"pulse": time}, static={"age": 1.0}, start=0.0)
    carries = either.fitted_.carried is not None
    assert stream.snapshot().arrays["lengths"].tolist() == [1 if carries else 4]
    known = hourly(long if carries else long[-4:])
    assert stream.now(8.0)[0].columns["p_1"] == either.predict_proba(known)[0][-1, 1]


def test_series_expire_and_may_come_again(either: RowPredictor) -> None:
    stream = either.stream(expire=10.0)
    for id, time in (("ann", 8.0), ("bob", 1.0), ("cid", 2.0), ("bob", 9.0)):
        stream.push(id, time, {"pulse": 1.0})
    assert stream.forget(12.0) == []
    assert not stream.expires(12.0)
    assert stream.forget(12.5) == ["cid"]
    stream.push("bob", 18.5, {"pulse": 1.0})
    assert [answer.id for answer in stream.now(18.5)] == ["bob"]
    with pytest.raises(InvalidEvent, match="'ann' is not known"):
        stream.now(18.5, ["ann"])
    stream.push("ann", 0.0, {"pulse": 5.0}, static={"age": 1.0})
    fresh = either.stream()
    fresh.push("ann", 0.0, {"pulse": 5.0}, static={"age": 1.0})
    assert stream.ask([("ann", 3.0)]) == fresh.ask([("ann", 3.0)])


def test_a_carried_state_is_asked_about_as_far_back_as_the_lag() -> None:
    model, long = fitted("running-gru"), np.arange(9.0)
    stream = model.stream(lag=2.0)
    for time in long:
        stream.push("ann", time, {"pulse": time}, static={"age": 1.0}, start=0.0)
    assert stream.snapshot().arrays["lengths"].tolist() == [3]
    wanted = model.predict_proba(hourly(long), [5.5, 6.0, 7.5, 30.0])[0][:, 1].tolist()
    told = stream.ask([("ann", time) for time in (5.5, 6.0, 7.5, 30.0)])
    assert [answer.columns["p_1"] for answer in told] == wanted
    assert stream.ask([("ann", 4.9)]) == [("ann", 4.9, {}, "further back than the lag")]


def test_a_model_that_torch_alone_solves_reads_its_rows_again() -> None:
    options = {key: FAST[key] for key in ("max_epochs", "batches_per_epoch")}
    model = RowPredictor("running-denots", options={**options, "backend": "reference", "state_size": 2}, random_state=0)
    model.fit(stays(12))
    assert model.fitted_.carried is None
    series = stays(3, seed=1)
    stream = model.stream()
    push(stream, events(series))
    wanted = [own[0, 1] for own in model.predict_proba(series, [9.5])]
    told = {answer.id: answer.columns["p_1"] for answer in stream.now(9.5)}
    np.testing.assert_allclose([told[one.id] for one in series], wanted, rtol=1e-6)


def test_a_late_row_moves_a_start_that_nobody_told(either: RowPredictor) -> None:
    late, ordered = either.stream(lag=5.0), either.stream(lag=5.0)
    rows = [(3.0, {"pulse": 3.0}), (1.0, {"pulse": 1.0}), (2.0, {"breath": 2.0})]
    for time, values in rows:
        late.push("ann", time, values)
        late.now(time)
    for time, values in sorted(rows, key=lambda row: row[0]):
        ordered.push("ann", time, values)
    assert late.now(4.0) == ordered.now(4.0)
    late.push("bob", 3.0, {"pulse": 1.0}, start=2.5)
    with pytest.raises(InvalidEvent, match=r"'bob' began at 2\.5, after the row at time 1"):
        late.push("bob", 1.0, {"pulse": 1.0})


@pytest.mark.filterwarnings("ignore::denots.errors.UnusualSeries")
@pytest.mark.parametrize("seed", range(6))
def test_neither_order_nor_questions_nor_snapshots_change_an_answer(either: RowPredictor, seed: int) -> None:
    """Rows come late by up to the lag, in parts, with questions and fresh starts from a snapshot between them."""
    rng, series = np.random.default_rng(seed), stays(6, seed=seed)
    lag = float(rng.choice([0.5, 2.0, 20.0]))
    parts = [
        (id, time, {name: value}, age)
        for id, time, values, age in events(series)
        for name, value in values.items()
        if not math.isnan(value) or name == "pulse"
    ]
    late = sorted(parts, key=lambda part: part[1] + rng.uniform(0, lag))
    stream = either.stream(lag=lag)
    for part in late:
        push(stream, [part])
        what = rng.choice(["go on", "ask", "now", "kept"], p=[0.6, 0.2, 0.1, 0.1])
        if what == "ask":
            stream.ask([(part[0], part[1])])
        if what == "now":
            stream.now(part[1] + 1)
        if what == "kept":
            stream, kept = either.stream(), stream.snapshot()
            stream.restore(kept)
    wanted = either.predict_proba(series, [one.ends[0] + 0.5 for one in (series.select([k]) for k in range(6))])
    told = stream.ask([(one.id, one.times[-1] + 0.5) for one in series])
    for k, answer in enumerate(told):
        assert answer.columns["p_1"] == wanted[k][k, 1]


def test_all_series_take_their_steps_together(monkeypatch: pytest.MonkeyPatch) -> None:
    model, sizes = fitted("running-gru"), []
    backbone = model.fitted_.carried.backbone
    step = type(backbone).step
    monkeypatch.setattr(type(backbone), "step", lambda *args: sizes.append(len(args[2])) or step(*args))
    stream = model.stream()
    for time in (1.0, 2.0):
        for id in range(500):
            stream.push(id, time, {"pulse": float(id)})
    assert sizes == []
    stream.now(3.0)
    stream.now(4.0)
    assert sizes == [500, 500]


def test_a_snapshot_goes_on_as_the_stream_would_have(either: RowPredictor, tmp_path: Path) -> None:
    series = stays(5, seed=3)
    rows = events(series)
    whole, first, second = either.stream(lag=2.0, expire=50.0), either.stream(lag=2.0, expire=50.0), either.stream()
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
        Stream(first.model, ("else",)).restore(first.snapshot())
    other = fitted("running-gru" if either is fitted("running-trees") else "running-trees")
    with pytest.raises(InvalidOption, match="of another model"):
        other.stream().restore(first.snapshot())
    (tmp_path / "old").write_bytes(content.replace(b"denots-stream 2", b"denots-stream 1"))
    with pytest.raises(InvalidFile, match="another version"):
        Snapshot.read(tmp_path / "old")


def test_a_series_of_which_nothing_was_observed_has_no_answer_yet(either: RowPredictor) -> None:
    stream = either.stream()
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
        (("ann", 1.0, {"pulse": 10**400}), InvalidEvent, "channel 'pulse' is 1000"),
        ((None, 1.0, {"pulse": 1.0}), InvalidEvent, "an id is text or a whole number"),
    ],
)
def test_bad_rows_are_refused_with_the_reason(either: RowPredictor, event: tuple, error: type, words: str) -> None:
    stream = either.stream()
    with pytest.raises(error, match=words.replace("'", ".")):
        stream.push(*event)
    assert len(stream) == 0


def test_bad_rules_are_refused(either: RowPredictor) -> None:
    for rules in ({"lag": -1.0}, {"rows": 0}, {"expire": 0.0}):
        with pytest.raises(InvalidOption, match="a stream allows"):
            either.stream(**rules)
