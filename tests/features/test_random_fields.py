"""Random fields against scipy and brute force, and the promises of a transformer."""

from itertools import pairwise

import numpy as np
import pytest
import torch
from scipy.integrate import solve_ivp
from sklearn.base import clone

from denots.data.series import SeriesSet
from denots.errors import InvalidOption, SolverFailure
from denots.features import RandomFields, random_fields
from denots.features.random_fields import KINDS, build_field, pool, quantiles
from denots.ode import Solution, Trajectory


def gappy(n: int = 12, channels: int = 2, seed: int = 0) -> SeriesSet:
    rng = np.random.default_rng(seed)
    times = [np.sort(rng.uniform(0, 5, rng.integers(4, 30))) for _ in range(n)]
    values = [np.sin(t[:, None] * np.arange(1, channels + 1)) + rng.normal(size=(len(t), channels)) for t in times]
    for table in values:
        table[1:][rng.random(table[1:].shape) < 0.3] = np.nan
    return SeriesSet.from_arrays(times, values)


def zigzags(lengths: tuple[int, ...], states: int = 3) -> Trajectory:
    rng = np.random.default_rng(1)
    times = np.concatenate([np.cumsum(rng.uniform(0.01, 2.0, length)) for length in lengths])
    count = torch.tensor(lengths)
    zero = torch.zeros(len(lengths), dtype=torch.int64)
    rows = torch.from_numpy(rng.normal(size=(sum(lengths), states)))
    offsets = torch.cat([torch.zeros(1, dtype=torch.int64), count.cumsum(0)])
    last = offsets[1:] - 1
    times = torch.from_numpy(times)
    solution = Solution(rows[last][:, None], zero, zero, count - 1, zero, times[last], "native")
    return Trajectory(times, rows, offsets, solution)


def on_a_grid(found: Trajectory, row: int, state: int, points: int = 400_001) -> tuple[np.ndarray, np.ndarray]:
    own = slice(found.offsets[row], found.offsets[row + 1])
    times = found.times[own].numpy()
    grid = np.linspace(times[0], times[-1], points)
    return grid, np.interp(grid, times, found.states[own, state].numpy())


def test_pools_are_those_of_the_straight_lines_between_steps_on_a_fine_grid() -> None:
    found = zigzags((40, 2, 7))
    threshold = np.array([[-0.3, 0.0, 9.0], [0.4, -9.0, 1.0]])
    pooled = pool(found, threshold)
    assert pooled.shape == (3, 6, 3)
    for row in range(3):
        for state in range(3):
            grid, y = on_a_grid(found, row, state)
            mean = np.trapezoid(y, grid) / (grid[-1] - grid[0])
            shares = [(y > level).mean() for level in threshold[:, state]]
            wanted = [*shares, y[-1], mean, y.max(), y.min()]
            np.testing.assert_allclose(pooled[row, :, state], wanted, atol=1e-4)


def test_a_lone_state_is_above_a_threshold_for_all_of_the_time_or_for_none() -> None:
    found = zigzags((1, 5, 1))
    level = found.states[0].numpy()
    above, below = pool(found, np.stack([level - 0.1, level]))[0, :2]
    assert (above.tolist(), below.tolist()) == ([1.0] * 3, [0.0] * 3)
    np.testing.assert_array_equal(pool(found, level[None])[2, 1:], found.states[-1].expand(4, 3))


def test_thresholds_leave_the_wanted_share_of_time_below_them() -> None:
    found = zigzags((4000, 3000))
    found.states[:] = torch.sin(found.times[:, None] * torch.tensor([0.01, 0.02, 0.05]))
    below = np.random.default_rng(0).uniform(0.1, 0.9, (4, 3))
    levels = quantiles(found, below, np.arange(2))
    for state in range(3):
        both = np.concatenate([on_a_grid(found, row, state)[1] for row in range(2)])
        np.testing.assert_allclose([(both <= level).mean() for level in levels[:, state]], below[:, state], atol=0.01)


