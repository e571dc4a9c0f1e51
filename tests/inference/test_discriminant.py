"""Evidence, likelihoods and posteriors against the dense normal distribution of scipy, and what classes learn."""

from dataclasses import replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import pytest
import torch
from scipy.stats import multivariate_normal
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis

import denots
from denots import SeriesSet, kernels
from denots.errors import OutOfTime
from denots.heads import gaussians
from denots.heads.gaussians import fit_groups
from denots.inference.discriminant import Curves, Evidence, Weights, likelihoods
from denots.systems import SYSTEMS, Problem, Shape
from denots.systems.discriminant import fit_curves
from denots.tasks import TASKS


class Drawn(NamedTuple):
    series: SeriesSet
    curves: Curves


def drawn(n: int = 40, seed: int = 0) -> Drawn:
    """Two channels, rows at random times, a third of the cells missing."""
    rng = np.random.default_rng(seed)
    times = [np.sort(rng.uniform(0, 5, rng.integers(4, 12))) for _ in range(n)]
    values = [np.stack([np.sin(t + k), np.exp(rng.normal(size=len(t)))], axis=1) for k, t in enumerate(times)]
    for table in values:
        table[1:][rng.random(table[1:].shape) < 0.3] = np.nan
    series = SeriesSet.from_arrays(times, values, target=np.arange(n) % 2, start=0.0)
    return Drawn(series, fit_curves(series, np.arange(n), 6))


def cells(curves: Curves, series: SeriesSet, i: int) -> tuple[np.ndarray, np.ndarray]:
    """Directions and values, less the mean, at every observed cell of a series, by interpolation on the grid."""
    one = series.select(np.array([i]))
    drive = curves.grid.drive
    scores = (curves.ranks.keep_holes(one.values).astype(np.float64) - drive.scale.centre[:2]) / drive.scale.scale[:2]
    begin = drive.start if np.isfinite(drive.start) else one.times[0]
    end = drive.end if np.isfinite(drive.end) else one.times[-1]
    knots = np.linspace(begin, end if end > begin else begin + drive.span, curves.grid.points)
    rows, columns = [], []
    for channel in range(2):
        for time, value in zip(one.times, scores[:, channel], strict=True):
            if not np.isnan(value):
                columns.append(value - np.interp(time, knots, curves.mean[channel]))
                rows.append([np.interp(time, knots, along) for along in curves.directions[channel].T])
    return np.array(rows), np.array(columns)


