"""Neural CDE: judged by scipy on scipy's splines, and by torchcde with copied weights."""

import itertools

import numpy as np
import pytest
import torch
from scipy.integrate import solve_ivp
from scipy.interpolate import CubicSpline
from torch import nn

from denots.backbones import NeuralCDE, NeuralCDEConfig
from denots.backbones.controlled import Controlled
from denots.data import SeriesSet
from denots.data.hide import hide_for_forecasting

from oracles import gappy_series

pytestmark = pytest.mark.usefixtures("double")


def backbone(series: SeriesSet, **options) -> NeuralCDE:
    model = NeuralCDE(NeuralCDEConfig(**{"state_size": 4, "tolerance": 1e-8, **options}), len(series.channels))
    model.calibrate(series)
    return model.eval()


def standardised(series: SeriesSet, presence: bool = False) -> list[np.ndarray]:
    """Channels and time of each series as the paper feeds them, but with moments of these series."""
    counts = np.concatenate([np.cumsum(~np.isnan(one.values), axis=0) for one in series])
    table = np.hstack([series.values, counts]) if presence else series.values
    table = (table - np.nanmean(table, axis=0)) / np.nanstd(table, axis=0)
    time = (series.times - np.repeat(series.start, series.lengths)) / np.median(series.spans)
    return np.split(np.column_stack([table, time]), series.offsets[1:-1])


def by_scipy(model: Controlled, knots: np.ndarray, points: np.ndarray, at: np.ndarray) -> np.ndarray:
    """States at increasing positions of a curve through some points, one channel and one piece at a time."""
    splines = []
    for column in points.T:
        seen = ~np.isnan(column)
        ends = (knots[seen][0], knots[seen][-1]) if seen.any() else (0.0, 0.0)
        curve = CubicSpline(knots[seen], column[seen], bc_type="natural") if seen.sum() > 1 else None
        splines.append((curve, *ends))
    field = model.field
    w, b, v, c = (p.detach().numpy() for p in (field.weight_hh, field.bias_hh, field.weight_out, field.bias_out))

    def slope(t: float, h: np.ndarray, middle: float) -> np.ndarray:
        moves = [curve is not None and first < middle < last for curve, first, last in splines]
        dx = np.array([s[0](t, 1) if on else 0.0 for s, on in zip(splines, moves, strict=True)])
        return np.tanh(v @ np.maximum(w @ h + b, 0) + c).reshape(len(h), -1) @ dx

    first = np.array([column[~np.isnan(column)][0] if (~np.isnan(column)).any() else 0.0 for column in points.T])
    h = model.from_first.weight.detach().numpy() @ first + model.from_first.bias.detach().numpy()
    found = {knots[0]: h}
    for left, right in itertools.pairwise(np.unique(np.concatenate([knots, at]))):
        run = solve_ivp(slope, (left, right), h, args=((left + right) / 2,), method="DOP853", rtol=1e-10, atol=1e-12)
        found[right] = h = run.y[:, -1]
    return np.stack([found[t] for t in at])


@pytest.mark.parametrize(("clock", "presence"), [("time", False), ("index", False), ("time", True)])
def test_states_are_scipys_on_scipys_splines(clock: str, presence: bool) -> None:
    series = gappy_series(lengths=(1, 2, 5, 8), channels=2, missing=0.4, seed=3)
    model = backbone(series, clock=clock, presence=presence)
    shares = np.array([0.0, 0.35, 0.5, 1.0])
    first = series.times[series.offsets[:-1], None]
    at = first + (series.ends[:, None] - first) * shares
    states = model(model.prepare(series), torch.from_numpy(at)).states.detach()
    ends = model(model.prepare(series)).states.detach()
    for row, points in enumerate(standardised(series, presence)):
        times = series[row].times
        knots = times if clock == "time" else np.arange(len(times), dtype=float)
        # Between observations a time is at the same share of the way from one index to the next.
        positions = at[row] if clock == "time" else np.interp(at[row], times, knots)
        expected = by_scipy(model, knots, points, positions)
        np.testing.assert_allclose(states[row], expected, rtol=2e-5, atol=2e-5)
        np.testing.assert_allclose(ends[row, 0], expected[-1], rtol=2e-5, atol=2e-5)


@pytest.mark.filterwarnings("ignore")
def test_states_are_those_of_torchcde_with_the_same_weights() -> None:
    torchcde = pytest.importorskip("torchcde", reason="torchcde comes with the extra bench")
    series = gappy_series(lengths=(9,), channels=2, missing=0.0, seed=4)
    series.values[[3, 4, 6], 0] = np.nan  # holes inside: at the ends torchcde bends what is held here
    series.values[[1, 6], 1] = np.nan
    model = backbone(series, clock="index", tolerance=1e-9)
    at = [0.0, 3.5, 5.25, 8.0]
    points = torch.from_numpy(standardised(series)[0])[None]
    curve = torchcde.CubicSpline(torchcde.natural_cubic_coeffs(points))
    inner, outer = nn.Linear(4, 4), nn.Linear(4, 12)
    inner.load_state_dict({"weight": model.field.weight_hh, "bias": model.field.bias_hh})
    outer.load_state_dict({"weight": model.field.weight_out, "bias": model.field.bias_out})
    expected = torchcde.cdeint(
        X=curve,
        func=lambda t, h: outer(inner(h).relu()).tanh().view(-1, 4, 3),
        z0=model.from_first(curve.evaluate(curve.interval[0])),
        t=torch.tensor(at),
        adjoint=False,
        method="dopri5",
        rtol=1e-9,
        atol=1e-9,
    )
    times = torch.from_numpy(np.interp(at, np.arange(9), series.times))
    found = model(model.prepare(series), times[None]).states
    torch.testing.assert_close(found, expected.detach(), rtol=2e-5, atol=2e-5)


