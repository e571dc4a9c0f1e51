"""The theorems of the paper in their corrected form, against closed forms, scipy and what refutes the printed form."""

import math
from itertools import pairwise

import numpy as np
import pytest
import torch
from scipy.integrate import quad, solve_ivp
from scipy.interpolate import CubicSpline

from denots.theory import error_bounds as errors
from denots.theory.expressiveness import in_signal, in_start, scaling_gap
from denots.theory.feedback import slope_at_zero, strengths
from denots.theory.forgetting import half_life, half_life_bound, influence, influence_bounds
from denots.theory.spline_error import EXACT, PRINTED, interval_error, natural_bound
from denots.theory.stability import InputToState


def state_under(noise, rate: float, end: float) -> float:
    return float(
        solve_ivp(lambda t, d: -rate * d + noise(t), (0, end), [0.0], rtol=1e-9, atol=1e-12, max_step=end / 50).y[0, -1]
    )


@pytest.mark.parametrize("rate", [0.05, 0.45, 3.0])
def test_constant_noise_comes_up_to_the_pointwise_bound_and_not_beyond(rate: float) -> None:
    assert state_under(lambda t: 1.0, rate, 40 / rate) == pytest.approx(errors.pointwise_bound(rate, 1.0), rel=1e-6)


def test_the_printed_bound_is_refuted_by_a_field_that_meets_its_assumptions() -> None:
    rate = errors.rate_of(0.1, 0.5, 0.5)
    assert errors.attained_error() > 99 * errors.printed_bound(0.1, 0.5, 0.5, 1.0)
    assert errors.attained_error() == pytest.approx(errors.pointwise_bound(rate, 1.0) ** 2, rel=1e-6)


@pytest.mark.parametrize(("rate", "end"), [(0.3, 2.0), (0.3, 50.0), (2.0, 5.0)])
def test_averaged_noise_attains_the_final_bound_when_it_comes_late(rate: float, end: float) -> None:
    shape = quad(lambda s: math.exp(-2 * rate * (end - s)), 0, end, points=[end - 1 / rate])[0] / end
    found = state_under(lambda s: math.exp(-rate * (end - s)) / math.sqrt(shape), rate, end)
    assert found == pytest.approx(errors.final_bound(rate, 1.0, end), rel=1e-5)
    assert errors.late_noise_error(end, rate) <= errors.final_bound(rate, 1.0, end) ** 2


@pytest.mark.parametrize("seed", range(5))
def test_the_mean_square_of_the_error_stays_below_that_of_the_noise_over_the_rate(seed: int) -> None:
    rng = np.random.default_rng(seed)
    rate, step = rng.uniform(0.1, 2), 0.01
    noise = np.repeat(rng.normal(size=100), 20)
    error, found = 0.0, []
    for push in noise:
        error = error * math.exp(-rate * step) + push * (1 - math.exp(-rate * step)) / rate
        found.append(error)
    assert np.mean(np.square(found)) <= errors.mean_square_bound(rate, float(np.sqrt(np.mean(noise**2))))


def test_errors_of_steps_fade_and_do_not_count_their_number() -> None:
    steps, each = [0.5] * 200, [1e-3] * 200
    left = 0.0
    for width, error in zip(steps, each, strict=True):
        left = left * math.exp(-0.4 * width) + error
    assert errors.solver_bound(0.4, each, steps) == pytest.approx(left, rel=1e-12)
    assert left < 0.1 * sum(each)


def test_interpolation_enters_through_a_and_its_mean_is_the_sum_over_the_gaps() -> None:
    assert errors.noise_of_interpolation(0.5, 2.0, 0.1) == pytest.approx(0.1)
    gaps = np.array([0.0, 1.0, 3.0, 4.0])
    spent = [quad(lambda t: (0.2 * t) ** 2, a, b)[0] for a, b in pairwise(gaps)]
    judge = math.sqrt(quad(lambda t: (0.2 * t) ** 2, 0, 4)[0] / 4)
    assert errors.averaged_interpolation_error(spent, 4.0) == pytest.approx(judge)