def test_evidence_is_the_sum_over_observed_cells() -> None:
    series, curves = drawn()
    found = curves.evidence(series)
    for i in range(0, len(series), 7):
        x, y = cells(curves, series, i)
        np.testing.assert_allclose(found.gram[i], x.T @ x, rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(found.told[i], x.T @ y, rtol=1e-9, atol=1e-9)
        assert found.square[i] == pytest.approx(y @ y)
        assert found.seen[i] == len(y)


def weights_of(classes: int, size: int, seed: int) -> Weights:
    """Weights of any mean, with factors that are no triangles."""
    rng = np.random.default_rng(seed)
    return Weights(rng.normal(size=(classes, size)), rng.normal(size=(classes, size, size)) / np.sqrt(size))


def dense_log_density(x: np.ndarray, y: np.ndarray, mean: np.ndarray, factor: np.ndarray, noise: float) -> float:
    if not len(y):
        return 0.0
    return float(multivariate_normal(x @ mean, x @ factor @ factor.T @ x.T + noise * np.eye(len(y))).logpdf(y))


@pytest.mark.parametrize("directions", [1, 3, 8, 13])
@pytest.mark.parametrize("classes", [2, 5])
def test_likelihoods_are_those_of_the_dense_normal_distribution(directions: int, classes: int) -> None:
    series, curves = drawn()
    curves = fit_curves(series, np.arange(len(series)), directions)
    each, noise = weights_of(classes, directions, 1), 0.3
    found = each.log_likelihoods(curves.evidence(series), noise)
    for i in range(0, len(series), 5):
        x, y = cells(curves, series, i)
        wanted = [dense_log_density(x, y, mean, factor, noise) for mean, factor in zip(*each, strict=True)]
        constant = -0.5 * len(y) * np.log(2 * np.pi * noise)
        np.testing.assert_allclose(found[i] + constant, wanted, rtol=1e-7, atol=1e-7)


def test_the_posterior_is_that_of_conditioning_the_joint_distribution() -> None:
    series, curves = drawn()
    size, noise, of = curves.directions.shape[2], 0.2, np.arange(len(series)) % 3
    each = weights_of(3, size, 2)
    found, spread = each.posteriors(curves.evidence(series), of, noise)
    for i in range(0, len(series), 4):
        x, y = cells(curves, series, i)
        mean, factor = each.means[of[i]], each.factors[of[i]]
        prior = factor @ factor.T
        gain = prior @ x.T @ np.linalg.inv(x @ prior @ x.T + noise * np.eye(len(y)))
        np.testing.assert_allclose(found[i], mean + gain @ (y - x @ mean), rtol=1e-6, atol=1e-6)
        np.testing.assert_allclose(spread[i], prior - gain @ x @ prior, rtol=1e-6, atol=1e-6)


def odd_lengths() -> SeriesSet:
    """One row, one cell, hundreds of rows, and others between them."""
    rng = np.random.default_rng(8)
    times = [np.sort(rng.uniform(0, 5, n)) for n in (1, 3, 2, 400, 7, 12, 1, 33)]
    values = [rng.normal(size=(len(t), 2)) for t in times]
    values[2][:] = np.nan
    values[2][1, 0] = 0.5
    values[3][rng.random(values[3].shape) < 0.4] = np.nan
    return SeriesSet.from_arrays(times * 8, values * 8, start=0.0)


def test_series_of_any_length_are_told_by_what_was_observed() -> None:
    curves, series = drawn().curves, odd_lengths()[:8]
    found = curves.evidence(series)
    assert found.seen.tolist() == [(~np.isnan(series.values[a:b])).sum() for a, b in pairwise(series.offsets)]
    each, noise = weights_of(2, curves.directions.shape[2], 3), 0.4
    told = each.log_likelihoods(found, noise)
    for i in range(8):
        x, y = cells(curves, series, i)
        wanted = [dense_log_density(x, y, mean, factor, noise) for mean, factor in zip(*each, strict=True)]
        assert told[i, 1] - told[i, 0] == pytest.approx(wanted[1] - wanted[0], rel=1e-7, abs=1e-7)


def test_where_nothing_was_observed_classes_are_alike_and_weights_as_before() -> None:
    curves, series = drawn().curves, odd_lengths()[:8]
    series.values[series.offsets[4] : series.offsets[5]] = np.nan
    found, each = curves.evidence(series), weights_of(2, curves.directions.shape[2], 3)
    assert found.seen[4] == 0
    np.testing.assert_array_equal(each.log_likelihoods(found, 0.4)[4], 0.0)
    mean, covariance = each.posteriors(found, np.ones(8, np.int64), 0.4)
    np.testing.assert_array_equal(mean[4], each.means[1])
    np.testing.assert_allclose(covariance[4], each.factors[1] @ each.factors[1].T, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("target", kernels.targets())
def test_a_series_has_the_same_bits_alone_in_any_company_and_on_any_number_of_threads(
    target: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DENOTS_TARGET", target)
    curves, series = drawn().curves, odd_lengths()
    each = weights_of(3, curves.directions.shape[2], 4)

    def told(of: SeriesSet, threads: int) -> list[np.ndarray]:
        monkeypatch.setattr(kernels, "threads", lambda: threads)
        evidence = curves.evidence(of)
        classes = np.ones(len(of), np.int64)
        return [*evidence, each.log_likelihoods(evidence, 0.3), *each.posteriors(evidence, classes, 0.3)]

    together = told(series, 1)
    for some, threads in ((np.arange(64)[::-1], 4), (np.arange(5, 25), 2), *((np.array([i]), 1) for i in range(8))):
        for alone, among in zip(told(series.select(some), threads), together, strict=True):
            np.testing.assert_array_equal(alone, among[some])


def test_targets_agree_but_for_rounding(monkeypatch: pytest.MonkeyPatch) -> None:
    curves, series = drawn().curves, odd_lengths()
    each = weights_of(2, curves.directions.shape[2], 5)
    found = []
    for target in kernels.targets():
        monkeypatch.setenv("DENOTS_TARGET", target)
        found.append(each.log_likelihoods(curves.evidence(series), 0.3))
        np.testing.assert_allclose(found[-1], found[0], rtol=1e-11)


def test_what_is_no_covariance_or_not_finite_harms_one_series_alone() -> None:
    curves, series = drawn().curves, odd_lengths()
    evidence, each = curves.evidence(series), weights_of(2, curves.directions.shape[2], 6)
    sound = likelihoods(evidence, each, 0.3)
    for wrong in (np.nan, np.inf, -1e6):
        gram = evidence.gram.copy()
        gram[3] = np.diag(np.full(gram.shape[1], wrong))
        found = likelihoods(evidence._replace(gram=gram), each, 0.3)
        assert not np.isfinite(found[3]).any()
        np.testing.assert_array_equal(np.delete(found, 3, axis=0), np.delete(sound, 3, axis=0))


def test_arrays_that_do_not_belong_together_are_refused() -> None:
    curves, series = drawn().curves, odd_lengths()
    evidence, each = curves.evidence(series), weights_of(2, curves.directions.shape[2], 7)
    for broken, message in (
        (replace(curves, mean=curves.mean[:, :-1].copy()), "directions"),
        (replace(curves, mean=curves.mean[:, :1].copy(), directions=curves.directions[:, :1].copy()), "two points"),
        (replace(curves, directions=curves.directions[..., :0].copy()), "at least one"),
    ):
        with pytest.raises(ValueError, match=message):
            broken.evidence(series)
    with pytest.raises(ValueError, match="factors"):
        Weights(each.means[:1], each.factors).log_likelihoods(evidence, 0.3)
    with pytest.raises(ValueError, match="told"):
        each.log_likelihoods(evidence._replace(told=evidence.told[:, :-1].copy()), 0.3)
    for noise in (0.0, np.nan):
        with pytest.raises(ValueError, match="noise"):
            each.log_likelihoods(evidence, noise)
    for of in (-1, 2):
        with pytest.raises(ValueError, match="no such class"):
            each.posteriors(evidence, np.full(len(series), of), 0.3)


def complete(classes: int, n: int, size: int, seed: int) -> tuple[Evidence, np.ndarray, np.ndarray]:
    """Weights that were looked at ten times each, with a little noise."""
    rng = np.random.default_rng(seed)
    labels = np.arange(n) % classes
    spread = np.eye(size) + 0.5 * rng.normal(size=(classes, size, size)) / np.sqrt(size)
    weights = rng.normal(size=(classes, size))[labels]
    weights = weights + np.einsum("nij,nj->ni", spread[labels], rng.normal(size=(n, size)))
    looks = weights[:, None] + 0.1 * rng.normal(size=(n, 10, size))
    gram = np.broadcast_to(10 * np.eye(size), (n, size, size)).copy()
    square, seen = (looks**2).sum(axis=(1, 2)), np.full(n, 10.0 * size)
    return Evidence(gram, looks.sum(axis=1), square, seen), labels, looks.mean(axis=1)


@pytest.mark.parametrize(
    ("strength", "judge"), [(1e-6, QuadraticDiscriminantAnalysis), (1e9, LinearDiscriminantAnalysis)]
)
def test_complete_series_are_told_apart_as_by_scikit_learn(strength: float, judge: type) -> None:
    evidence, labels, seen = complete(3, 3000, 4, seed=3)
    found = fit_groups(evidence, labels, 3, np.ones(3000), np.arange(3000))
    told = found.gaussians(strength).log_likelihoods(evidence, found.noise)
    other = judge().fit(seen, labels).decision_function(seen)
    np.testing.assert_allclose(
        told - told.mean(axis=1, keepdims=True), other - other.mean(axis=1, keepdims=True), rtol=0.05, atol=0.35
    )


def test_each_round_of_the_maximisation_makes_what_was_seen_likelier(monkeypatch: pytest.MonkeyPatch) -> None:
    series, curves = drawn(80)
    evidence, labels = curves.evidence(series), np.asarray(series.target)
    monkeypatch.setattr(gaussians, "TO_START", 0.0)
    monkeypatch.setattr(gaussians, "TO_MIDDLE", 1e-9)
    totals = []
    for rounds in (1, 2, 4, 8):
        monkeypatch.setattr(gaussians, "ROUNDS", rounds)
        found = fit_groups(evidence, labels, 2, np.ones(80), np.arange(80))
        factor = np.linalg.cholesky(found.shared + 1e-12 * np.eye(len(found.shared)))
        each = Weights(found.means, np.stack([factor, factor])).log_likelihoods(evidence, found.noise)
        constant = -0.5 * evidence.seen * np.log(2 * np.pi * found.noise)
        totals.append((each[np.arange(80), labels] + constant).sum())
    assert totals == sorted(totals)


def test_a_series_that_counts_twice_is_as_good_as_two() -> None:
    evidence, labels, _ = complete(2, 60, 3, seed=4)
    weight = np.where(np.arange(60) < 20, 2.0, 1.0)
    again = np.concatenate([np.arange(60), np.arange(20)])
    weighed = fit_groups(evidence, labels, 2, weight, np.arange(60))
    repeated = fit_groups(evidence.select(again), labels[again], 2, np.ones(80), np.arange(80))
    for one, other in zip(weighed.gaussians(3.0), repeated.gaussians(3.0), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-8, atol=1e-10)


def profiles(n: int, seed: int, lost: float) -> SeriesSet:
    """Days of 24 hours: large and smooth, with a small zigzag that tells the classes apart."""
    rng = np.random.default_rng(seed)
    kind, hours = rng.integers(0, 2, n), np.arange(24.0)
    waves = np.stack([np.sin(k * hours * np.pi / 12) for k in (1, 2, 3)] + [np.ones(24), hours / 24])
    zigzag = 0.2 * np.where(hours % 2, 1, -1)
    values = 2 * rng.normal(size=(n, 5)) @ waves + np.outer(2 * kind - 1, zigzag) + 0.2 * rng.normal(size=(n, 24))
    kept = [np.sort(rng.permutation(24)[: round(24 * (1 - lost))]) for _ in range(n)]
    return SeriesSet.from_arrays(
        [hours[rows] for rows in kept], [row[rows] for row, rows in zip(values, kept, strict=True)], target=kind
    )


def test_it_tells_what_straight_lines_between_rows_hide() -> None:
    model = denots.SeriesClassifier("discriminant", random_state=0).fit(profiles(400, 0, 0.5))
    lines = denots.SeriesClassifier("oscillators", random_state=0).fit(profiles(400, 0, 0.5))
    later = profiles(400, 1, 0.5)
    assert model.score(later) > lines.score(later) + 0.03


def test_without_signal_its_probabilities_are_shares_of_classes() -> None:
    series = profiles(120, 2, 0.3)
    blind = replace(series, target=np.random.default_rng(5).integers(0, 2, 120))
    model = denots.SeriesClassifier("discriminant", random_state=0).fit(blind)
    assert np.abs(model.predict_proba(profiles(60, 6, 0.3))[:, 1] - 0.5).max() < 0.35


def test_it_gives_up_when_it_would_take_too_long() -> None:
    posed = TASKS["classification"].read(profiles(60, 3, 0.3))
    part = posed.pose(profiles(60, 3, 0.3))
    with pytest.raises(OutOfTime):
        SYSTEMS["discriminant"].fit(Problem(posed.calibrated(part), part, None), seed=0, deadline=0.0)


def test_a_model_whose_arrays_do_not_fit_is_refused() -> None:
    system = SYSTEMS["discriminant"]
    model = denots.SeriesClassifier("discriminant", random_state=0).fit(profiles(60, 4, 0.3))
    fitted = model.fitted_
    state = fitted.state()
    shape = Shape(1, 0)
    for name, wrong in (("means", state.arrays["means"][:1]), ("directions", state.arrays["directions"][:, :-1])):
        broken = state._replace(arrays={**state.arrays, name: wrong})
        with pytest.raises(ValueError, match="need"):
            system.restore(fitted.task, shape, broken)
    again = system.restore(fitted.task, shape, state)
    later = profiles(9, 5, 0.3)
    assert torch.equal(again.outputs(later).outputs, fitted.outputs(later).outputs)