def test_every_kind_of_field_does_what_scipy_integrates(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    times = [np.sort(rng.uniform(0, 4, 6)) * (1 + k) + 50 * k for k in range(3)]  # they share no clock
    values = [rng.normal(size=(6, 2)) * [1, 5] for _ in times]
    series = SeriesSet.from_arrays(times, values)
    monkeypatch.setattr(random_fields, "TOLERANCE", 1e-6)
    features = RandomFields(3, 4).fit(series)
    told = features.transform(series).reshape(3, 3, 7, 4)
    flat = np.concatenate(values)
    span = np.median([t[-1] - t[0] for t in times])
    for row, (t, raw) in enumerate(zip(times, values, strict=True)):
        knots, x = (t - t[0]) / span, (raw - flat.mean(axis=0)) / flat.std(axis=0)
        slopes = np.diff(x, axis=0) / np.diff(knots)[:, None] / features.slope_scale_
        for k in range(3):
            grid, states = integrated(features, k, knots, x, slopes)
            mean = np.trapezoid(states, grid, axis=0) / grid[-1]
            wanted = [states[-1], mean, states.max(axis=0), states.min(axis=0)]
            np.testing.assert_allclose(told[row, k, 3:], wanted, atol=5e-3)
            share = (states[:, None] > features.threshold_[k]).mean(axis=0)
            np.testing.assert_allclose(told[row, k, :3], share, atol=0.01)


def integrated(
    features: RandomFields, k: int, knots: np.ndarray, x: np.ndarray, slopes: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Time and states of field k on a fine grid, by an adaptive solver that restarts at every kink."""
    field, depth = build_field(features.weights_, k, 4, 4).double(), features.depth_[k]
    grid = np.linspace(0, knots[-1], 20_001)
    h, found = np.zeros(4), [np.zeros((1, 4))]
    for piece, (low, high) in enumerate(pairwise(knots)):

        def slope(t: float, h: np.ndarray, piece: int = piece) -> np.ndarray:
            now = [np.interp(t, knots, channel) for channel in x.T]
            drive = torch.from_numpy(np.array([*now, *slopes[piece]]))
            with torch.no_grad():
                return (
                    depth
                    * field(torch.zeros(1, dtype=torch.float64), drive[None], torch.from_numpy(h)[None])[0].numpy()
                )

        inner = grid[(grid > low) & (grid <= high)]
        solved = solve_ivp(slope, (low, high), h, method="LSODA", rtol=1e-6, atol=1e-8, dense_output=True).sol
        found.append(solved(inner).T)
        h = solved(high)
    return grid, np.concatenate(found)


def test_a_row_is_the_same_alone_in_any_company_and_with_any_number_of_threads(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    series = gappy(40)
    features = RandomFields(6, 16).fit(series)
    whole = features.transform(series)
    assert whole.shape == (40, 6 * 7 * 16)
    assert np.array_equal(features.transform(series.select([7])), whole[[7]])
    monkeypatch.setattr(random_fields, "BLOCK", 9)
    threads = torch.get_num_threads()
    try:
        torch.set_num_threads(3)
        assert np.array_equal(features.transform(series.select(np.arange(40)[::-1])), whole[::-1])
        assert np.array_equal(RandomFields(6, 16).fit_transform(series), whole)
    finally:
        torch.set_num_threads(threads)


def test_the_seed_decides_the_fields_and_draws_nothing_from_torch() -> None:
    series = gappy()
    before = torch.get_rng_state()
    first = RandomFields(4, 8, random_state=3).fit(series)
    assert np.array_equal(clone(first).fit(series).transform(series), first.transform(series))
    assert not np.array_equal(RandomFields(4, 8, random_state=4).fit_transform(series), first.transform(series))
    assert torch.equal(torch.get_rng_state(), before)


def test_fields_differ_in_kind_depth_gain_and_radius() -> None:
    features = RandomFields(33, 32).fit(gappy())
    depths = np.log10(features.depth_)
    assert (depths.min() < 0.6, depths.max() > 1.7) == (True, True)
    for kind in KINDS:
        gains = features.weights_[f"{kind}.weight_ih"].std(axis=(1, 2)) * np.sqrt(8)  # 2 channels, counts, slopes
        radii = features.weights_[f"{kind}.weight_hh"].std(axis=(1, 2)) * np.sqrt(32)
        assert ((gains > 0.4) & (gains < 6)).all()
        assert ((radii > 0.4) & (radii < 2.7)).all()
        assert gains.max() > 2 * gains.min()
        assert radii.max() > 1.5 * radii.min()


def test_what_was_learnt_goes_through_arrays_and_back() -> None:
    series = gappy()
    fitted = RandomFields(5, 8, 2).fit(series)
    again = RandomFields(5, 8, 2).restore(fitted.state())
    assert np.array_equal(again.transform(series), fitted.transform(series))
    names = fitted.get_feature_names_out()
    assert len(set(names)) == len(names) == fitted.transform(series).shape[1]
    column = fitted.transform(series)[:, names.tolist().index("field3 state5 highest")]
    assert np.array_equal(column, fitted.transform(series).reshape(12, 5, 6, 8)[:, 3, 4, 5])


@pytest.mark.parametrize(("fields", "states", "thresholds"), [(4, 8, 2), (5, 9, 2), (5, 8, 3), (5, 2**20, 2)])
def test_arrays_of_other_sizes_are_refused(fields: int, states: int, thresholds: int) -> None:
    state = RandomFields(5, 8, 2).fit(gappy()).state()
    with pytest.raises(ValueError, match=r"has shape .* expected"):
        RandomFields(fields, states, thresholds).restore(state)
    with pytest.raises(ValueError, match=r"slope_scale has shape \(3,\); expected \(4,\)"):
        RandomFields(5, 8, 2).restore({**state, "slope_scale": state["slope_scale"][:3]})


def test_when_the_clock_began_and_its_unit_change_nothing() -> None:
    rng = np.random.default_rng(0)
    times = [np.sort(rng.permutation(256)[: rng.integers(5, 40)]) / 64 for _ in range(12)]
    values = [np.sin(3 * t) for t in times]
    later = [8 * t + 1024 for t in times]
    plain = RandomFields(6, 8).fit_transform(SeriesSet.from_arrays(times, values))
    assert np.array_equal(RandomFields(6, 8).fit_transform(SeriesSet.from_arrays(later, values)), plain)


def test_one_observation_and_a_long_silence_are_no_trouble() -> None:
    series = SeriesSet.from_arrays([[0.0], [0.0, 1e6], np.arange(50.0)], [[1.0], [0.0, 1.0], np.sin(np.arange(50.0))])
    assert np.isfinite(RandomFields(6, 8).fit_transform(series)).all()


def test_shares_are_shares_and_thresholds_divide_the_time_of_training_series() -> None:
    found = RandomFields(12, 16).fit_transform(gappy(60)).reshape(60, 12, 7, 16)
    shares = found[:, :, :3]
    assert 0 <= shares.min() <= shares.max() <= 1 + 1e-5
    assert 0.4 < shares.mean() < 0.6
    last, mean, highest, lowest = (found[:, :, 3 + k] for k in range(4))
    assert ((lowest <= last) & (last <= highest)).all()
    assert ((lowest <= mean + 1e-5) & (mean <= highest + 1e-5)).all()


def test_a_series_whose_slopes_overflow_is_nan_and_the_others_are_as_they_were() -> None:
    series = gappy(8, channels=1)
    features = RandomFields(3, 8).fit(series)
    plain = features.transform(series)
    wild = SeriesSet.from_arrays(
        [*(one.times for one in series), [0.0, 1e-9, 1.0]], [*(one.values for one in series), [1.0, 1e37, 2.0]]
    )
    found = features.transform(wild)
    assert np.isnan(found[8]).all()
    assert np.array_equal(found[:8], plain)


def test_a_training_series_that_cannot_be_solved_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(random_fields, "MOST_STEPS", 2)
    with pytest.raises(SolverFailure, match="12 of 12 series failed: series 0 reached max_steps"):
        RandomFields(3, 8).fit(gappy())


@pytest.mark.parametrize("option", ["fields", "states", "thresholds"])
def test_counts_below_one_are_refused(option: str) -> None:
    with pytest.raises(InvalidOption, match=f"{option} must be at least 1; got 0"):
        RandomFields(**{option: 0}).fit(gappy())