@pytest.mark.parametrize(("channels", "count"), [(2, 4352), (3, 5440), (1, 3264), (34, 39168)])
def test_parameters_are_as_many_as_the_paper_says(channels: int, count: int) -> None:
    assert NeuralCDE(NeuralCDEConfig(), channels, static_size=5).core_parameters == count


def test_a_forecaster_has_the_parameters_of_the_published_one() -> None:
    assert NeuralCDE(NeuralCDEConfig(beyond="decode"), 1).core_parameters == 5376


def test_hidden_rows_of_an_even_grid_lie_half_way_between_indices() -> None:
    series = SeriesSet.from_arrays([np.linspace(0, 1, 12)], [np.sin(np.arange(12.0))])
    exercise = hide_for_forecasting(series)
    model = backbone(exercise.visible, clock="index")
    inputs = model.prepare(exercise.visible)
    between = torch.from_numpy(exercise.at[:, :3]) / model.intake.time_scale
    found = torch.cat([inputs.clock.value(t) for t in between.unbind(1)])[:, 0]
    np.testing.assert_allclose(found, [0.5, 1.5, 2.0])  # the third one is already beyond


def test_beyond_the_last_observation_the_decoder_goes_on_in_true_time() -> None:
    series = gappy_series(lengths=(6, 3, 1), channels=2, missing=0.0)
    model = backbone(series, beyond="decode", clock="index")
    later = np.array([0.2, 3.0])
    at = series.ends[:, None] + np.array([-0.01, 0.0, *later])
    found = model(model.prepare(series), torch.from_numpy(np.maximum(at, series.start[:, None])))
    ends = model(model.prepare(series)).states[:, 0].detach().numpy()
    np.testing.assert_allclose(found.states[:, 1].detach(), ends, rtol=1e-9, atol=1e-9)
    field = model.decoder
    w, b, v, c = (p.detach().numpy() for p in (field.weight_hh, field.bias_hh, field.weight_out, field.bias_out))
    unit = np.median(series.spans)
    for row in range(3):
        run = solve_ivp(
            lambda _, h: v @ np.maximum(w @ h + b, 0) + c,
            (0, 3.0 / unit),
            ends[row],
            t_eval=later / unit,
            method="DOP853",
            rtol=1e-10,
            atol=1e-12,
        )
        np.testing.assert_allclose(found.states[row, 2:].detach(), run.y.T, rtol=1e-5, atol=1e-6)
    hold = backbone(series, beyond="hold", clock="index")
    held = hold(hold.prepare(series), torch.from_numpy(at[:, 2:])).states
    torch.testing.assert_close(held, hold(hold.prepare(series)).states.expand_as(held), rtol=1e-9, atol=1e-9)


def test_before_the_first_observation_the_state_is_the_first_one() -> None:
    series = gappy_series(lengths=(5, 4))
    model = backbone(series)
    inputs = model.prepare(series)
    first = torch.from_numpy(series.times[series.offsets[:-1], None])
    states = model(inputs, torch.cat([0 * first, 0.5 * first, first], dim=1)).states
    expected = model.from_first(inputs.path.value(inputs.path.t0))
    torch.testing.assert_close(states, expected[:, None].expand_as(states))


def test_the_speed_along_the_curve_does_not_matter() -> None:
    """On an even grid both clocks have the same curve, so they must agree on the states."""
    series = SeriesSet.from_arrays([np.linspace(0, 3, 6)], [np.random.default_rng(0).normal(size=(6, 2))])
    by_time, by_index = backbone(series), backbone(series, clock="index")
    by_index.load_state_dict(by_time.state_dict())
    at = torch.tensor([[0.0, 0.4, 1.7, 3.0]])
    torch.testing.assert_close(
        by_time(by_time.prepare(series), at).states, by_index(by_index.prepare(series), at).states, rtol=2e-5, atol=2e-5
    )


def test_a_series_that_fails_is_nan_also_beyond_its_end() -> None:
    series = gappy_series(lengths=(1, 40), channels=2)
    model = backbone(series, beyond="decode", max_steps=3)
    at = torch.from_numpy(series.ends[:, None] + np.array([[-0.0, 1e-3]]))
    found = model(model.prepare(series), at)
    assert found.ok.tolist() == [True, False]
    assert found.states[1].isnan().all()
    found.states[found.ok].sum().backward()
    assert all(p.grad is None or p.grad.isfinite().all() for p in model.parameters())