def test_the_interval_error_is_that_of_a_natural_spline_through_an_integrated_walk() -> None:
    """The exact posterior variance of an integrated Wiener process, whose posterior mean is the natural spline."""
    knots, fine = np.arange(0.0, 25.0), np.linspace(12.0, 13.0, 201)

    def covariance(s, t):
        low, high = np.minimum(s, t), np.maximum(s, t)
        return low**2 * (high / 2 - low / 6) + 1e6 * (1 + s * t)

    whole = covariance(knots[:, None], knots)
    cross = covariance(fine[:, None], knots)
    variance = covariance(fine, fine) - np.einsum("ij,ji->i", cross, np.linalg.solve(whole, cross.T))
    found = np.trapezoid(variance, fine)
    assert found == pytest.approx(interval_error(1 / (2 * np.pi) ** 4, 1.0), rel=2e-3)
    assert interval_error(1.0, 0.5, 3) == pytest.approx(EXACT * 3 / 16)
    assert pytest.approx(1.2095, rel=1e-4) == PRINTED / EXACT


@pytest.mark.parametrize("even", [True, False])
@pytest.mark.parametrize("shape", ["parabola", "sine", "exponential", "quartic"])
def test_natural_splines_err_no_more_than_the_bound_ends_included(even: bool, shape: str) -> None:
    signal, second, fourth = {
        "parabola": (lambda t: t**2, lambda t: 2.0, 0.0),
        "sine": (lambda t: np.sin(5 * t), lambda t: -25 * math.sin(5 * t), 625.0),
        "exponential": (np.exp, math.exp, math.e),
        "quartic": (lambda t: t**4, lambda t: 12 * t**2, 24.0),
    }[shape]
    for seed in range(5):
        inner = np.sort(np.random.default_rng(seed).random(9))
        knots = np.linspace(0, 1, 11) if even else np.concatenate([[0.0], inner, [1.0]])
        fine = np.linspace(0, 1, 4001)[1:-1]
        error = np.abs(CubicSpline(knots, signal(knots), bc_type="natural")(fine) - signal(fine))
        bound = natural_bound(knots, fourth, (second(0.0), second(1.0)))
        assert (error <= bound[np.searchsorted(knots, fine) - 1] + 1e-12).all()
    clamped = 5 / 384 * 0.1**4 * fourth
    if even and shape == "parabola":
        assert error.max() > clamped + 9e-4


@pytest.mark.parametrize("seed", range(2))
def test_influence_is_the_derivative_of_the_final_state_and_lies_in_its_bounds(seed: int) -> None:
    rng = np.random.default_rng(seed)
    weight, drive = rng.normal(size=(4, 4)), rng.normal(size=4)

    def slope(t, h):
        return np.tanh(weight @ h + drive * np.sin(3 * t)) - 1.2 * h

    solved = solve_ivp(slope, (0, 3), rng.normal(size=4), rtol=1e-10, atol=1e-12, dense_output=True)
    steps = 60
    middle = (np.arange(steps) + 0.5) * 3 / steps

    def jacobian(t):
        return (1 - np.tanh(weight @ solved.sol(t) + drive * np.sin(3 * t)) ** 2)[:, None] * weight - 1.2 * np.eye(4)

    given = torch.from_numpy(np.stack([jacobian(t) for t in middle]))
    found = influence(given, torch.tensor(3 / steps, dtype=torch.float64))
    for k in (0, 45):
        start, begin, small = k * 3 / steps, solved.sol(k * 3 / steps), 1e-5
        moved = [
            solve_ivp(slope, (start, 3), begin + sign * small * row, rtol=1e-11, atol=1e-13).y[:, -1]
            for row in np.eye(4)
            for sign in (1, -1)
        ]
        judge = np.stack([(up - down) / (2 * small) for up, down in zip(moved[::2], moved[1::2], strict=True)], axis=1)
        np.testing.assert_allclose(found[k].numpy(), judge, atol=3e-3)
    low, high = influence_bounds(given, torch.tensor(3 / steps, dtype=torch.float64))
    sizes = torch.linalg.svdvals(found)
    assert (sizes[:, 0] <= high * (1 + 1e-9)).all()
    assert (sizes[:, -1] >= low * (1 - 1e-9)).all()


