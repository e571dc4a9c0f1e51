"""Slopes as channels, against the derivative of the path itself."""

import numpy as np
import pytest
import torch

from denots.paths import PATHS, CausalHermite, NaturalCubic
from denots.paths.slopes import append_slopes

from oracles import gappy_series

pytestmark = pytest.mark.usefixtures("double")
SCALE = torch.tensor([1.0, 2.0, 0.5], dtype=torch.float64)


@pytest.mark.parametrize("name", PATHS)
def test_the_further_channels_are_the_derivative_of_the_path_everywhere(name: str) -> None:
    series = gappy_series(missing=0.4, seed=2)
    path = PATHS[name].fit(series)
    wide = append_slopes(path, SCALE)
    for row in range(len(series)):
        knots = path.times[path.begin[row] : path.end[row]]
        if len(knots) < 2:
            continue
        times = torch.linspace(float(knots[0]), float(knots[-1]), 257)[1:-1]
        rows = torch.full((len(times),), row)
        found = wide.value(times, rows)
        torch.testing.assert_close(found[:, :3], path.value(times, rows))
        torch.testing.assert_close(found[:, 3:] * SCALE, path.derivative(times, rows), rtol=1e-8, atol=1e-8)


def test_a_knot_stands_twice_only_where_the_slope_has_a_kink() -> None:
    whole = gappy_series(missing=0.0)
    smooth = NaturalCubic.fit(whole)
    assert len(append_slopes(smooth, SCALE).times) == len(smooth.times)
    bent = CausalHermite.fit(whole)
    inner = sum(max(0, n - 2) for n in np.diff(whole.offsets))
    assert len(append_slopes(bent, SCALE).times) == len(bent.times) + inner


def test_knots_that_lie_close_together_make_no_kink() -> None:
    series = gappy_series(lengths=(40, 60), missing=0.0, seed=5)
    series.times[1] = series.times[0] + 1e-5
    path = NaturalCubic.fit(series)
    assert len(append_slopes(path, SCALE).times) == len(path.times)
