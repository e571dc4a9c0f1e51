"""Neural RDE: judged by scipy on a spline through log-signatures summed by Chen's identity."""

import itertools

import numpy as np
import pytest
import torch

from backbones.test_log_signature import by_chen
from backbones.test_neural_cde import by_scipy, standardised
from denots.backbones import NeuralRDE, NeuralRDEConfig
from denots.data import SeriesSet

from oracles import gappy_series

pytestmark = pytest.mark.usefixtures("double")


def backbone(series: SeriesSet, **options) -> NeuralRDE:
    config = NeuralRDEConfig(**{"state_size": 3, "tolerance": 1e-8, "windows": 4, **options})
    model = NeuralRDE(config, len(series.channels))
    model.calibrate(series)
    return model.eval()


def lines(times: np.ndarray, points: np.ndarray, at: np.ndarray) -> np.ndarray:
    """Straight lines through the observed points of each channel, held outside them."""
    known = [~np.isnan(column) for column in points.T]
    pairs = zip(points.T, known, strict=True)
    return np.stack([np.interp(at, times[k], x[k]) if k.any() else 0 * at for x, k in pairs], axis=1)


def curve(times: np.ndarray, points: np.ndarray, edges: np.ndarray) -> np.ndarray:
    """The first point without areas, then the sums of log-signatures of the windows between edges."""
    d = points.shape[1]
    found = [np.concatenate([lines(times, points, edges[:1])[0], np.zeros(d * (d - 1) // 2)])]
    for left, right in itertools.pairwise(edges):
        inner = times[(times > left) & (times < right)]
        found.append(found[-1] + by_chen(lines(times, points, np.concatenate([[left], inner, [right]]))))
    return np.stack(found)


@pytest.mark.parametrize("clock", ["time", "index"])
def test_states_are_scipys_on_splines_through_log_signatures(clock: str) -> None:
    series = gappy_series(lengths=(1, 2, 5, 9), channels=2, missing=0.3, seed=3)
    model = backbone(series, clock=clock)
    first = series.times[series.offsets[:-1], None]
    at = first + (series.ends[:, None] - first) * np.array([0.0, 0.3, 1.0])
    states = model(model.prepare(series), torch.from_numpy(at)).states.detach()
    for row, points in enumerate(standardised(series)):
        times, rows = series[row].times, np.arange(len(points), dtype=float)
        if clock == "time":
            edges = np.linspace(times[0], times[-1], 5) if len(times) > 1 else times
            knots, read, asked = edges, times, at[row]
        else:  # the longest series has 9 rows: windows of 3 rows are 4 or fewer
            edges = np.unique(np.minimum([0.0, 3.0, 6.0, 9.0], rows[-1]))
            knots, read = np.arange(len(edges), dtype=float), rows
            asked = np.interp(at[row], times[edges.astype(int)], knots)
        expected = by_scipy(model, knots, curve(read, points, edges), asked)
        np.testing.assert_allclose(states[row], expected, rtol=2e-5, atol=2e-5)


@pytest.mark.parametrize(("channels", "count"), [(2, 7616), (3, 11968), (1, 4352)])
def test_parameters_are_as_many_as_the_paper_says(channels: int, count: int) -> None:
    assert NeuralRDE(NeuralRDEConfig(), channels, static_size=2).core_parameters == count


def test_knots_do_not_depend_on_the_other_series() -> None:
    series = gappy_series(lengths=(1, 2, 7, 40), missing=0.3)
    for clock in ("time", "index"):
        model = backbone(series, clock=clock)
        together = model.prepare(series).path
        for row in range(len(series)):
            alone, picked = model.prepare(series.select([row])).path, together.select([row]).packed()
            for name in ("times", "values", "slopes"):
                assert torch.equal(getattr(alone, name), getattr(picked, name))


def test_a_window_that_ends_at_an_observation_needs_no_row_of_its_own() -> None:
    values = np.random.default_rng(0).normal(size=(9, 2))
    series = SeriesSet.from_arrays([np.arange(9.0)], [values])
    by_time, by_rows = backbone(series), backbone(series, clock="index", windows=5)  # 2 rows, as 2 of 8 time units
    found, expected = by_time.prepare(series).path, by_rows.prepare(series).path
    assert len(found.times) == 5
    torch.testing.assert_close(found.values, expected.values)


def test_sixteen_windows_are_enough_for_the_longest_training_series() -> None:
    series = gappy_series(lengths=(315, 30), missing=0.0)
    model = backbone(series, windows=16, clock="index")
    path = model.prepare(series).path
    knots = path.end - path.begin
    assert knots.tolist() == [17, 3]  # windows of ceil(315 / 16) = 20 rows, and the first point
    longer = gappy_series(lengths=(600,), missing=0.0)
    assert len(model.prepare(longer).path.times) == 31
