"""A state that is kept at rows has the bits of one that is computed from all rows, and is what torch learns, to rounding."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

from denots.backbones import BACKBONES
from denots.backbones.running_rows import RowReader
from denots.data import SeriesSet
from denots.fields import FIELDS
from denots.inference.running import Memory, Running

RUNNING = [name for name, backbone in BACKBONES.items() if issubclass(backbone, RowReader)]


def walks(n: int = 12, *, static: bool = True) -> SeriesSet:
    """Walks with holes at random times; some see nothing in their first rows."""
    rng = np.random.default_rng(0)
    times = [np.sort(rng.uniform(0, 9, rng.integers(1, 9))) for _ in range(n)]
    values = [10 + rng.normal(size=(len(t), 3)).cumsum(axis=0) for t in times]
    for table in values:
        table[:-1][rng.random((len(table) - 1, 3)) < 0.4] = np.nan
    known = np.where(rng.random((n, 2)) < 0.3, np.nan, rng.normal(size=(n, 2)))
    return SeriesSet.from_arrays(times, values, static=known if static else None, start=-rng.uniform(0, 3, n))


def built(name: str, series: SeriesSet, **options: Any) -> RowReader:
    torch.manual_seed(0)
    cls = BACKBONES[name]
    backbone = cls(cls.Config(**{"state_size": 12, **options}), len(series.channels), len(series.static_names))
    backbone.calibrate(series)
    return backbone.eval()


def some(memory: Memory, rows: np.ndarray) -> Memory:
    return {name: array[rows] for name, array in memory.items()}


def moments(series: SeriesSet) -> tuple[np.ndarray, ...]:
    """The last row of each series, a time after it, and any time from the first row on."""
    rng = np.random.default_rng(1)
    return series.ends, series.ends + 1.5, np.array([rng.uniform(one.times[0], 12) for one in series])


def carried(backbone: Running, series: SeriesSet, at: np.ndarray) -> np.ndarray:
    """States at times, one for each series, after the rows up to them, step by step and all series together."""
    static = np.zeros((len(series), 0)) if series.static is None else series.static
    memory = backbone.begin(series.start, static)
    until = [int((one.times <= moment).sum()) for one, moment in zip(series, at, strict=True)]
    for place in range(max(until)):
        going = np.flatnonzero(np.array(until) > place)
        row = series.offsets[going] + place
        stepped = backbone.step(some(memory, going), series.times[row], series.values[row])
        for name, array in memory.items():
            array = array.copy()
            array[going] = stepped[name]
            memory[name] = array
    return backbone.read(memory, at)


@pytest.mark.parametrize("static", [True, False])
@pytest.mark.parametrize("name", RUNNING)
def test_states_are_those_of_the_whole_series(name: str, static: bool) -> None:
    series = walks(static=static)
    encoder = built(name, series).encoder()
    for at in moments(series):
        wanted = encoder.encode(series, at[:, None])
        assert wanted.ok.all()
        np.testing.assert_array_equal(carried(encoder, series, at), wanted.states[:, 0])
    np.testing.assert_array_equal(carried(encoder, series, series.ends), encoder.encode(series).states[:, 0])


@pytest.mark.parametrize("static", [True, False])
@pytest.mark.parametrize(
    ("name", "options"), [(name, {}) for name in RUNNING] + [("running-denots", {"field": field}) for field in FIELDS]
)
def test_states_are_those_that_torch_learns_to_rounding(name: str, options: dict[str, Any], static: bool) -> None:
    series = walks(static=static)
    backbone = built(name, series, **options)
    inputs, encoder = backbone.prepare(series), backbone.encoder()
    for at in (None, np.stack(moments(series), axis=1)):
        wanted = backbone(inputs, None if at is None else torch.from_numpy(at))
        found = encoder.encode(series, at)
        np.testing.assert_allclose(found.states, wanted.states.detach().numpy(), atol=1e-4)
        np.testing.assert_array_equal(found.ok, wanted.ok.numpy())


@pytest.mark.parametrize("options", [{"backend": "reference"}, {"state_size": 513}])
def test_what_kernels_cannot_solve_is_left_to_torch(options: dict[str, Any]) -> None:
    series = walks()
    assert built("running-denots", series, **options).encoder() is None


@pytest.mark.parametrize("name", RUNNING)
def test_company_changes_no_bit_and_reading_changes_nothing(name: str) -> None:
    series = walks()
    backbone = built(name, series).encoder()
    whole = carried(backbone, series, series.ends + 0.25)
    for k in range(len(series)):
        alone = series.select([k])
        np.testing.assert_array_equal(carried(backbone, alone, alone.ends + 0.25)[0], whole[k])
    memory = backbone.begin(series.start, np.asarray(series.static))
    before = {key: array.copy() for key, array in memory.items()}
    after = backbone.step(memory, series.times[series.offsets[:-1]], series.values[series.offsets[:-1]])
    kept = {key: array.copy() for key, array in after.items()}
    backbone.read(after, series.ends + 1)
    for left, right in ((memory, before), (after, kept)):
        for key in left:
            np.testing.assert_array_equal(left[key], right[key])
    assert {key: (a.dtype, a.shape) for key, a in after.items()} == {k: (a.dtype, a.shape) for k, a in before.items()}


@pytest.mark.parametrize("name", RUNNING)
def test_values_that_break_a_state_break_it_alone(name: str) -> None:
    series = walks()
    backbone = built(name, series).encoder()
    values = series.values.copy()
    values[series.offsets[3]] = 1e300
    broken = replace(series, values=values)
    states, whole = carried(backbone, broken, series.ends), carried(backbone, series, series.ends)
    others = np.arange(len(series)) != 3
    np.testing.assert_array_equal(states[others], whole[others])


@pytest.mark.parametrize("name", RUNNING)
def test_what_was_rare_in_training_is_read_by_its_logarithm(name: str) -> None:
    series = walks()
    backbone = built(name, series)
    far = replace(series, values=np.where(np.isnan(series.values), np.nan, 1e4 + series.values))
    first = far.offsets[:-1]
    seen = ~np.isnan(far.values[first])
    z = (far.values[first] - np.nanmean(series.values, axis=0)) / np.nanstd(series.values, axis=0)
    assert np.abs(z[seen]).min() > 1000
    found = backbone.prepare(far).values[first, :3].numpy()
    np.testing.assert_allclose(found[seen], np.log(1 + z[seen]), rtol=1e-5)
