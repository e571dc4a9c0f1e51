"""The card of a model: every task, any number of classes, and what is bad about a table stays in its place."""

import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import denots
from denots.card import build_card
from denots.card import robustness as spoilt
from denots.card.judged import Judged
from denots.data.ranges import Ranges
from denots.data.series import SeriesSet
from denots.errors import InvalidOption

HEADINGS = re.compile(r"<h2 id=[^>]*>(.*?)</h2>")


def wards(n: int, seed: int, classes: int = 2) -> SeriesSet:
    """Patients whose pulse rises the faster the higher their class."""
    rng = np.random.default_rng(seed)
    target = np.arange(n) % classes
    times = [np.sort(rng.uniform(0, 48, rng.integers(4, 12))) for _ in target]
    values = [
        np.stack([70 + k * t + rng.normal(0, 20, len(t)), rng.normal(0, 1, len(t))], 1)
        for k, t in zip(target, times, strict=True)
    ]
    for table in values:
        table[1:, 1][rng.random(len(table) - 1) < 0.5] = np.nan
    return SeriesSet.from_arrays(
        times, values, target=np.array([f"c{k}" for k in target]), channels=["pulse", "<noise>"], time_unit="h",
        static=rng.integers(20, 90, (n, 1)).astype(float), static_names=["age"],
    )  # fmt: skip


@pytest.fixture(scope="module")
def classifier() -> Any:
    return denots.SeriesClassifier("summary").fit(wards(80, 0))


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    for place in ("card.robustness.RESAMPLES", "card.coverage.RESAMPLES", "tasks.scores.RESAMPLES"):
        monkeypatch.setattr(f"denots.{place}", 20)
    monkeypatch.setattr("denots.card.examples.PARTS", 2)


def check_whole(page: str) -> None:
    """Every tag that opens closes, in order; nothing comes from outside; no number is missing in the drawings."""
    opened: list[str] = []

    class Reader(HTMLParser):
        def handle_starttag(self, tag: str, attrs: Any) -> None:
            if tag == "svg":
                assert dict(attrs).get("aria-hidden") or dict(attrs)["aria-label"]
            if tag != "meta":
                opened.append(tag)

        def handle_endtag(self, tag: str) -> None:
            assert opened.pop() == tag

    Reader().feed(page)
    assert opened == []
    assert "http" not in page
    assert "<noise>" not in page
    assert not re.search(r'="[^"]*\b(nan|inf)\b', page)


def test_a_classifier_with_a_table_has_every_section(classifier: Any) -> None:
    test = wards(60, 1)
    page = build_card(classifier, test, by="age", title="wards")
    check_whole(page)
    assert HEADINGS.findall(page) == [
        "Model", "Training data", "What was tried", "Judgement", "Pictures of the answers", "Calibration", "Groups",
        "Robustness", "Examples",
    ]  # fmt: skip
    told = {name: score.model for name, score in classifier.evaluate(test).metrics.items()}
    shown = dict(re.findall(r"<tr><td>([^<]*)</td><td>([^<]*)</td>", page.split(">Judgement</h2>")[1]))
    assert {name: shown[name] for name in told} == {name: f"{value:.4f}" for name, value in told.items()}
    assert "80 with" in page
    assert "c0 50.0%, c1 50.0%" in page


def test_what_is_not_spoilt_has_the_metric_of_evaluate(classifier: Any) -> None:
    test = wards(60, 1)
    judged = Judged.of(classifier, test)
    value, low, high = spoilt.measure(judged, spoilt.sample(judged), spoilt.DISTURBANCES[0], 0.0)
    assert value == pytest.approx(classifier.evaluate(test, confidence=None).metrics["AUROC"].model)
    assert low <= value <= high


def test_a_model_alone_tells_what_it_has_seen(classifier: Any) -> None:
    page = build_card(classifier)
    check_whole(page)
    assert HEADINGS.findall(page) == ["Model", "Training data", "What was tried"]


def test_large_tables_are_sampled_and_the_page_says_so(classifier: Any) -> None:
    page = build_card(classifier, wards(60, 1), most=25)
    assert "60 series in the table, 25 judged, drawn at random." in page


def test_series_that_cannot_be_judged_are_named_and_the_others_are_judged(classifier: Any) -> None:
    test = wards(60, 1)
    odd = test.with_target(np.array(["unheard of", *test.target[1:]]))  # type: ignore[index]
    wild = replace(odd, values=np.where(odd.owner()[:, None] == 1, 1e30, odd.values))
    page = build_card(classifier, wild)
    check_whole(page)
    assert "60 series in the table, 59 judged." in page
    assert "unheard of" in page
    assert "1 are unlike the training data." in page


def test_a_table_of_one_class_still_has_its_page(classifier: Any) -> None:
    test = wards(60, 1)
    page = build_card(classifier, test.select(np.flatnonzero(test.target == "c1")))
    check_whole(page)
    assert "Confusion." in page
    assert "ROC curve." not in page
    assert "AUROC is not defined on these series." in page


def test_ten_classes_have_their_page() -> None:
    model = denots.SeriesClassifier("summary").fit(wards(120, 0, classes=10))
    page = build_card(model, wards(60, 1, classes=10))
    check_whole(page)
    assert "The 8 most frequent of 10 classes." in page


@pytest.mark.parametrize("columns", [1, 2])
def test_regression_shows_residuals_of_each_target(columns: int) -> None:
    def with_numbers(series: SeriesSet) -> SeriesSet:
        target = np.stack([series.spans, series.lengths.astype(float)], 1)
        return series.with_target(target[:, 0] if columns == 1 else target)

    model = denots.SeriesRegressor("summary").fit(with_numbers(wards(80, 0)))
    page = build_card(model, with_numbers(wards(60, 1)))
    check_whole(page)
    assert page.count("<b>Residuals") == columns
    assert "Reliability" not in page
    assert "Coverage of sets or intervals." in page


def test_forecasts_have_fans_instead_of_explanations() -> None:
    model = denots.SeriesForecaster("running-mean").fit(wards(60, 0))
    page = build_card(model, wards(40, 1))
    check_whole(page)
    assert "Error by the time ahead." in page
    assert page.split(">Examples</h2>")[1].count("forecast, interval of 90%") >= 3
    assert "The running answer" not in page


def test_a_learning_curve_survives_saving(tmp_path: Path) -> None:
    model = denots.DeNOTSClassifier(depth=1, state_size=4, max_epochs=3, batches_per_epoch=1).fit(wards(40, 0))
    model.save(tmp_path / "model")
    again = denots.load(tmp_path / "model")
    assert again.fitted_.curve == model.fitted_.curve
    assert "Metric on validation series." in build_card(again)


def test_models_of_earlier_versions_lack_counts_and_have_their_card(classifier: Any) -> None:
    told = classifier.ranges_.as_json()
    earlier = Ranges.from_json({name: told[name] for name in told if name not in ("counts", "observed")}, "model.json")
    assert np.isnan(earlier.counts).all()
    assert earlier.values.tolist() == classifier.ranges_.values.tolist()


def test_a_model_of_rows_shows_what_it_told_of_each_row() -> None:
    series = wards(40, 0)
    labelled = replace(series, row_target=(series.values[:, 0] > 90).astype(np.float64))
    model = denots.RowPredictor("running-trees", options={"rounds": 5}, random_state=0).fit(labelled)
    page = build_card(model, model.read(labelled), most=12, title="rows")
    check_whole(page)
    assert "Every row." in page
    assert "AUROC of series" in page
    with pytest.raises(InvalidOption, match="a model of rows has an answer for each moment"):
        denots.explain.explain(model, labelled, "0")
