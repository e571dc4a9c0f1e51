"""Systems with a ridge: what their score says of series that are left out."""

import numpy as np
import pytest

from denots import SeriesClassifier, SeriesSet


def noise(n: int, classes: int, seed: int) -> SeriesSet:
    """Series that say nothing of their class; each class has as many."""
    rng = np.random.default_rng(seed)
    times, values = np.sort(rng.uniform(0, 4, (n, 12))), rng.normal(size=(n, 12))
    return SeriesSet.from_arrays(times, values, target=rng.permutation(np.arange(n) % classes))


@pytest.mark.parametrize("system", ["oscillators", "summary"])
@pytest.mark.parametrize(("classes", "low", "high"), [(2, 0.42, 0.58), (3, 0.23, 0.43)])
def test_without_a_signal_the_score_is_that_of_guessing(system: str, classes: int, low: float, high: float) -> None:
    """Left out exactly, with its share of the mean, every series would be told to be of the other class."""
    models = [SeriesClassifier(system, random_state=0).fit(noise(60, classes, seed)) for seed in range(8)]
    assert low < np.mean([model.validation_score_ for model in models]) < high
