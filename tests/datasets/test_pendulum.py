"""Pendulum sets: the physics against scipy, the sampling and the gaps against their rules."""

import math

import numpy as np
import numpy.typing as npt
import pytest
from scipy.integrate import solve_ivp
from scipy.stats import kstest

from denots.datasets import pendulum, pendulum_angles
from denots.datasets.dataset import SplitSizes, stream
from denots.datasets.pendulum import CHUNK, PENDULUM, PENDULUM_SMALL, missing_rows, observation_times
from denots.datasets.pendulum_angles import PENDULUM_ANGLES, PENDULUM_ANGLES_REGULAR
from denots.datasets.pendulum_motion import Pendulums, angles_at

Floats = npt.NDArray[np.float64]
FEW = SplitSizes(300, 3, 3)


def scipy_angles(length: float, angle: float, velocity: float, damping: float, times: Floats) -> Floats:
    def motion(_: float, state: Floats) -> list[float]:
        return [state[1], -damping * state[1] - 9.81 / length * math.sin(state[0])]

    found = solve_ivp(motion, (0, times[-1]), [angle, velocity], method="DOP853", rtol=1e-12, atol=1e-12, t_eval=times)
    return found.y[0]


@pytest.mark.parametrize(
    ("lengths", "dampings", "horizon", "steps"),
    [((0.5, 10), (1, 3), 5.0, pendulum.SOLVER_STEPS), ((2, 4), (0.2, 0.5), 18.0, pendulum_angles.SOLVER_STEPS)],
    ids=["pendulum", "angles"],
)
def test_trajectories_agree_with_scipy(
    lengths: tuple[float, float], dampings: tuple[float, float], horizon: float, steps: int
) -> None:
    n, points = 40, 30
    rng = np.random.default_rng(0)
    length, damping = rng.uniform(*lengths, n), rng.uniform(*dampings, n)
    length[:10], damping[:10] = lengths[0], dampings[0]  # the fastest swings
    angle, velocity = rng.uniform(0, 2 * np.pi, n), rng.uniform(-np.pi, np.pi, n)
    times = np.sort(rng.uniform(0, horizon, (n, points)), axis=1)
    ours = angles_at(Pendulums(length, angle, velocity, damping), times.ravel(), np.arange(n + 1) * points, steps=steps)
    for i, row in enumerate(ours.reshape(n, points)):
        assert row == pytest.approx(scipy_angles(length[i], angle[i], velocity[i], damping[i], times[i]), abs=1e-6)


def test_a_pendulum_seen_only_at_release_has_its_first_angle() -> None:
    one = np.ones(1)
    assert angles_at(Pendulums(one, 0.7 * one, one, one), np.zeros(1), np.array([0, 1]), steps=8).tolist() == [0.7]


def test_small_undamped_swings_are_harmonic() -> None:
    times = np.linspace(0, 5, 50)
    alone = Pendulums(np.array([9.81]), np.array([1e-4]), np.zeros(1), np.zeros(1))
    assert angles_at(alone, times, np.array([0, 50]), steps=1024) == pytest.approx(1e-4 * np.cos(times), abs=1e-11)


def test_series_are_the_swings_of_their_drawn_pendulums() -> None:
    series = PENDULUM.generate(7, FEW)["train"]
    rng = stream(7, "pendulum", "train", 0, "motion")
    length, angle = rng.uniform(0.5, 10, CHUNK), rng.uniform(0, 2 * np.pi, CHUNK)
    velocity, _, damping = rng.uniform(-np.pi, np.pi, CHUNK), rng.uniform(3, 5, CHUNK), rng.uniform(1, 3, CHUNK)
    for i in (0, 17, 255):
        one = series[i]
        theta = scipy_angles(length[i], angle[i], velocity[i], damping[i], one.times)
        exact = np.stack([np.sin(theta), -np.cos(theta)], axis=1)
        seen = ~np.isnan(one.values)
        assert one.target == damping[i]
        assert one.values[seen] == pytest.approx(exact[seen], abs=1e-6)


def test_lengths_have_the_published_median_and_spread() -> None:
    lengths = PENDULUM_SMALL.generate(0, SplitSizes(1024, 1, 1))["train"].lengths
    assert np.median(lengths) == pytest.approx(315, abs=4)
    assert 200 <= lengths.min() < 260
    assert 380 < lengths.max() <= 450


