"""Fitted models of which it is known what moves them."""

import numpy as np
import pytest

from denots import SeriesClassifier, SeriesRegressor, SeriesSet


def drawn_series(n: int = 60, seed: int = 0) -> SeriesSet:
    """Ragged series with holes; the level of channel `told` and the static feature `age` decide, `noise` does not."""
    rng = np.random.default_rng(seed)
    times, values = [], []
    level, age = rng.normal(size=n), rng.normal(size=n)
    for own in level:
        length = rng.integers(6, 12)
        times.append(np.sort(rng.uniform(0, 10, length)))
        table = np.stack([own + 0.1 * rng.normal(size=length), rng.normal(size=length)], axis=1)
        table[rng.random(table.shape) < 0.2] = np.nan
        table[0] = own, 0.0
        values.append(table)
    return SeriesSet.from_arrays(
        times,
        values,
        target=3 * level + age,
        static=age[:, None],
        static_names=["age"],
        channels=["told", "noise"],
        start=0.0,
        ids=[f"s{k}" for k in range(n)],
    )


@pytest.fixture(scope="session")
def series() -> SeriesSet:
    return drawn_series()


@pytest.fixture(scope="session")
def regressor(series: SeriesSet) -> SeriesRegressor:
    return SeriesRegressor("summary", random_state=0).fit(series)


@pytest.fixture(scope="session")
def classifier(series: SeriesSet) -> SeriesClassifier:
    target = np.where(np.asarray(series.target) > 0, "high", "low")
    return SeriesClassifier("summary", random_state=0).fit(series, target)
