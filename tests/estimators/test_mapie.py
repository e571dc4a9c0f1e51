"""Sets and intervals are those of MAPIE, given the same model and the same series to calibrate with."""

import numpy as np
import pytest
from mapie.classification import SplitConformalClassifier
from mapie.regression import SplitConformalRegressor

from denots.estimators import SeriesClassifier, SeriesRegressor

LEVELS = [0.5, 0.8, 0.9, 0.95]
pytestmark = pytest.mark.filterwarnings("ignore::denots.errors.UnusualSeries")


def rows(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Series of ten steps, which MAPIE takes as rows, and their noisy level."""
    rng = np.random.default_rng(seed)
    level = rng.normal(size=n)
    return level[:, None] + 0.5 * rng.normal(size=(n, 10)), level + rng.normal(size=n)


def test_intervals_are_those_of_mapie() -> None:
    held = rows(150, 1)
    model = SeriesRegressor("trees", random_state=0).fit(*rows(150, 0), validation=held)
    peer = SplitConformalRegressor(model, confidence_level=LEVELS, prefit=True).conformalize(*held)
    new = rows(100, 2)[0]
    points, intervals = peer.predict_interval(new)
    np.testing.assert_array_equal(points, model.predict(new))
    for k, level in enumerate(LEVELS):
        np.testing.assert_allclose(model.predict_interval(new, level), intervals[..., k], rtol=1e-12)


@pytest.mark.parametrize("classes", [2, 4])
def test_sets_are_those_of_mapie(classes: int) -> None:
    cuts = np.linspace(-1, 1, classes + 1)[1:-1]
    (X, y), (X_held, y_held) = rows(200, 0), rows(200, 1)
    held = X_held, np.searchsorted(cuts, y_held)
    model = SeriesClassifier("trees", random_state=0).fit(X, np.searchsorted(cuts, y), validation=held)
    peer = SplitConformalClassifier(model, confidence_level=LEVELS, prefit=True).conformalize(*held)
    new = rows(100, 2)[0]
    sets = peer.predict_set(new)[1]
    assert 0 < sets[..., -1].sum() < sets[..., -1].size
    for k, level in enumerate(LEVELS):
        np.testing.assert_array_equal(model.predict_set(new, level), sets[..., k])