def test_series_end_between_3_and_5_seconds_and_targets_lie_between_1_and_3() -> None:
    series = PENDULUM.generate(0, FEW)["train"]
    assert (series.ends < 5).all()
    assert 2.5 < series.ends.min() < 3.2
    assert (series.start == 0).all()
    assert (series.times[series.offsets[:-1]] > 0).all()
    assert kstest(series.target, "uniform", args=(1, 2)).pvalue > 0.01


def test_every_gap_between_observations_survives_float32() -> None:
    series = PENDULUM.generate(0, FEW)["train"]
    for one in series:
        assert (np.diff(one.times) >= 1e-5).all()
        assert (np.diff(one.times.astype(np.float32)) > 0).all()


def test_a_tenth_of_each_channel_is_missing_but_never_the_first_value() -> None:
    for one in PENDULUM.generate(0, FEW)["train"]:
        missing = np.isnan(one.values)
        assert missing.sum(axis=0).tolist() == [math.floor(0.1 * (len(one.times) - 1))] * 2
        assert not missing[0].any()


def test_missing_rows_are_uniform_and_independent_between_channels() -> None:
    n, length = 2000, 101
    offsets = np.arange(n + 1) * length
    rng = np.random.default_rng(0)
    x, y = (missing_rows(rng, offsets).reshape(n, length) for _ in range(2))
    per_place = x[:, 1:].sum(axis=0)  # binomial(2000, 0.1): mean 200, sd 13.4
    assert abs(per_place - 200).max() < 5 * 13.4
    assert (x & y).sum() / n == pytest.approx(10 * 10 / 100, abs=0.1)


@pytest.mark.parametrize("length", [1, 2, 10, 11, 21])
def test_short_series_lose_the_floor_of_a_tenth(length: int) -> None:
    missing = missing_rows(np.random.default_rng(0), np.array([0, length, length + 40]))
    assert missing[:length].sum() == math.floor(0.1 * (length - 1))
    assert missing[length:].sum() == 3


def test_fewer_than_five_events_become_five_equal_steps() -> None:
    horizon = np.linspace(3, 5, 200)
    times, offsets = observation_times(np.random.default_rng(0), horizon, mean_points=5)
    runs = np.split(times, offsets[1:-1])
    replaced = [run[0] == 0 for run in runs]
    assert 0 < sum(replaced) < 200
    for run, end, equal in zip(runs, horizon, replaced, strict=True):
        assert len(run) >= 5
        if equal:
            assert run == pytest.approx(np.linspace(0, end, 5))


def test_the_small_set_is_drawn_afresh() -> None:
    large, small = PENDULUM.generate(0, FEW), PENDULUM_SMALL.generate(0, FEW)
    assert not np.isin(small["train"].target, large["train"].target).any()


@pytest.mark.parametrize("recipe", [PENDULUM_ANGLES, PENDULUM_ANGLES_REGULAR], ids=lambda recipe: recipe.name)
def test_angles_swing_from_the_first_observation(recipe: object) -> None:
    series = recipe.generate(3, SplitSizes(20, 1, 1))["train"]  # type: ignore[attr-defined]
    rng = stream(3, recipe.name, "train", 0, "motion")  # type: ignore[attr-defined]
    length, angle = rng.uniform(2, 4, 256), rng.uniform(0, 2 * np.pi, 256)
    velocity, damping = rng.uniform(-np.pi, np.pi, 256), rng.uniform(0.2, 0.5, 256)
    for i, one in enumerate(series):
        exact = scipy_angles(length[i], angle[i], velocity[i], damping[i], one.times - one.times[0])
        assert one.values[:, 0] == pytest.approx(exact, abs=2e-6)  # float32 near 10 resolves 1e-6
        assert series.start[i] == 0


def test_irregular_angles_have_exponential_gaps_from_zero() -> None:
    series = PENDULUM_ANGLES.generate(0, SplitSizes(200, 1, 1))["train"]
    gaps = np.diff(series.times.reshape(200, 32), axis=1, prepend=0.0)
    assert kstest(gaps.ravel(), "expon", args=(0, 10 / 32)).pvalue > 0.01


def test_regular_angles_share_one_grid_to_10_seconds() -> None:
    series = PENDULUM_ANGLES_REGULAR.generate(0, SplitSizes(5, 1, 1))["train"]
    for one in series:
        assert one.times == pytest.approx([k * 10 / 31 for k in range(32)])
