"""The fused solver on series that cannot be solved: the right status, there and nowhere else."""

import numpy as np
import pytest
import torch
from native_cases import (
    DTYPES,
    EVERY,
    assert_same_bits,
    every_field,
    every_target,
    smooth_path,
    solve_with_gradients,
)

from denots.data import SeriesSet
from denots.fields import AntiFeedbackGRU, ReLUField, VectorField
from denots.ode import InputMap, Solution, Status, solve
from denots.paths import Linear, NaturalCubic, Path, Rectilinear

LOOSE = {"rtol": 1e-3, "atol": 1e-3}


def exploding_field(name: str, channels: int, states: int) -> VectorField:
    """dh/dt = h for positive h, which leaves the numbers after 89 or 710 time units.

    The update gate of the GRU is open for good, the layers of the other field are identities.
    """
    field = EVERY[name](channels, states)
    with torch.no_grad():
        if name == "none":
            field.weight_hh[states : 2 * states], field.bias_hh[states : 2 * states] = 0.0, 1e3
        else:
            for parameter in field.parameters():
                parameter.zero_()
            field.weight_hh.copy_(torch.eye(states))
            field.weight_out.copy_(torch.eye(states))
    return field


def assert_like_reference(field, path: Path, h0: torch.Tensor, **options) -> Solution:
    with torch.no_grad():
        expected = solve(field, path, h0, backend="reference", **options)
    found = solve(field, path, h0, backend="native", **options)
    for name in ("status", "accepted", "rejected", "evaluations"):
        assert torch.equal(getattr(found, name), getattr(expected, name)), name
    torch.testing.assert_close(found.states, expected.states, rtol=1e-4, atol=1e-5, equal_nan=True)
    torch.testing.assert_close(found.reached, expected.reached, rtol=1e-6, atol=0)
    return found


