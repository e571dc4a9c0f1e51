"""Hypothesis strategies shared by the test suite."""

import re
from typing import Any

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from denots.data import SeriesSet

QUICK = settings(max_examples=40, deadline=None)  # no deadline: a busy machine is no failure
TIMES = st.floats(-1e9, 1e9, allow_nan=False, allow_infinity=False)
NAMES = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=6)


@st.composite
def series_sets(draw: st.DrawFn, max_series: int = 6, max_length: int = 8, max_channels: int = 3) -> SeriesSet:
    """Valid sets: ragged, gappy, with and without static features, targets and text ids."""
    n = draw(st.integers(1, max_series))
    lengths = draw(st.lists(st.integers(1, max_length), min_size=n, max_size=n))
    width = draw(st.sampled_from([32, 64]))
    channels = draw(st.lists(NAMES, min_size=1, max_size=max_channels, unique=True))
    times = [sorted(draw(st.sets(TIMES, min_size=length, max_size=length))) for length in lengths]
    values = [_observed(draw, length, len(channels), width) for length in lengths]
    early = draw(st.lists(st.floats(0, 100), min_size=n, max_size=n))
    features = draw(st.integers(0, 2))
    return SeriesSet.from_arrays(
        times,
        values,
        start=[own[0] - ahead for own, ahead in zip(times, early, strict=True)],
        ids=draw(st.one_of(st.none(), st.lists(NAMES, min_size=n, max_size=n, unique=True))),
        channels=channels,
        static=draw(hnp.arrays(np.float64, (n, features), elements=_number(64))) if features else None,
        target=_target(draw, n),
        time_unit=draw(st.sampled_from(["", "s", "h", "days"])),
    )


def _number(width: int) -> st.SearchStrategy[float]:
    return st.one_of(st.just(float("nan")), st.floats(-1e6, 1e6, width=width))


def _observed(draw: st.DrawFn, length: int, channels: int, width: int) -> np.ndarray:
    values = draw(hnp.arrays(f"float{width}", (length, channels), elements=_number(width)))
    row, channel = draw(st.integers(0, length - 1)), draw(st.integers(0, channels - 1))
    if np.isnan(values).all():
        values[row, channel] = 1.0
    return values


def _target(draw: st.DrawFn, n: int) -> Any:
    kind = draw(st.sampled_from(["none", "number", "class", "yes-no", "text", "table"]))
    rows = {"min_size": n, "max_size": n}
    if kind == "none":
        return None
    if kind == "table":
        return draw(hnp.arrays(np.float32, (n, 2), elements=_number(32)))
    elements = {
        "number": st.floats(-1e6, 1e6),
        "class": st.integers(0, 3),
        "yes-no": st.booleans(),
        "text": st.sampled_from(["a", "bc", "ü"]),
    }
    return draw(st.lists(elements[kind], **rows))


PLACE = re.compile(r"(series|row|line|column|channel|table|time zone) ")  # an error that says where the fault is
GOOD = (["a", "b", "7"], ["0", "1", "2", "2.5", "3", "-1"], ["1", "2.5", "-3", "1e3", ""], ["4", "5", ""])
ODD = (
    ["", "NA"],
    ["", "noon", "inf", "nan", "2024-01-01", "2024-01-02T00:00+01:00"],
    *[["NA", "n/a", "inf", "1e400", "-", "é", "true", '"', "1,5"]] * 2,
)


@st.composite
def broken_tables(draw: st.DrawFn) -> list[tuple[str, ...]]:
    """Rows of good cells with up to two odd ones among them, so that some tables can be read."""
    rows = draw(st.lists(st.tuples(*map(st.sampled_from, GOOD)).map(list), max_size=9))
    if draw(st.booleans()):
        rows.sort(key=lambda row: float(row[1]))
    for _ in range(draw(st.integers(0, 2)) if rows else 0):
        column = draw(st.integers(0, 3))
        draw(st.sampled_from(rows))[column] = draw(st.sampled_from(ODD[column]))
    return [tuple(row) for row in rows]
