"""Sets and intervals, judged by closed forms, by numpy and by how often they hold the truth of new series."""

import math
import warnings
from pathlib import Path

import numpy as np
import pytest

import denots
from denots.data.series import SeriesSet
from denots.errors import InvalidFolder, InvalidOption, UnknownName
from denots.estimators import SeriesClassifier, SeriesForecaster, SeriesRegressor
from denots.estimators.conformal import Calibration, quantiles
from denots.inference.folder import CALIBRATION
from wave_series import FAST, waves

pytestmark = pytest.mark.filterwarnings("ignore::denots.errors.UnusualSeries")  # a few of thousands of drawn series are
TRAINED = {name: value for name, value in FAST.items() if name not in ("random_state", "depth")}


def noisy(n: int, seed: int) -> SeriesSet:
    """Waves whose level is told with an error that is ten times as large in ward 1."""
    series, rng = waves(n, seed), np.random.default_rng(seed + 1000)
    ward = rng.integers(0, 2, n).astype(np.float64)
    target = series.target + rng.normal(size=n) * np.where(ward == 1, 1.0, 0.1)
    return SeriesSet.from_arrays(
        [one.times for one in series],
        [one.values for one in series],
        target=target,
        static=ward[:, None],
        static_names=["ward"],
        channels=series.channels,
    )


def classed(series: SeriesSet) -> SeriesSet:
    return series.with_target(np.where(series.target > 2.5, "high", "low"))


def plausible(covered: float, n: int, coverage: float, calibrated: int) -> bool:
    """Whether a share of n new series is what so many calibrated ones may give."""
    spread = math.sqrt(coverage * (1 - coverage) * (1 / n + 1 / calibrated))
    return abs(covered - coverage) < 4 * spread


@pytest.fixture(scope="module")
def regressor() -> SeriesRegressor:
    return SeriesRegressor("summary").fit(noisy(500, 0))


@pytest.fixture(scope="module")
def classifier() -> SeriesClassifier:
    return SeriesClassifier("summary").fit(classed(noisy(500, 0)))


@pytest.fixture(scope="module")
def forecaster() -> SeriesForecaster:
    return SeriesForecaster("running-mean", validation_fraction=0.5, random_state=0).fit(waves(400))


class TestQuantiles:
    @pytest.mark.parametrize("coverage", [0.5, 0.8, 0.9, 0.95])
    def test_are_those_of_numpy_at_the_level_for_one_more_value(self, coverage: float) -> None:
        table = np.random.default_rng(0).normal(size=(37, 3))
        level = math.ceil(38 * coverage) / 37
        wanted = np.quantile(table, level, axis=0, method="inverted_cdf")
        np.testing.assert_array_equal(quantiles(table, coverage), wanted)

    def test_hold_a_further_value_as_often_as_the_closed_form_says(self) -> None:
        rng = np.random.default_rng(0)
        draws = rng.exponential(size=(20_000, 25))
        held = [one[-1] <= quantiles(one[:-1, None], 0.8)[0] for one in draws]
        assert np.mean(held) == pytest.approx(20 / 25, abs=4 * math.sqrt(0.16 / 20_000))

    def test_of_too_few_values_are_infinite_and_unknown_ones_do_not_count(self) -> None:
        column = np.array([[1.0, 2.0, np.nan], [3.0, np.nan, np.nan], [2.0, 5.0, np.nan]])
        np.testing.assert_array_equal(quantiles(column, 0.75), [3.0, np.inf, np.inf])
        np.testing.assert_array_equal(quantiles(column, 0.6), [3.0, 5.0, np.inf])


