"""The curve that drives a model, made in one pass, against the tables that it would take otherwise, to the last bit."""

from typing import Any

import numpy as np
import pytest
import torch

from denots import kernels
from denots.backbones.denots import DeNOTS, DeNOTSConfig
from denots.data import SeriesSet
from denots.inference import denots
from denots.inference.curve import Curve

from oracles import gappy_series


def drawn(dtype: type, channels: int = 3, missing: float = 0.5) -> SeriesSet:
    lengths = (1, 2, 3, 4, 9, 17, 40, 2, 1, 66)
    gappy = gappy_series(lengths=lengths, channels=channels, missing=missing, seed=3)
    return SeriesSet.from_arrays([one.times for one in gappy], [one.values.astype(dtype) for one in gappy], start=-1.5)


def encoder(series: SeriesSet, *, double: bool = False, **options: Any) -> denots.DeNOTS:
    torch.manual_seed(0)
    backbone = DeNOTS(DeNOTSConfig(**options), len(series.channels))
    backbone.calibrate(series)
    found = (backbone.double() if double else backbone).encoder()
    assert found is not None
    return found


def assert_same(found: Curve, wanted: Curve) -> None:
    own = np.concatenate([np.arange(*span) for span in zip(found.begin, found.end, strict=True)])
    for name in ("times", "values", "slopes"):
        np.testing.assert_array_equal(getattr(found, name)[own], getattr(wanted, name), err_msg=name)
    np.testing.assert_array_equal(found.end - found.begin, wanted.end - wanted.begin)
    for name in ("t0", "t1", "present"):
        np.testing.assert_array_equal(getattr(found, name), getattr(wanted, name), err_msg=name)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("presence", [False, True])
@pytest.mark.parametrize("ages", [False, True])
@pytest.mark.parametrize("time_differences", [False, True])
def test_one_pass_gives_the_bits_of_many_tables(
    dtype: type, presence: bool, ages: bool, time_differences: bool
) -> None:
    series = drawn(dtype)
    model = encoder(series, presence=presence, ages=ages, time_differences=time_differences, depth=7.0)
    assert_same(model._curve(series), model._curve_by_steps(series))


def test_so_it_does_in_double_precision_and_without_holes() -> None:
    for series in (drawn(np.float64), drawn(np.float32, missing=0.0)):
        model = encoder(series, double=True, presence=True, ages=True)
        assert_same(model._curve(series), model._curve_by_steps(series))


def test_states_depend_on_no_neighbour_and_on_no_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    series = drawn(np.float32)
    model = encoder(series, presence=True, ages=True, initial="first")
    states = model.encode(series).states
    for threads in (1, 3):
        monkeypatch.setattr(kernels, "threads", lambda count=threads: count)
        np.testing.assert_array_equal(model.encode(series).states, states)
        alone = [model.encode(series[[k]]).states for k in range(len(series))]
        np.testing.assert_array_equal(np.concatenate(alone), states)
