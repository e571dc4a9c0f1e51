"""The range of a path, against a dense look at it."""

import numpy as np
import pytest
import torch

from denots.data.series import SeriesSet
from denots.paths import PATHS
from denots.paths.extremes import extremes
from denots.paths.slopes import append_slopes


@pytest.mark.parametrize("name", ["natural-cubic", "linear", "causal-hermite"])
def test_the_range_is_that_of_a_dense_look(name: str) -> None:
    rng = np.random.default_rng(0)
    times = [np.sort(rng.uniform(0, 4, length)) for length in (1, 2, 9, 30)]
    values = [rng.normal(size=(len(t), 2)) for t in times]
    values[2][3, 0] = np.nan
    path = PATHS[name].fit(SeriesSet.from_arrays(times, values, start=0.0), torch.float64)
    path = append_slopes(path, torch.tensor([2.0, 0.5], dtype=torch.float64)).select([3, 0, 1, 2])
    low, high = extremes(path)
    for row in range(4):
        t = torch.linspace(float(path.t0[row]), float(path.t1[row]), 20_001, dtype=torch.float64)
        t = torch.cat([t, path.times[path.begin[row] : path.end[row]]])
        seen = path.value(t, torch.full((len(t),), row))
        assert (seen >= low[row] - 1e-9).all()
        assert (seen <= high[row] + 1e-9).all()
        if row == 0:
            torch.testing.assert_close(seen[:, :2].amin(dim=0), low[row, :2], atol=1e-4, rtol=0)
            torch.testing.assert_close(seen[:, :2].amax(dim=0), high[row, :2], atol=1e-4, rtol=0)