class TestCoverage:
    @pytest.mark.parametrize("coverage", [0.8, 0.9])
    def test_intervals_hold_the_truth_of_new_series(self, regressor: SeriesRegressor, coverage: float) -> None:
        new = noisy(2000, 5)
        low, high = regressor.predict_interval(new, coverage).T
        assert plausible(np.mean((low <= new.target) & (new.target <= high)), 2000, coverage, 500)
        np.testing.assert_allclose((low + high) / 2, regressor.predict(new))

    @pytest.mark.parametrize("coverage", [0.8, 0.95])
    def test_sets_hold_the_class_of_new_series(self, classifier: SeriesClassifier, coverage: float) -> None:
        new = classed(noisy(2000, 5))
        held = classifier.predict_set(new, coverage)
        truth = np.searchsorted(classifier.classes_, new.target)
        assert plausible(held[np.arange(2000), truth].mean(), 2000, coverage, 500)

    def test_in_each_group_where_it_is_asked_for(self, regressor: SeriesRegressor) -> None:
        new = noisy(2000, 5)
        for groups, expected in ((None, False), ("ward", True)):
            low, high = regressor.predict_interval(new, 0.8, groups=groups).T
            held = (low <= new.target) & (new.target <= high)
            shares = [held[new.static[:, 0] == ward].mean() for ward in (0, 1)]
            assert [plausible(share, 1000, 0.8, 250) for share in shares] == [expected, expected]

    @pytest.mark.filterwarnings("ignore:.*no finite limit")  # at the longest horizons of all
    def test_forecasts_hold_the_truth_of_new_series_between_and_beyond(self, forecaster: SeriesForecaster) -> None:
        new = waves(600, seed=7)
        scores = forecaster.evaluate(new, coverage=0.8, confidence=None)
        # Questions about one series are alike, so that there are about as many independent ones as series.
        assert plausible(scores.metrics["coverage"].model, 600, 0.8, 200)

    def test_in_each_class_where_it_is_asked_for(self) -> None:
        rare = [
            one.with_target(np.where(one.target > 4.2, "rare", "usual")) for one in (noisy(1500, 0), noisy(3000, 5))
        ]
        model = SeriesClassifier("summary").fit(rare[0])
        truth = np.searchsorted(model.classes_, rare[1].target)
        count, calibrated = np.bincount(truth), np.bincount(np.searchsorted(model.classes_, rare[0].target))
        shares = {}
        for groups in (None, "target"):
            held = model.predict_set(rare[1], 0.8, groups=groups)[np.arange(3000), truth]
            shares[groups] = [held[truth == k].mean() for k in (0, 1)]
        assert shares[None][0] < 0.7
        for k in (0, 1):
            assert plausible(shares["target"][k], count[k], 0.8, calibrated[k])

    def test_evaluate_counts_what_sets_hold(self, classifier: SeriesClassifier) -> None:
        new = classed(noisy(300, 6))
        found = classifier.evaluate(new, by="ward", coverage=0.9)
        held = classifier.predict_set(new, 0.9)
        own = held[np.arange(300), np.searchsorted(classifier.classes_, new.target)]
        assert found.metrics["coverage"].model == pytest.approx(own.mean())
        assert found.metrics["size"].model == pytest.approx(held.sum(axis=1).mean())
        ward = new.static[:, 0] == 1
        assert found.groups["1"].metrics["coverage"].model == pytest.approx(own[ward].mean())
        assert found.metrics["coverage"].low < own.mean() < found.metrics["coverage"].high


class TestSets:
    def test_grow_with_the_coverage(self, classifier: SeriesClassifier) -> None:
        new = classed(noisy(200, 6))
        small, large = classifier.predict_set(new, 0.7), classifier.predict_set(new, 0.95)
        assert (large | ~small).all()
        assert large.sum() > small.sum()

    def test_of_a_table_name_their_classes(self, classifier: SeriesClassifier) -> None:
        new = classed(noisy(50, 6))
        table = classifier.predict_table(new, coverage=0.95)
        named = {(True, True): "{high, low}", (True, False): "{high}", (False, True): "{low}", (False, False): "{}"}
        assert list(table["set"]) == [named[tuple(row)] for row in classifier.predict_set(new, 0.95).tolist()]

    def test_of_a_series_without_an_answer_exclude_nothing(self, classifier: SeriesClassifier) -> None:
        limits = np.full((2, 1), 0.3)
        region = classifier.task_.region(np.array([[np.nan, np.nan], [0.9, 0.1]]), limits)
        assert region.tolist() == [[True, True], [True, False]]