def test_the_half_life_is_where_the_influence_stays_below_one_half() -> None:
    lags = torch.arange(5.0)
    assert half_life(lags, torch.tensor([1.0, 0.4, 0.6, 0.3, 0.1])) == 3.0
    assert half_life(lags, torch.ones(5)) == math.inf
    assert half_life_bound(2.0) == pytest.approx(math.log(2) / 2)
    assert half_life_bound(-1.0) == math.inf


@pytest.mark.parametrize(("m_x", "m_h", "time"), [(1.0, 0.5, 2.0), (3.0, 2.0, 1.0), (0.2, 0.01, 5.0)])
def test_linear_fields_attain_what_a_state_can_tell_apart(m_x: float, m_h: float, time: float) -> None:
    apart = math.sqrt(quad(lambda s: math.exp(2 * m_h * (time - s)), 0, time)[0])
    solved = solve_ivp(
        lambda s, d: m_h * d + m_x * math.exp(m_h * (time - s)) / apart, (0, time), [0.0], rtol=1e-10, atol=1e-12
    )
    assert solved.y[0, -1] == pytest.approx(in_signal(m_x, m_h, time), rel=1e-7)
    started = solve_ivp(lambda s, d: m_h * d, (0, time), [1.0], rtol=1e-10, atol=1e-12).y[0, -1] - 1
    assert started == pytest.approx(in_start(m_h, time), rel=1e-6)


@pytest.mark.parametrize("seed", range(5))
def test_no_lipschitz_field_tells_more_apart_than_theorem_one_allows(seed: int) -> None:
    rng = np.random.default_rng(seed)
    weight, read = rng.normal(size=(3, 3)), rng.normal(size=3)
    m_h, m_x = np.linalg.norm(weight, 2), np.linalg.norm(read)
    a, b = rng.normal(size=(2, 6))

    def signal(row, t):
        return row @ np.sin(np.arange(1, 7) * t)

    ends = [
        solve_ivp(
            lambda t, h, r=row: np.tanh(weight @ h + read * signal(r, t)), (0, 1.5), np.zeros(3), rtol=1e-9, atol=1e-11
        )
        for row in (a, b)
    ]
    distance = math.sqrt(quad(lambda t: (signal(a, t) - signal(b, t)) ** 2, 0, 1.5)[0])
    assert np.linalg.norm(ends[0].y[:, -1] - ends[1].y[:, -1]) <= in_signal(m_x, m_h, 1.5) * distance


def test_at_no_growth_the_constant_in_the_signal_is_the_root_of_the_time() -> None:
    assert in_signal(2.0, 0.0, 9.0) == 6.0
    assert in_signal(2.0, 1e-9, 9.0) == pytest.approx(6.0)


@pytest.mark.parametrize("seed", range(4))
def test_states_of_a_contracting_field_with_biases_obey_input_to_state_stability(seed: int) -> None:
    rng = np.random.default_rng(seed)
    weight, read, bias = rng.normal(size=(4, 4)), rng.normal(size=4), rng.normal(size=4)
    weight *= 0.7 / np.linalg.norm(weight, 2)
    law = InputToState(rate=0.3, in_input=float(np.linalg.norm(read)), at_zero=float(np.linalg.norm(np.tanh(bias))))
    h0 = 50 * rng.normal(size=4)
    times = np.linspace(0, 30, 61)
    solved = solve_ivp(
        lambda t, h: np.tanh(weight @ h + read * 0.5 * np.sin(t * t) + bias) - h,
        (0, 30),
        h0,
        t_eval=times,
        rtol=1e-8,
        atol=1e-10,
    )
    norms = np.linalg.norm(solved.y, axis=0)
    assert all(norm <= law.bound(np.linalg.norm(h0), 0.5, t) + 1e-6 for norm, t in zip(norms, times, strict=True))
    assert norms[-1] > law.gamma(0.5) * 0.01  # without the offset it would be false where biases push
    assert (law.beta(0.0, 1.0), law.gamma(0.0)) == (0.0, 0.0)


def test_what_the_paper_measures_says_nothing_of_the_operator_norm_and_a_gru_is_not_zero_at_zero() -> None:
    assert strengths() == (pytest.approx(0.0), pytest.approx(1.0))
    assert slope_at_zero() > 0.1


def test_a_depth_is_a_gain() -> None:
    assert scaling_gap() < 1e-9
