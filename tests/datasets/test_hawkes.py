"""Hawkes times against the closed-form mean and against an independent thinning simulation."""

import numpy as np
import numpy.typing as npt
import pytest
from scipy.stats import ks_2samp

from denots.datasets.hawkes import draw_hawkes

Floats = npt.NDArray[np.float64]
BRANCHING = 0.5


def draw(n: int, rate: float, horizon: float, seed: int, gap: float = 1e-5) -> list[Floats]:
    rng = np.random.default_rng(seed)
    times, offsets = draw_hawkes(
        rng, rate=np.full(n, rate), horizon=np.full(n, horizon), branching=BRANCHING, minimum_gap=gap
    )
    return np.split(times, offsets[1:-1])


def thin(rate: float, horizon: float, rng: np.random.Generator) -> Floats:
    """Ogata's thinning: propose at the present intensity, which only falls until the next event."""
    times: list[float] = []
    now, excitement = 0.0, 0.0
    while True:
        bound = rate + excitement
        gap = rng.exponential(1 / bound)
        now += gap
        if now >= horizon:
            return np.array(times)
        excitement *= np.exp(-gap)
        if rng.uniform() * bound <= rate + excitement:
            times.append(now)
            excitement += BRANCHING


def expected_count(rate: float, horizon: float) -> float:
    rest = 1 - BRANCHING
    return rate * (horizon / rest - BRANCHING / rest**2 * (1 - np.exp(-rest * horizon)))


@pytest.mark.parametrize(("rate", "horizon"), [(50.0, 4.0), (2.0, 10.0), (20.0, 0.5)])
def test_the_mean_count_is_the_closed_form(rate: float, horizon: float) -> None:
    counts = np.array([len(times) for times in draw(4000, rate, horizon, seed=1)])
    error = counts.std() / np.sqrt(len(counts))
    assert abs(counts.mean() - expected_count(rate, horizon)) < 4 * error + 1e-3 * counts.mean()


def test_counts_and_gaps_follow_the_law_of_thinning() -> None:
    rate, horizon = 15.0, 4.0
    ours = draw(1500, rate, horizon, seed=2)
    rng = np.random.default_rng(3)
    theirs = [thin(rate, horizon, rng) for _ in range(1500)]

    def statistics(runs: list[Floats]) -> dict[str, Floats]:
        usable = [times for times in runs if len(times) > 20]
        return {
            "count": np.array([float(len(times)) for times in runs]),
            "first": np.array([times[0] for times in usable]),
            "early gap": np.array([times[6] - times[5] for times in usable]),
            "late gap": np.array([times[-1] - times[-2] for times in usable]),
            "count in the first half": np.array([float((times < horizon / 2).sum()) for times in runs]),
        }

    a, b = statistics(ours), statistics(theirs)
    for name in a:
        assert ks_2samp(a[name], b[name]).pvalue > 0.005, name


def test_events_attract_each_other() -> None:
    counts = np.array([len(times) for times in draw(3000, 10.0, 10.0, seed=4)])
    assert counts.var() / counts.mean() > 2.0  # a Poisson process has 1; the limit here is 1 / (1 - 0.5)^2 = 4


def test_times_increase_inside_the_horizon_with_the_minimum_gap() -> None:
    gap = 1e-3  # large enough to drop many events
    for times in draw(200, 50.0, 4.0, seed=5, gap=gap):
        assert (np.diff(times, prepend=0.0) >= gap).all()
        assert times[-1] < 4.0


def test_the_published_gap_drops_fewer_than_one_event_in_a_thousand() -> None:
    with_gap = sum(map(len, draw(500, 50.0, 4.0, seed=6)))
    without = sum(map(len, draw(500, 50.0, 4.0, seed=6, gap=0.0)))
    assert 0 < without - with_gap < 1e-3 * without


def test_processes_with_their_own_rates_and_horizons_stay_apart() -> None:
    rng = np.random.default_rng(7)
    rate, horizon = np.array([0.0, 100.0, 1.0, 0.0]), np.array([1.0, 2.0, 3.0, 4.0])
    times, offsets = draw_hawkes(rng, rate=rate, horizon=horizon, branching=BRANCHING, minimum_gap=0.0)
    runs = np.split(times, offsets[1:-1])
    assert len(offsets) == 5
    assert len(runs[0]) == len(runs[3]) == 0
    assert len(runs[1]) > 100
    assert all((run < end).all() for run, end in zip(runs, horizon, strict=True))
