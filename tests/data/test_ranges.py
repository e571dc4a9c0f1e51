"""Ordinary data pass without a remark; wrong units and wild values do not."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from denots.data import SeriesSet
from denots.data.ranges import Ranges
from denots.data.schema import TableSchema
from denots.datasets import load
from denots.errors import InvalidFolder


def patients(n: int, seed: int) -> SeriesSet:
    """Hours of pulse and temperature, with holes, every patient with an own level and sampling rate."""
    rng = np.random.default_rng(seed)
    times, values = [], []
    for _ in range(n):
        t = np.cumsum(rng.exponential(rng.uniform(0.5, 2.0), rng.integers(8, 60)))
        x = np.stack(
            [rng.normal(80, 12) + rng.normal(0, 6, len(t)), rng.normal(37, 0.4) + rng.normal(0, 0.3, len(t))], 1
        )
        x[1:][rng.random((len(t) - 1, 2)) < 0.3] = np.nan
        times.append(t)
        values.append(x)
    return SeriesSet.from_arrays(times, values, channels=["pulse", "temp"], time_unit="h")


TRAIN, TEST = patients(300, 0), patients(1000, 1)


def with_values(change: Any, channel: int, series: SeriesSet = TEST) -> SeriesSet:
    values = series.values.copy()
    values[:, channel] = change(values[:, channel])
    return replace(series, values=values)


def share(remarks: list[str], words: str = "") -> float:
    return float(np.mean([bool(text) and words in text for text in remarks]))


def test_the_ranges_are_those_of_numpy() -> None:
    found = Ranges.of(TRAIN)
    for c in range(2):
        np.testing.assert_allclose(found.values[c], np.nanquantile(TRAIN.values[:, c], [0, 0.01, 0.99, 1]))
    gaps = [np.median(np.diff(one.times)) for one in TRAIN]
    np.testing.assert_allclose(found.gaps, np.quantile(gaps, [0, 0.5, 1]))
    np.testing.assert_allclose(found.spans, np.quantile([np.ptp(one.times) for one in TRAIN], [0, 0.5, 1]))
    np.testing.assert_allclose(found.lengths, np.quantile(TRAIN.lengths, [0, 0.5, 1]))


def test_ordinary_series_get_no_remark() -> None:
    assert share(Ranges.of(TRAIN).remarks(TEST)) <= 0.01


@pytest.mark.parametrize("name", ["pendulum-small", "sine-2", "sine-mix", "bump"])
def test_held_out_series_of_built_in_sets_get_no_remark(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DENOTS_HOME", str(tmp_path))
    splits = load(name, seed=0, size=300).splits
    assert share(Ranges.of(splits.train).remarks(splits.test)) <= 0.01


@pytest.mark.parametrize(
    ("factor", "cause"), [(60, "hours and minutes"), (3600, "hours and seconds"), (1 / 60, "hours and minutes")]
)
def test_another_unit_of_time_is_noticed_and_guessed(factor: float, cause: str) -> None:
    remarks = Ranges.of(TRAIN).remarks(replace(TEST, times=TEST.times * factor, start=TEST.start * factor))
    assert share(remarks) > 0.99
    assert share(remarks, cause) > 0.6


def test_fahrenheit_for_celsius_is_noticed_and_guessed() -> None:
    remarks = Ranges.of(TRAIN).remarks(with_values(lambda x: x * 9 / 5 + 32, 1))
    assert share(remarks, "channel 'temp'") == 1
    assert share(remarks, "Fahrenheit for Celsius") > 0.99
    back = Ranges.of(with_values(lambda x: x * 9 / 5 + 32, 1, TRAIN)).remarks(TEST)
    assert share(back, "Celsius for Fahrenheit") > 0.99


@pytest.mark.parametrize(("factor", "cause"), [(1000.0, "1000 times too large"), (0.01, "100 times too small")])
def test_another_unit_of_a_value_is_noticed_and_guessed(factor: float, cause: str) -> None:
    assert share(Ranges.of(TRAIN).remarks(with_values(lambda x: x * factor, 0)), cause) > 0.95


def test_a_single_wild_value_is_noticed_in_its_series_only() -> None:
    values = TEST.values.copy()
    values[TEST.offsets[7], 0] = 1e30
    remarks = Ranges.of(TRAIN).remarks(replace(TEST, values=values))
    assert "channel 'pulse' is 1e+30, in training" in remarks[7]
    assert sum(map(bool, remarks)) <= 1 + 0.01 * len(TEST)
    assert all(Ranges.of(TRAIN).remarks(with_values(lambda x: x * 1e30, 0)))


def test_a_channel_that_training_never_saw_is_named() -> None:
    blind = Ranges.of(with_values(lambda x: x * np.nan, 1, TRAIN))
    assert share(blind.remarks(TEST), "channel 'temp' was never observed in training") == 1


def test_a_remark_does_not_depend_on_the_other_series() -> None:
    odd = with_values(lambda x: x * 9 / 5 + 32, 1)
    ranges = Ranges.of(TRAIN)
    assert [ranges.remarks(odd[[k]])[0] for k in range(20)] == ranges.remarks(odd)[:20]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_remarks_are_about_medians_and_about_single_values(dtype: type) -> None:
    rng = np.random.default_rng(7)
    ranges = Ranges.of(TRAIN)
    scale = np.repeat(10.0 ** rng.uniform(-3, 3, len(TEST)), TEST.lengths) * 10.0 ** rng.uniform(0, 2, len(TEST.times))
    pace = np.repeat(10.0 ** rng.uniform(-2, 2, len(TEST)), TEST.lengths)
    odd = replace(
        TEST, values=(TEST.values * scale[:, None]).astype(dtype), times=TEST.times * pace, start=np.zeros(1000)
    )
    for one, remark in zip(odd, ranges.remarks(odd), strict=True):
        gap = np.median(np.diff(one.times))
        assert ("rows lie apart" in remark) == (gap > 3 * ranges.gaps[2] or gap < ranges.gaps[0] / 3)
        expected = []
        for name, column, (low, q01, q99, high) in zip(odd.channels, one.values.T, ranges.values, strict=True):
            seen = column[~np.isnan(column)].astype(float)
            if not len(seen):
                continue
            width, typical = max(q99 - q01, 0.1 * high), np.median(seen)
            far = typical > high + width or typical < max(low - width, min(low, q01 / 3) / 3)
            if far or seen.max() > high + 50 * width:
                expected.append(f"channel {name!r} is {'typically ' if far else ''}")
        assert [words in remark or "more" in remark for words in expected] == [True] * len(expected)
        assert remark.count("channel") <= len(expected)


def test_constant_channels_and_single_rows_are_no_trouble() -> None:
    single = SeriesSet.from_arrays([[0.0], [1.0]], [[[5.0]], [[5.0]]])
    ranges = Ranges.of(single)
    assert ranges.remarks(single) == ["", ""]
    assert "channel 'x0' is typically 80" in ranges.remarks(with_values(lambda x: x * 16, 0, single))[0]


def in_wards(n: int, seed: int) -> pd.DataFrame:
    """Two rows a patient: pulse and posture at times, ward and age once."""
    rng = np.random.default_rng(seed)
    table = {"id": np.repeat(np.arange(n), 2), "t": np.tile([0.0, 1.0], n), "pulse": rng.normal(80, 5, 2 * n)}
    wards, ages = np.array(["er", "icu", "ward A"])[np.arange(n) % 3], rng.uniform(20, 80, n)
    posture = np.array(["up", "down"])[np.arange(2 * n) % 2]
    return pd.DataFrame(table | {"posture": posture, "ward": np.repeat(wards, 2), "age": np.repeat(ages, 2)})


READ = TableSchema("id", "t", static=("ward", "age"), channels=("pulse", "posture"), picked=True)
WARDS = READ.learn(in_wards(300, 0))


@pytest.mark.parametrize(
    ("column", "rows", "value", "remark"),
    [
        ("ward", [6, 7], "Icu", "'Icu'; training had 'er', 'icu', 'ward A', should it be 'icu'?"),
        ("ward", [6, 7], "ward A ", "'ward A '; training had 'er', 'icu', 'ward A', should it be 'ward A'?"),
        ("posture", [7], "x", "'x'; training had 'down', 'up'"),
    ],
)
def test_a_category_that_training_did_not_have_is_named(column: str, rows: list[int], value: str, remark: str) -> None:
    ranges, table = Ranges.of(WARDS), in_wards(100, 1)
    table.loc[rows, column] = value
    reading = WARDS.schema.scan(table)
    expected = ["", "", "", f"column {column!r} holds {remark}", *[""] * 96]
    assert ranges.remarks(reading.series, reading.texts) == expected
    without = ranges.remarks(reading.series)
    assert f"column {column!r} holds no category that is known; training had " in without[3]
    assert sum(map(bool, without)) == 1
    again = Ranges.from_json(json.loads(json.dumps(ranges.as_json())), "m/ranges.json")
    assert again.remarks(reading.series, reading.texts) == expected


def test_a_category_that_is_missing_is_no_unknown_one() -> None:
    table = in_wards(100, 1)
    table.loc[[6, 7], ["ward", "posture"]] = None
    reading = WARDS.schema.scan(table)
    assert not any(Ranges.of(WARDS).remarks(reading.series, reading.texts))


@pytest.mark.parametrize(("age", "remark"), [(5000.0, "100 times too large"), (-900.0, "a wrong value"), (70.0, "")])
def test_a_static_number_is_judged_as_a_channel_is(age: float, remark: str) -> None:
    table = in_wards(100, 1)
    table.loc[[6, 7], "age"] = age
    remarks = Ranges.of(WARDS).remarks(WARDS.schema.read(table))
    assert remark in remarks[3]
    assert [k for k, text in enumerate(remarks) if text] == ([3] if remark else [])
    assert not remark or remarks[3].startswith(f"static 'age' is {age:.4g}, in training 2")


def test_a_static_number_that_training_never_knew_is_named() -> None:
    blind = Ranges.of(READ.learn(in_wards(30, 0).assign(age=np.nan)))
    assert share(blind.remarks(WARDS), "static 'age' was never known in training") == 1


def test_ranges_of_an_earlier_version_say_nothing_of_static_features() -> None:
    content = Ranges.of(WARDS).as_json()
    for name in ("static_names", "static", "categories"):
        del content[name]
    odd = replace(WARDS, static=WARDS.static * 0 + 1e6)
    assert not any(Ranges.from_json(content, "m/ranges.json").remarks(odd))


def test_json_gives_the_ranges_back() -> None:
    blind = Ranges.of(with_values(lambda x: x * np.nan, 1, TRAIN))
    again = Ranges.from_json(json.loads(json.dumps(blind.as_json(), allow_nan=False)), "m/ranges.json")
    assert again.channels == blind.channels
    for name in ("values", "spans", "gaps", "lengths"):
        np.testing.assert_array_equal(getattr(again, name), getattr(blind, name))


@pytest.mark.parametrize(
    "change",
    [
        {"values": [[1, 2, 3, 4]]},
        {"spans": "x"},
        {"gaps": [1, 2]},
        {"channels": 5},
        {"more": 1},
        {"static": [[1, 2, 3, 4]]},
        {"static_names": "x"},
        {"categories": {"ward": [1]}},
        {"categories": []},
        {"spans": [1, 2, 1e999]},
    ],
)
def test_odd_json_is_refused(change: dict[str, Any]) -> None:
    with pytest.raises(InvalidFolder, match=r"m/ranges\.json describes no ranges"):
        Ranges.from_json(Ranges.of(TRAIN).as_json() | change, "m/ranges.json")
    with pytest.raises(InvalidFolder, match=r"m/ranges\.json describes no ranges"):
        Ranges.from_json(None, "m/ranges.json")
