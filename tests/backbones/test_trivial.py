"""The trivial models know what they say they know, and nothing else."""

import numpy as np
import pytest
import torch

from denots.backbones import BACKBONES
from denots.data import SeriesSet

pytestmark = pytest.mark.usefixtures("double")


def series() -> SeriesSet:
    values = [np.array([[1.0, np.nan], [3.0, 5.0], [np.nan, 7.0]]), np.array([[2.0, np.nan]])]
    return SeriesSet.from_arrays([[0.0, 1.0, 2.0], [4.0]], values, static=[[10.0], [20.0]])


def encode(name: str, at: torch.Tensor | None = None) -> torch.Tensor:
    data = series()
    model = BACKBONES[name](BACKBONES[name].Config(), 2, 1)
    model.calibrate(data)
    return model(model.prepare(data), at).states


def test_the_last_value_of_each_channel_is_the_latest_observed_one() -> None:
    table = series().values
    centre, scale = np.nanmean(table, axis=0), np.nanstd(table, axis=0)
    wanted = [[(3 - centre[0]) / scale[0], (7 - centre[1]) / scale[1], -1], [(2 - centre[0]) / scale[0], 0, 1]]
    np.testing.assert_allclose(encode("last-value")[:, 0], wanted, atol=1e-12)


def test_a_question_between_observations_is_answered_with_the_one_before() -> None:
    states = encode("last-value", torch.tensor([[0.5, 1.5], [4.0, 9.0]]))
    table = series().values
    first = (np.array([1.0, 3.0]) - np.nanmean(table[:, 0])) / np.nanstd(table[:, 0])
    np.testing.assert_allclose(states[0, :, 0], first, atol=1e-12)
    np.testing.assert_allclose(states[1, 0], states[1, 1])


def test_the_constant_says_the_same_of_everything() -> None:
    assert torch.equal(encode("constant"), torch.zeros(2, 1, 1))