class TestForecasts:
    def test_one_array_a_series_gives_the_same_intervals(self, forecaster: SeriesForecaster) -> None:
        new = waves(5, seed=7)
        ends = [one.times[-1] for one in new]
        together = forecaster.predict_interval(new, np.array(ends)[:, None] + [0.1, 0.3], 0.8)
        each = forecaster.predict_interval(
            new, [[end + 0.1, end + 0.3][: 1 + k % 2] for k, end in enumerate(ends)], 0.8
        )
        for k, own in enumerate(each):
            np.testing.assert_array_equal(own, together[k, : 1 + k % 2])
        assert together.shape == (5, 2, 2, 2)

    def test_what_is_asked_further_ahead_is_told_less_exactly(self) -> None:
        rng = np.random.default_rng(0)
        walks = [np.cumsum(rng.normal(size=40)) for _ in range(300)]  # after k steps, the spread is that of sqrt(k)
        series = SeriesSet.from_arrays([np.arange(40.0)] * 300, walks)
        model = SeriesForecaster("hold", validation_fraction=0.5, random_state=0).fit(series)
        low, high = np.moveaxis(model.predict_interval(series.select([0]), [41.0, 46.0, 51.0, 56.0], 0.8), -1, 0)
        width = (high - low)[0, :, 0]
        assert (np.diff(width) > 0).all()
        wanted = 2 * 1.2816 * np.sqrt([3, 8, 13, 18])  # in the middle of each span
        np.testing.assert_allclose(width, wanted, rtol=0.25)

    def test_further_ahead_than_anything_held_out_nothing_is_excluded(self, forecaster: SeriesForecaster) -> None:
        new = waves(3, seed=7)
        with pytest.warns(UserWarning, match="none reaches so far ahead"):
            found = forecaster.predict_interval(new, [1e6], 0.8)
        assert np.isinf(found).all()

    @pytest.mark.filterwarnings("ignore:.*no finite limit")
    def test_a_system_that_learns_from_every_series_in_the_end_is_calibrated_before(self) -> None:
        model = SeriesForecaster(options={"questions": 2000, "rounds": 5}, validation_fraction=0.5, random_state=0).fit(
            waves(400)
        )
        scores = model.evaluate(waves(600, seed=7), coverage=0.8, confidence=None)
        assert plausible(scores.metrics["coverage"].model, 600, 0.8, 200)


class TestFolder:
    def test_a_loaded_model_gives_the_same_intervals(self, regressor: SeriesRegressor, tmp_path: Path) -> None:
        regressor.save(tmp_path / "m")
        again = denots.load(tmp_path / "m")
        new = noisy(20, 9)
        for groups in (None, "ward"):
            np.testing.assert_array_equal(
                again.predict_interval(new, groups=groups), regressor.predict_interval(new, groups=groups)
            )

    def test_a_folder_from_before_loads_and_says_what_to_do(self, tmp_path: Path) -> None:
        model = SeriesRegressor("summary").fit(noisy(60, 0))
        model.calibration_ = None
        model.save(tmp_path / "m")
        again = denots.load(tmp_path / "m")
        np.testing.assert_array_equal(again.predict(noisy(5, 1)), model.predict(noisy(5, 1)))
        with pytest.raises(InvalidOption, match=r"no held-out answers .* Fit it again"):
            again.predict_interval(noisy(5, 1))
        (tmp_path / "m" / CALIBRATION).write_bytes(b"a note beside the model")  # not in the manifest, so not read
        assert denots.load(tmp_path / "m").calibration_ is None

    def test_arrays_that_do_not_fit_are_refused(self, tmp_path: Path) -> None:
        model = SeriesRegressor("summary").fit(noisy(60, 0))
        model.calibration_ = Calibration(np.zeros((5, 1)), np.zeros((4, 1)), np.zeros(0))
        model.save(tmp_path / "m")
        with pytest.raises(InvalidFolder, match="do not fit each other"):
            denots.load(tmp_path / "m")


def test_trained_systems_are_calibrated_by_their_validation_part() -> None:
    model = SeriesRegressor("gru", options=TRAINED, random_state=0).fit(noisy(60, 0))
    assert len(model.calibration_.misfit) == model.validation_size_ == 9


def test_a_group_with_too_few_answers_is_named_and_nothing_excluded(regressor: SeriesRegressor) -> None:
    new = noisy(10, 3)
    rare = SeriesSet.from_arrays(
        [one.times for one in new],
        [one.values for one in new],
        static=np.array([[7.0]] + [[0.0]] * 9),
        static_names=["ward"],
        channels=new.channels,
    )
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        found = regressor.predict_interval(rare, groups="ward")
    assert any("1 series of group 7 have no finite limit" in str(one.message) for one in said)
    assert np.isinf(found[0]).all()
    assert np.isfinite(found[1:]).all()


def test_what_cannot_be_promised_is_refused(regressor: SeriesRegressor) -> None:
    new = noisy(5, 1)
    with pytest.raises(InvalidOption, match="coverage lies between 0 and 1"):
        regressor.predict_interval(new, 90)
    with pytest.raises(InvalidOption, match=r"0.999 needs at least 999 held-out answers, and the model has 500"):
        regressor.predict_interval(new, 0.999)
    with pytest.raises(UnknownName, match="ward"):
        regressor.predict_interval(new, groups="wrad")
