"""Descriptions against numbers worked out by hand; sketches decoded dot by dot."""

import numpy as np
import pytest

from denots.data import SeriesSet
from denots.datasets import describe, sketch

NAN = float("nan")
EXAMPLE = SeriesSet.from_arrays(
    [[1.0, 2.0, 4.0], [0.0], [0.0, 10.0]],
    [[[1, NAN], [2, NAN], [NAN, 5]], [[3, 4]], [[5, NAN], [6, NAN]]],
    ids=["ann", "bob", "cy"],
    channels=["pulse", "sugar"],
    start=0.0,
    static=[1.0, 2.0, 3.0],
    static_names=["age"],
    target=[0.0, 10.0, 20.0],
    time_unit="h",
)


def test_counts_lengths_spans_and_gaps() -> None:
    found = describe(EXAMPLE)
    assert (found.series, found.observations) == (3, 6)
    assert (found.channels, found.static_names, found.time_unit) == (("pulse", "sugar"), ("age",), "h")
    assert found.lengths == (1, 2, 3)
    assert found.spans == (0, 4, 10)
    assert found.missing == pytest.approx(5 / 12)
    assert found.missing_by_channel == pytest.approx({"pulse": 1 / 6, "sugar": 4 / 6})


def test_a_number_to_predict_is_given_by_quantiles() -> None:
    found = describe(EXAMPLE)
    assert found.classes is None
    assert found.target_quantiles == {"target": (0, 5, 10, 15, 20)}


def test_several_numbers_to_predict_have_quantiles_each_without_gaps() -> None:
    found = describe(EXAMPLE.with_target([[1.0, NAN], [2.0, NAN], [NAN, NAN]]))
    assert found.target_quantiles is not None
    assert found.target_quantiles["target[0]"] == (1, 1.25, 1.5, 1.75, 2)
    assert np.isnan(found.target_quantiles["target[1]"]).all()


@pytest.mark.parametrize(
    ("target", "shares"),
    [
        ([1, 0, 1], {"0": 1 / 3, "1": 2 / 3}),
        ([True, False, True], {"False": 1 / 3, "True": 2 / 3}),
        (["ill", "well", "well"], {"ill": 1 / 3, "well": 2 / 3}),
    ],
)
def test_classes_are_given_by_their_shares(target: list[object], shares: dict[str, float]) -> None:
    found = describe(EXAMPLE.with_target(target))
    assert found.classes == pytest.approx(shares)
    assert found.target_quantiles is None


def test_many_whole_numbers_are_a_quantity() -> None:
    series = SeriesSet.from_arrays([[0.0]] * 101, [[1.0]] * 101, target=np.arange(101))
    assert describe(series).target_quantiles == {"target": (0, 25, 50, 75, 100)}


def test_a_set_without_target_says_nothing_about_it() -> None:
    found = describe(EXAMPLE.with_target(None))
    assert (found.classes, found.target_quantiles) == (None, None)


def dots(line: str) -> set[tuple[int, int]]:
    """Column and row of every dot of a line of braille, rows counted from its top."""
    places = [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2), (0, 3), (1, 3)]  # in the order of Unicode's bits
    cells = line[line.index("│") + 1 : line.rindex("│")]
    return {
        (2 * k + x, y)
        for k, cell in enumerate(cells)
        for bit, (x, y) in enumerate(places)
        if (ord(cell) - 0x2800) >> bit & 1
    }


def drawn(text: str) -> set[tuple[int, int]]:
    return {(x, 4 * row + y) for row, line in enumerate(text.splitlines()[1:]) for x, y in dots(line)}


def test_a_sketch_puts_a_dot_at_every_observation() -> None:
    rising = SeriesSet.from_arrays([np.arange(8.0)], [np.arange(8.0)])
    assert drawn(sketch(rising, 0, width=4, height=2)) == {(k, 7 - k) for k in range(8)}


def test_a_sketch_leaves_out_what_is_missing_and_keeps_time_to_scale() -> None:
    gappy = SeriesSet.from_arrays([[3.0, 4.0, 7.0]], [[5.0, NAN, 1.0]], start=0.0)
    assert drawn(sketch(gappy, 0, width=4, height=1)) == {(3, 0), (7, 3)}


def test_a_sketch_names_series_target_channels_and_ranges() -> None:
    lines = sketch(EXAMPLE, 0, width=10, height=2).splitlines()
    assert lines[0] == "ann: 3 observations, 0 to 4 h, target 0"
    assert [line.split("│")[0].split() for line in lines[1:]] == [["pulse", "2"], ["1"], ["sugar", "5"], ["5"]]
    assert {len(line) for line in lines[1:]} == {5 + 1 + 10 + 1 + 12}


def test_a_channel_without_observation_is_said_to_be_never_observed() -> None:
    assert sketch(EXAMPLE, 2).splitlines()[-1] == "sugar never observed"


def test_a_single_observation_and_a_constant_can_be_sketched() -> None:
    assert len(drawn(sketch(EXAMPLE.select([1]), 0, height=2).replace("sugar", "     "))) == 2
    constant = SeriesSet.from_arrays([np.arange(8.0)], [np.ones(8)], target=["flat"])
    text = sketch(constant, 0, width=4, height=1)
    assert drawn(text) in ({(k, 1) for k in range(8)}, {(k, 2) for k in range(8)})
    assert text.startswith("0: 8 observations, 0 to 7, target flat")
