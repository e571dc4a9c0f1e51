"""SeriesSet: what it refuses, what it accepts, and what selecting, splitting and padding keep."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from denots.data import Series, SeriesSet
from denots.data.blocks import in_blocks
from denots.data.split import deal_folds
from denots.data.transforms import thinned_copies
from denots.errors import InvalidOption, InvalidSeries, InvalidTarget

from strategies import QUICK, series_sets

NAN, INF = float("nan"), float("inf")


def two(times: Any = None, values: Any = None, **options: Any) -> SeriesSet:
    return SeriesSet.from_arrays(
        times or [[0.0, 1.0, 2.0], [5.0, 6.0]], values or [[1.0, 2.0, 3.0], [4.0, 5.0]], ids=["ann", "bob"], **options
    )


def refused(message: str, times: Any = None, values: Any = None, **options: Any) -> None:
    with pytest.raises(InvalidSeries, match=message):
        two(times, values, **options)


def test_unsorted_times_name_the_series_and_say_to_sort() -> None:
    refused(r"'bob'.*times\[0\] = 6.0 is followed by 5.0.*Sort", times=[[0, 1, 2], [6, 5]])


def test_duplicate_times_name_the_series_and_say_to_merge() -> None:
    refused(r"'ann'.*times\[1\] = 1.0 is followed by 1.0.*Merge", times=[[0, 1, 1], [5, 6]])


@pytest.mark.parametrize("bad", [NAN, INF, -INF])
def test_a_time_that_is_not_finite_is_named(bad: float) -> None:
    refused(r"'bob': times\[1\]", times=[[0, 1, 2], [5, bad]])


@pytest.mark.parametrize("bad", [INF, -INF])
def test_an_infinite_value_names_series_channel_and_time(bad: float) -> None:
    refused("'bob': channel 'pulse' is -?inf at time 6.0", values=[[1, 2, 3], [4, bad]], channels=["pulse"])


def test_an_empty_set_is_refused() -> None:
    with pytest.raises(InvalidSeries, match="empty"):
        SeriesSet.from_arrays([], [])
    with pytest.raises(InvalidSeries, match="empty"):
        two().select([])


@pytest.mark.parametrize("place", [0, 1])
def test_an_empty_series_is_named(place: int) -> None:
    times, values = [[0.0, 1.0]] * 2, [[0.0, 1.0]] * 2
    times[place] = values[place] = []
    refused(f"{['ann', 'bob'][place]!r} is empty", times=times, values=values)


def test_a_series_without_any_observed_value_is_named() -> None:
    refused("'bob' has no observed value", values=[[1, NAN, 3], [NAN, NAN]])


def test_series_with_different_channel_counts_are_named() -> None:
    refused("'bob' has 2 channels but series 'ann' has 1", values=[[1, 2, 3], [[4, 5], [6, 7]]])


def test_times_and_values_of_different_length_are_named() -> None:
    refused(r"'bob' has times of shape \(2,\) and values of shape \(1, 1\)", values=[[1, 2, 3], [4]])
    with pytest.raises(InvalidSeries, match="2 arrays of times but 1 arrays of values"):
        SeriesSet.from_arrays([[0.0], [0.0]], [[1.0]])


@pytest.mark.parametrize(("ids", "shown"), [(["ann", "ann"], "'ann'"), ([7, 7], "7")])
def test_repeated_ids_are_named(ids: list[Any], shown: str) -> None:
    with pytest.raises(InvalidSeries, match=f"id {shown} stands for 2 series"):
        SeriesSet.from_arrays([[0.0], [0.0]], [[1.0], [1.0]], ids=ids)


def test_channel_names_must_be_unique_and_complete() -> None:
    refused("2 channel names for 1 channels", channels=["a", "b"])
    with pytest.raises(InvalidSeries, match="repeat"):
        SeriesSet.from_arrays([[0.0]], [[[1.0, 2.0]]], channels=["a", "a"])


def test_text_where_numbers_belong_names_the_series() -> None:
    refused("values of series 'bob' are not numbers", values=[[1, 2, 3], ["4", "high"]])


def test_a_start_after_the_first_observation_names_the_series() -> None:
    refused("'bob' starts at 5.5, after its first observation at 5.0", start=[0.0, 5.5])


@pytest.mark.parametrize("bad", [NAN, -INF])
def test_a_start_that_is_not_finite_names_the_series(bad: float) -> None:
    refused("'bob' starts at .*finite", start=[0.0, bad])


def test_start_times_must_be_one_or_one_each() -> None:
    refused(r"start has shape \(3,\)", start=[0.0, 0.0, 0.0])


def test_static_features_must_be_finite_and_complete() -> None:
    refused("'bob': static feature 'age' is inf", static=[[1.0], [INF]], static_names=["age"])
    refused(r"static features have shape \(1, 1\)", static=[[1.0]])
    with pytest.raises(InvalidSeries, match="static names age but no static features"):
        replace(two(), static_names=("age",))


def test_a_target_needs_one_row_per_series_of_one_type() -> None:
    with pytest.raises(InvalidTarget, match="each of the 2 series"):
        two(target=[1.0])
    with pytest.raises(InvalidTarget, match="mixes types"):
        two(target=[1.0, None])


@pytest.mark.parametrize("offsets", [[0, 3, 4], [1, 3, 5], [0, 3, 6]])
def test_offsets_that_leave_rows_without_owner_are_refused(offsets: list[int]) -> None:
    with pytest.raises(InvalidSeries, match="from 0 to 5"):
        replace(two(), offsets=np.array(offsets))


def test_a_single_observation_is_legal() -> None:
    alone = SeriesSet.from_arrays([[3.0]], [[1.0]])
    assert alone.lengths.tolist() == [1]
    assert alone.spans.tolist() == [0.0]


def test_a_channel_that_is_never_observed_is_legal() -> None:
    series = SeriesSet.from_arrays([[0.0, 1.0]], [[[1.0, NAN], [2.0, NAN]]])
    assert np.isnan(series.values[:, 1]).all()


def test_time_may_go_back_from_one_series_to_the_next() -> None:
    assert two(times=[[7, 8, 9], [0, 1]]).ends.tolist() == [9, 1]


def test_a_clock_that_starts_early_lengthens_the_span() -> None:
    assert two(start=-1.0).spans.tolist() == [3.0, 7.0]


def test_the_start_defaults_to_the_first_observation() -> None:
    assert two().start.tolist() == [0.0, 5.0]


def test_float32_values_stay_float32_and_times_become_float64() -> None:
    series = SeriesSet.from_arrays([np.float32([0, 1])], [np.float32([1, 2])])
    assert (series.times.dtype, series.values.dtype) == (np.float64, np.float32)


def test_an_array_of_series_channels_time_is_read_in_that_order() -> None:
    cube = np.arange(24.0).reshape(2, 3, 4)
    series = SeriesSet.from_numpy(cube)
    assert series.times.tolist() == [0, 1, 2, 3] * 2
    for i in range(2):
        assert series[i].values.tolist() == [[cube[i, c, t] for c in range(3)] for t in range(4)]


def same_rows(a: Series, b: Series) -> bool:
    pairs = [(a.times, b.times), (a.values, b.values), (a.static, b.static), (a.target, b.target)]
    return a.id == b.id and all(_equal(x, y) for x, y in pairs)


def _equal(x: Any, y: Any) -> bool:
    if x is None or y is None:
        return x is y
    return np.array_equal(x, y, equal_nan=np.asarray(x).dtype.kind == "f")


@QUICK
@given(series_sets(), st.data())
def test_selecting_gives_exactly_the_chosen_series_in_order(series: SeriesSet, data: st.DataObject) -> None:
    rows = data.draw(
        st.lists(st.integers(-len(series), len(series) - 1), min_size=1, unique_by=lambda r: r % len(series))
    )
    chosen = series.select(rows)
    assert len(chosen) == len(rows)
    for new, old in enumerate(rows):
        assert same_rows(chosen[new], list(series)[old])
        assert chosen.start[new] == series.start[old]


@QUICK
@given(series_sets(), st.data())
def test_a_mask_selects_what_its_row_numbers_select(series: SeriesSet, data: st.DataObject) -> None:
    mask = data.draw(st.lists(st.booleans(), min_size=len(series), max_size=len(series)).filter(any))
    assert series.select(mask).same_as(series.select([row for row, kept in enumerate(mask) if kept]))


def test_a_mask_of_the_wrong_length_is_refused() -> None:
    with pytest.raises(InvalidSeries):
        two().select([True])


def test_slices_masks_and_lists_give_a_set_and_a_position_gives_a_series() -> None:
    series = SeriesSet.from_arrays([[0.0], [0.0, 1.0], [2.0]], [[1.0], [2.0, 3.0], [4.0]], ids=["a", "b", "c"])
    assert series[1:3].same_as(series.select([1, 2]))
    assert series[::-1].ids.tolist() == ["c", "b", "a"]
    assert series[np.array([True, False, True])].ids.tolist() == ["a", "c"]
    assert series[[2, 0]].ids.tolist() == ["c", "a"]
    assert (series[-1].id, series[np.int64(1)].id) == ("c", "b")
    with pytest.raises(IndexError):
        series[3]
    with pytest.raises(InvalidSeries, match="empty"):
        series[3:]
    with pytest.raises(InvalidSeries, match="positions or by a mask"):
        series[[0.5]]
    with pytest.raises(InvalidSeries, match="positions or by a mask; got 'a'"):
        series["a"]
    assert [one.id for one in series] == ["a", "b", "c"]


@QUICK
@given(series_sets())
def test_a_rectangle_holds_every_series_and_nothing_else(series: SeriesSet) -> None:
    rectangle = series.padded()
    assert rectangle.mask.sum() == len(series.times)
    assert np.isnan(rectangle.times[~rectangle.mask]).all()
    assert np.isnan(rectangle.values[~rectangle.mask]).all()
    for row, one in enumerate(series):
        length = len(one.times)
        assert rectangle.times[row, :length].tolist() == one.times.tolist()
        assert np.array_equal(rectangle.values[row, :length], one.values, equal_nan=True)


@QUICK
@given(series_sets())
def test_owner_repeats_each_row_number_by_its_length(series: SeriesSet) -> None:
    assert series.owner().tolist() == [row for row, one in enumerate(series) for _ in one.times]


@QUICK
@given(series_sets())
def test_a_set_is_the_same_as_its_copy_and_differs_once_a_value_moves(series: SeriesSet) -> None:
    copy = series.select(np.arange(len(series)))
    assert series.same_as(copy)
    assert not series.same_as(replace(series, start=series.start - 1e6))
    assert not series.same_as(replace(series, time_unit=series.time_unit + "x"))


def plain(n: int, target: Any = None) -> SeriesSet:
    return SeriesSet.from_arrays([[0.0]] * n, [[1.0]] * n, target=target)


SHARES = st.sampled_from([(0.5, 0.5), (0.7, 0.15, 0.15), (0.1, 0.9), (0.25, 0.25, 0.25, 0.25)])


@QUICK
@given(st.integers(20, 200), SHARES, st.integers(0, 5))
def test_a_split_deals_every_series_once_in_the_asked_shares(n: int, shares: tuple[float, ...], seed: int) -> None:
    parts = plain(n).split(shares, seed=seed)
    assert sorted(i for part in parts for i in part.ids.tolist()) == list(range(n))
    assert all(abs(len(part) - share * n) <= 1 for part, share in zip(parts, shares, strict=True))


def test_a_split_depends_on_its_seed_alone() -> None:
    first, again, other = (plain(100).split(seed=seed)[0].ids.tolist() for seed in (3, 3, 4))
    assert first == again
    assert first != other


@QUICK
@given(st.lists(st.integers(0, 2), min_size=60, max_size=120), SHARES, st.integers(0, 5))
def test_a_stratified_split_keeps_the_class_shares(labels: list[int], shares: tuple[float, ...], seed: int) -> None:
    parts = plain(len(labels), target=labels).split(shares, seed=seed, stratify=True)
    assert sum(map(len, parts)) == len(labels)
    for part, share in zip(parts, shares, strict=True):
        for label in set(labels):
            assert abs((part.target == label).sum() - share * labels.count(label)) <= 1


@QUICK
@given(st.lists(st.integers(0, 19), min_size=20, max_size=60), SHARES, st.integers(0, 5))
def test_a_grouped_split_keeps_groups_together(more: list[int], shares: tuple[float, ...], seed: int) -> None:
    groups = [*range(20), *more]
    parts = plain(len(groups)).split(shares, seed=seed, groups=groups)
    homes = [{groups[i] for i in part.ids} for part in parts]
    assert sum(map(len, parts)) == len(groups)
    assert sum(map(len, homes)) == len(set(groups))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"fractions": (0.5, 0.4)}, "sum to 1"),
        ({"fractions": (1.2, -0.2)}, "positive"),
        ({"fractions": (0.999, 0.001)}, "leaves a part empty"),
        ({"groups": [1, 2]}, "one for each of the 10 series"),
        ({"groups": list(range(10)), "stratify": True}, "not both"),
    ],
)
def test_a_split_that_cannot_be_dealt_says_why(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidOption, match=message):
        plain(10, target=[0, 1] * 5).split(**options, seed=0)


def test_a_stratified_split_needs_a_target() -> None:
    with pytest.raises(InvalidSeries, match="needs a target"):
        plain(10).split(seed=0, stratify=True)


def test_thinned_copies_keep_rows_of_their_series_and_about_the_share_asked_for() -> None:
    rng = np.random.default_rng(0)
    lengths = (200, 300, 1, 2)
    series = SeriesSet.from_arrays(
        [np.sort(rng.uniform(0, 9, n)) for n in lengths], [rng.normal(size=n) for n in lengths], target=[3, 1, 4, 5]
    )
    copied = thinned_copies(series, 3, 0.3, seed=1)
    assert copied.select(range(4)).values.tolist() == series.values.tolist()
    assert copied.target.tolist() == [3, 1, 4, 5] * 4
    for row in range(4, 16):
        whole, thin = series[row % 4], copied[row]
        assert set(zip(thin.times, thin.values[:, 0], strict=True)) <= set(
            zip(whole.times, whole.values[:, 0], strict=True)
        )
        assert len(thin.times) == pytest.approx(0.7 * len(whole.times), rel=0.15) or len(whole.times) < 3


@pytest.mark.parametrize("labels", [None, np.repeat(np.arange(12), 2)])
def test_folds_hold_each_row_once_and_deal_classes_out(labels: np.ndarray | None) -> None:
    folds = deal_folds(24, 5, seed=3, labels=labels)
    assert sorted(np.concatenate(folds)) == list(range(24))
    assert {len(fold) for fold in folds} == {4, 5}
    if labels is not None:
        assert all(len(set(labels[fold])) == len(fold) for fold in folds)


def test_blocks_are_the_series_in_order_and_share_their_rows() -> None:
    series = SeriesSet.from_arrays(
        [[0.0, 1.0], [2.0], [0.0, 3.0, 4.0], [1.0], [5.0, 6.0]],
        [np.arange(2 * k).reshape(k, 2) for k in (2, 1, 3, 1, 2)],
        target=[1, 0, 1, 1, 0],
        static=[[1.0], [2.0], [3.0], [4.0], [5.0]],
        row_target=[[0.0] * k for k in (2, 1, 3, 1, 2)],
        ids=list("abcde"),
    )
    blocks = list(in_blocks(series, 2))
    assert [len(block) for block in blocks] == [2, 2, 1]
    for first, block in zip((0, 2, 4), blocks, strict=True):
        assert block.same_as(series.select(np.arange(first, first + len(block))))
        assert np.shares_memory(block.values, series.values)