@every_target
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("victim", [0, 3, 18])
@pytest.mark.parametrize("name", ["none", "relu"])
def test_a_series_that_blows_up_fails_alone(
    name: str, dtype: torch.dtype, victim: int, target: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DENOTS_TARGET", target)
    n, field, options = 19, exploding_field(name, 3, 5).to(dtype), {**LOOSE, "per_series": True, "to_path": True}
    path, h0 = smooth_path(n, dtype), torch.rand(n, 5, dtype=dtype)
    calm, calm_gradients = solve_with_gradients(field, path, h0, backend="native", **options)
    path.__dict__["t1"] = path.t1.clone()
    path.t1[victim] = 1e4
    found, gradients = solve_with_gradients(field, path, h0, backend="native", **options)
    assert found.status[victim] == Status.NOT_FINITE
    assert found.states[victim].isnan().all()
    assert 0 < found.reached[victim] < 1e4
    others = torch.arange(n) != victim
    assert found.ok[others].all()
    assert_same_bits(found.states[others], calm.states[others])
    assert not gradients["h0"][victim].any()
    assert not gradients["bias"][victim].any()
    assert_same_bits(gradients["h0"][others], calm_gradients["h0"][others])
    for knots in ("values", "slopes"):
        assert gradients[knots].isfinite().all()
        assert not gradients[knots][path.begin[victim] : path.end[victim]].any()
    assert gradients["weight_hh"].isfinite().all()


def test_a_relu_field_at_depth_thirty_leaves_the_numbers_and_says_so() -> None:
    field, path, h0 = ReLUField(3, 8).double(), smooth_path(4, depth=30.0), torch.randn(4, 8).double()
    with torch.no_grad():
        for parameter in field.parameters():
            parameter.abs_().mul_(4)
    found = solve(field, path, h0, backend="native", **LOOSE)
    assert (found.status == Status.NOT_FINITE).all()
    assert ((found.reached > path.t0) & (found.reached < path.t1)).all()


def test_a_blow_up_has_the_fate_that_the_reference_gives_it() -> None:
    path = smooth_path(3)
    path.__dict__["t1"] = path.t0 + torch.tensor([2.0, 5e3, 3.0], dtype=torch.float64)
    found = assert_like_reference(exploding_field("none", 3, 4).double(), path, torch.randn(3, 4).double(), **LOOSE)
    assert found.status.tolist() == [Status.OK, Status.NOT_FINITE, Status.OK]


@every_field
def test_nan_weights_fail_every_series_without_a_hang(name: str) -> None:
    field, path, h0 = EVERY[name](3, 4), smooth_path(11, torch.float32), torch.randn(11, 4)
    for parameter in field.parameters():
        with torch.no_grad():
            kept = float(parameter.view(-1)[-1])
            parameter.view(-1)[-1] = torch.nan
        found = assert_like_reference(field, path, h0, **LOOSE)
        assert (found.status == Status.NOT_FINITE).all()
        assert (found.evaluations == 1).all()
        with torch.no_grad():
            parameter.view(-1)[-1] = kept


def test_nan_in_one_signal_bias_or_first_state_fails_that_series_only() -> None:
    n, field = 12, AntiFeedbackGRU(3, 4)
    path, h0, bias = smooth_path(n, torch.float32), torch.randn(n, 4), torch.randn(n, 12)
    calm = solve(field, path, h0, input_map=InputMap(field.weight_ih, bias), backend="native", **LOOSE)
    path.values[path.begin[2]], h0[5, 1], bias[7, 3] = torch.nan, torch.inf, torch.nan
    found = assert_like_reference(field, path, h0, input_map=InputMap(field.weight_ih, bias), **LOOSE)
    failed = torch.tensor([2, 5, 7])
    assert (found.status[failed] == Status.NOT_FINITE).all()
    others = torch.ones(n, dtype=torch.bool).index_fill(0, failed, False)
    assert_same_bits(found.states[others], calm.states[others])


def test_a_signal_that_becomes_nan_later_ends_as_not_finite() -> None:
    path = smooth_path(3)
    broken = path.begin[1] + 6
    path.values[broken : path.end[1]] = torch.nan
    found = solve(AntiFeedbackGRU(3, 4).double(), path, torch.zeros(3, 4).double(), backend="native", **LOOSE)
    assert found.status.tolist() == [Status.OK, Status.NOT_FINITE, Status.OK]
    assert 0 <= path.times[broken - 1] - found.reached[1] < 1e-6


def test_max_steps_gives_up_that_series_only() -> None:
    field, path, h0 = AntiFeedbackGRU(3, 6).double(), smooth_path(9), torch.randn(9, 6).double()
    path.__dict__["t1"] = path.t1.clone()
    path.t1[4] = 500.0
    for max_steps in (1, 2, 40):
        found = assert_like_reference(field, path, h0, max_steps=max_steps, **LOOSE)
        assert found.status[4] == Status.MAX_STEPS
        assert found.accepted[4] + found.rejected[4] == max_steps
    assert found.ok.sum() == 8


@pytest.mark.parametrize("dtype", DTYPES)
def test_steps_too_small_for_the_clock_are_an_underflow(dtype: torch.dtype) -> None:
    late = 1e10  # a jump here cannot be resolved to 1e-9: the clock ticks in 2e-6
    times, values = [[late, late + 1, late + 2]] * 2, [[[0.0], [9.0], [9.0]], [[1.0], [1.0], [1.0]]]
    path = Rectilinear.fit(SeriesSet.from_arrays(times, values), dtype=dtype)
    field, h0 = AntiFeedbackGRU(1, 3).to(dtype), torch.zeros(2, 3, dtype=dtype)
    tolerance = 1e-9 if dtype == torch.float64 else 1e-5
    found = solve(field, path, h0, rtol=0.0, atol=tolerance, backend="native")
    expected = solve(field, path, h0, rtol=0.0, atol=tolerance, backend="reference")
    if dtype == torch.float64:
        assert found.status.tolist() == [Status.STEP_UNDERFLOW, Status.OK]
    assert torch.equal(found.status, expected.status)


@every_field
def test_a_series_of_one_observation_at_its_start_costs_nothing(name: str) -> None:
    series = SeriesSet.from_arrays(
        [[0.0], [0.0, 1.0], [2.0]], [[[1.0]], [[1.0], [2.0]], [[3.0]]], start=[0.0, 0.0, 0.0]
    )
    path = NaturalCubic.fit(series, dtype=torch.float64)
    field, h0 = EVERY[name](1, 3).double(), torch.randn(3, 3).double()
    found = assert_like_reference(field, path, h0, **LOOSE)
    assert found.evaluations[0] == 0
    assert torch.equal(found.states[0, 0], h0[0])
    assert found.ok.all()
    _, gradients = solve_with_gradients(field, path, h0, backend="native", **LOOSE)
    torch.testing.assert_close(gradients["h0"][0], torch.cos(torch.arange(3).double()))


@pytest.mark.parametrize("kind", [NaturalCubic, Linear, Rectilinear])
@pytest.mark.parametrize("name", ["anti", "controlled"])
def test_a_hundred_thousand_observations_are_read_right(kind, name: str) -> None:
    rng = np.random.default_rng(0)
    times = np.sort(rng.uniform(0, 5, 100_000))
    values = np.stack([np.sin(3 * times), np.cos(times)], axis=1)
    path = kind.fit(SeriesSet.from_arrays([times, times[::1000]], [values, values[::1000]]), dtype=torch.float64)
    field, h0 = EVERY[name](2, 4).double(), torch.zeros(2, 4).double()
    tolerance = 1e-4 if name == "anti" else 1e-2
    found = assert_like_reference(field, path, h0, rtol=tolerance, atol=tolerance)
    assert found.ok.all()


def test_an_empty_batch_gives_empty_results() -> None:
    path = smooth_path(2, torch.float32)
    empty = Path(
        times=path.times[:0],
        values=path.values[:0],
        slopes=path.slopes[:0],
        begin=path.begin[:0],
        end=path.end[:0],
        t0=path.t0[:0],
        t1=path.t1[:0],
        present=path.present[:0],
    )
    field = AntiFeedbackGRU(3, 4)
    found = solve(field, empty, torch.zeros(0, 4), backend="native", **LOOSE)
    assert found.states.shape == (0, 1, 4)
    found.states.sum().backward()
    assert not field.weight_hh.grad.any()
