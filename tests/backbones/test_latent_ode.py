"""Latent ODE: judged by a plain loop over one series, with scipy or a Runge-Kutta step by hand between rows."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
import torch
from scipy.integrate import solve_ivp
from torch import nn

from denots.backbones import LatentODE, LatentODEConfig
from denots.data import SeriesSet
from denots.errors import InvalidOption
from denots.fields.autonomous import AutonomousField

from oracles import gappy_series

pytestmark = pytest.mark.usefixtures("double")
Move = Callable[[AutonomousField, np.ndarray, float], np.ndarray]


def backbone(series: SeriesSet, **options) -> LatentODE:
    model = LatentODE(LatentODEConfig(**{"state_size": 4, "tolerance": 1e-11, **options}), len(series.channels))
    model.calibrate(series)
    return model.eval()


def slope(field: AutonomousField, h: np.ndarray) -> np.ndarray:
    weights = [p.detach().numpy() for p in (field.weight_hh, field.bias_hh, field.weight_out, field.bias_out)]
    return weights[2] @ np.maximum(weights[0] @ h + weights[1], 0) + weights[3]


def by_scipy(field: AutonomousField, h: np.ndarray, span: float) -> np.ndarray:
    if span == 0:
        return h
    return solve_ivp(lambda _, h: slope(field, h), (0, span), h, method="DOP853", rtol=1e-10, atol=1e-12).y[:, -1]


def by_one_step(field: AutonomousField, h: np.ndarray, span: float) -> np.ndarray:
    a = slope(field, h)
    b = slope(field, h + span / 2 * a)
    c = slope(field, h + span / 2 * b)
    d = slope(field, h + span * c)
    return h + span * (a + 2 * b + 2 * c + d) / 6


def by_hand(model: LatentODE, series: SeriesSet, row: int, at: np.ndarray, move: Move) -> np.ndarray:
    """States of one series at some times, row by row and without batches."""
    unit = np.median(series.spans)
    table = (series.values - np.nanmean(series.values, axis=0)) / np.nanstd(series.values, axis=0)
    table = table[series.offsets[row] : series.offsets[row + 1]]
    known = [k for k in range(len(table)) if not np.isnan(table[k]).all()]
    times = (series[row].times[known] - series.start[row]) / unit
    filled = np.array([[value_to_read(table[:, c], k) for c in range(table.shape[1])] for k in known])
    cell = nn.GRUCell(table.shape[1], 4)
    cell.load_state_dict(model.cell.state_dict())
    h = np.zeros(4)
    for k in reversed(range(len(known))):
        h = cell(torch.from_numpy(filled[k])[None], torch.from_numpy(h)[None])[0].detach().numpy()
        if k or model.config.encode_to == "start":
            h = move(model.backwards, h, times[k] - (times[k - 1] if k else 0.0))
    return np.stack([by_scipy(model.decoder, h, (t - series.start[row]) / unit) for t in at])


def value_to_read(column: np.ndarray, k: int) -> float:
    """The latest value up to row k, else the first one after it, else zero."""
    seen = np.flatnonzero(~np.isnan(column))
    if not len(seen):
        return 0.0
    return column[seen[seen <= k][-1]] if (seen <= k).any() else column[seen[0]]


@pytest.mark.parametrize(
    ("encoder", "move", "encode_to"),
    [("dopri5", by_scipy, "start"), ("dopri5", by_scipy, "first"), ("rk4", by_one_step, "start")],
)
def test_states_are_those_of_a_plain_loop(encoder: str, move: Move, encode_to: str) -> None:
    series = gappy_series(lengths=(1, 7, 2, 12, 7), channels=2, missing=0.5)
    assert np.isnan(series.values).all(axis=1).any()  # some rows hold nothing to read
    model = backbone(series, encoder=encoder, encode_to=encode_to)
    at = series.ends[:, None] * np.array([0.0, 0.3, 1.0, 1.7])
    found = model(model.prepare(series), torch.from_numpy(at))
    assert found.ok.all()
    for row in range(len(series)):
        expected = by_hand(model, series, row, at[row], move)
        np.testing.assert_allclose(found.states[row].detach(), expected, rtol=1e-7, atol=1e-8)


def test_on_one_feature_it_has_the_parameters_of_the_published_one() -> None:
    assert LatentODE(LatentODEConfig(), 1).core_parameters == 7584
    assert LatentODE(LatentODEConfig(), 1, static_size=3).core_parameters == 7584


def test_rows_without_values_change_nothing() -> None:
    series = gappy_series(lengths=(6, 3), channels=2, missing=0.0)
    model = backbone(series)
    holes = series.values.copy()
    holes[[1, 7]] = np.nan
    keep = np.delete(np.arange(9), [1, 7])
    without = SeriesSet(
        times=series.times[keep],
        values=series.values[keep],
        offsets=np.array([0, 5, 7]),
        start=series.start,
        ids=series.ids,
        channels=series.channels,
    )
    at = torch.from_numpy(series.ends[:, None])
    with_holes = model(model.prepare(replace(series, values=holes)), at).states
    torch.testing.assert_close(with_holes, model(model.prepare(without), at).states)


def test_zeros_in_holes_are_the_mean_of_the_training_split() -> None:
    series = gappy_series(lengths=(5,), channels=2, missing=0.4)
    model = backbone(series, holes="zero")
    mean = np.broadcast_to(np.nanmean(series.values, axis=0), series.values.shape)
    seen = ~np.isnan(series.values)
    filled = np.where(seen | ~seen.any(axis=1)[:, None], series.values, mean)
    states = [model(model.prepare(replace(series, values=values))).states for values in (series.values, filled)]
    torch.testing.assert_close(*states)


@pytest.mark.parametrize("encoder", ["rk4", "dopri5"])
def test_a_series_that_blows_up_leaves_the_others_their_gradients(encoder: str) -> None:
    calm = gappy_series(lengths=(5, 4), channels=2, missing=0.0)
    wild = SeriesSet.from_arrays([np.array([0.0, 1e200])], [np.ones((2, 2))], start=0.0)
    both = SeriesSet.from_arrays(
        [calm[0].times, wild[0].times, calm[1].times], [calm[0].values, wild[0].values, calm[1].values], start=0.0
    )
    model = backbone(calm, encoder=encoder, tolerance=1e-3, max_steps=100)
    gradients = []
    for series in (both, calm):
        model.zero_grad()
        found = model(model.prepare(series))
        found.states[found.ok].square().sum().backward()
        gradients.append({name: p.grad.clone() for name, p in model.named_parameters()})
    assert model(model.prepare(both)).ok.tolist() == [True, False, True]
    assert model(model.prepare(both)).states[1].isnan().all()
    for name, gradient in gradients[0].items():
        torch.testing.assert_close(gradient, gradients[1][name], msg=lambda m, n=name: f"{n}: {m}")


def test_queries_before_the_start_are_refused() -> None:
    series = gappy_series(lengths=(4, 5))
    model = backbone(series)
    with pytest.raises(InvalidOption, match="starts"):
        model(model.prepare(series), torch.tensor([[1.0], [-0.1]]))


def test_evaluations_count_encoder_and_decoder() -> None:
    series = gappy_series(lengths=(1, 6), channels=1, missing=0.0)
    model = backbone(series, encode_to="first", tolerance=1e-3)
    at = torch.from_numpy(series.start[:, None])  # the decoder has nothing to do
    assert model(model.prepare(series), at).evaluations.tolist() == [4, 24]


def test_an_autonomous_field_ignores_its_signal() -> None:
    field = AutonomousField(3)
    t, h = torch.zeros(5), torch.randn(5, 3)
    expected = nn.Sequential(nn.Linear(3, 3), nn.ReLU(), nn.Linear(3, 3))
    expected[0].load_state_dict({"weight": field.weight_hh, "bias": field.bias_hh})
    expected[2].load_state_dict({"weight": field.weight_out, "bias": field.bias_out})
    torch.testing.assert_close(field(t, torch.randn(5, 1), h), expected(h))
    assert set(field.state_dict()) == {"weight_hh", "bias_hh", "weight_out", "bias_out"}
