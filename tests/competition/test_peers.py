"""Even grids for peers, and who may compete."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.interpolate import interp1d
from sklearn.linear_model import LogisticRegressionCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from denots.competition.contest import Grid
from denots.competition.judge import judge
from denots.competition.peers import PEERS, Peer, channel_means, find_contender, on_grid
from denots.data.series import SeriesSet
from denots.errors import InvalidOption, UnknownName
from denots.tasks import Classification, Regression


def irregular(n: int = 12) -> SeriesSet:
    """Two pitches, irregular, with holes; the higher pitch is class 1."""
    rng = np.random.default_rng(0)
    times = [np.sort(rng.uniform(0, 6, rng.integers(20, 30))) for _ in range(n)]
    values = [np.column_stack([np.sin((1 + k % 2) * t), t]) for k, t in enumerate(times)]
    for table in values:
        table[rng.random(len(table)) < 0.2, 0] = np.nan
    return SeriesSet.from_arrays(times, values, target=np.arange(n) % 2)


@pytest.mark.parametrize("span", [(0.0, 6.0), None])
def test_values_lie_on_straight_lines_between_observations(span: tuple[float, float] | None) -> None:
    series = irregular()
    table = on_grid(series, Grid(50, span), np.zeros(2))
    for row, one in enumerate(series):
        begin, end = span or (one.times[0], one.times[-1])
        at = np.linspace(begin, end, 50)
        for channel in range(2):
            seen = ~np.isnan(one.values[:, channel])
            t, x = one.times[seen], one.values[seen, channel]
            expected = interp1d(t, x, bounds_error=False, fill_value=(x[0], x[-1]))(at)
            np.testing.assert_allclose(table[row, channel], expected, atol=1e-6)


def test_a_channel_that_was_never_seen_has_the_mean_of_the_others() -> None:
    series = SeriesSet.from_arrays([[0, 1], [0, 1]], [[[1, np.nan], [2, np.nan]], [[3, 4], [5, 8]]])
    assert channel_means(series).tolist() == [2.75, 6.0]
    table = on_grid(series, Grid(2, None), channel_means(series))
    assert table.shape == (2, 2, 10)
    assert (table[0, 1] == 6).all()


def test_logistic_regression_is_what_scikit_learn_makes_of_the_statistics() -> None:
    series = irregular(40)
    tell = PEERS["logistic"].fit(series, Classification, "AUROC", Grid(10, None), 0)
    rows = []
    for one in series:
        seen = [column[~np.isnan(column)] for column in one.values.T]
        rows.append([len(one.times), np.ptp(one.times)])
        rows[-1] += [f(x) for x in seen for f in (np.mean, np.min, np.max, lambda x: x[-1], len)]
    judge = make_pipeline(
        StandardScaler(),
        LogisticRegressionCV(
            Cs=8, l1_ratios=(0.0,), cv=5, scoring="neg_log_loss", max_iter=2000, use_legacy_attributes=False
        ),
    ).fit(np.array(rows), series.target)
    np.testing.assert_allclose(tell(series).shares, judge.predict_proba(np.array(rows)), atol=1e-4)
    with pytest.raises(InvalidOption, match="cannot learn numbers"):
        PEERS["logistic"].fit(series, Regression, "R2", Grid(10, None), 0)


def test_a_peer_that_is_not_installed_says_what_to_install() -> None:
    absent = Peer("mine", "", "no_such_module", "A", "B", shares=False)
    with pytest.raises(InvalidOption, match=r"'mine' needs aeon.*denots\[bench\]"):
        absent.check()


def test_names_are_peers_or_systems() -> None:
    assert find_contender("quant") is PEERS["quant"]
    assert find_contender("trees").name == "trees"
    with pytest.raises(UnknownName, match="'trees'"):
        find_contender("treees")


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # aeon's own
@pytest.mark.parametrize("name", ["minirocket", "multirocket-hydra", "quant"])
def test_peers_tell_pitches_apart_and_order_as_they_classify(name: str) -> None:
    train, test = irregular(40), irregular(60).select(range(40, 60))
    truth, grid = np.asarray(test.target), Grid(30, (0.0, 6.0))
    told, ordered = (PEERS[name].fit(train, Classification, metric, grid, 0)(test) for metric in ("accuracy", "AUROC"))
    assert judge(told, truth)["accuracy"] >= 0.9
    assert judge(ordered, truth)["AUROC"] >= 0.85
    np.testing.assert_array_equal(ordered.answers, told.answers)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("name", ["minirocket", "multirocket-hydra", "quant"])
def test_peers_tell_numbers(name: str) -> None:
    series = irregular(60)
    level = np.random.default_rng(1).normal(size=60)
    lifted = replace(series, values=series.values + np.repeat(level, series.lengths)[:, None], target=level)
    tell = PEERS[name].fit(lifted.select(range(40)), Regression, "R2", Grid(30, None), 0)
    assert judge(tell(lifted.select(range(40, 60))), level[40:])["R2"] > 0.5
