"""A ridge from sums over blocks is the ridge over all rows."""

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from denots.cluster.workers import Here, Workers
from denots.heads import ridge as whole
from denots.heads import ridge_sums
from denots.heads.ridge import Ridge, fit_ridge
from denots.heads.ridge_sums import Block, Part, fit_ridge_parts


@pytest.fixture(autouse=True)
def many(monkeypatch: pytest.MonkeyPatch) -> None:
    """A few rows are as many."""
    monkeypatch.setattr(ridge_sums, "FEW", 0)


def draw(n: int, size: int, outputs: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    hidden = rng.normal(size=(n, 8))
    features = hidden @ rng.normal(size=(8, size)) + 0.3 * rng.normal(size=(n, size)) + rng.normal(size=size)
    features[:, 3] = 0.7  # never varies
    features[:, 4] *= 1e-3
    return features.astype(np.float32), np.sign(hidden[:, :outputs] + 0.5 * rng.normal(size=(n, outputs)))


def from_parts(features: np.ndarray, target: np.ndarray, sizes: int, workers: Workers | None = None) -> Ridge:
    """The ridge from blocks of some rows, in a few parts."""
    ends = np.linspace(0, len(features), 4).astype(int)

    def read(part: Part, rows: np.ndarray) -> Iterator[Block]:
        for k in range(0, len(rows), sizes):
            own = part.first + rows[k : k + sizes]
            yield Block(features[own], target[own])

    return fit_ridge_parts(read, [Part(k, *pair) for k, pair in enumerate(pairwise(ends.tolist()))], workers)


@pytest.mark.parametrize(("n", "size"), [(900, 60), (80, 60), (50, 90)])
def test_blocks_give_the_ridge_of_all_rows(n: int, size: int) -> None:
    features, target = draw(n, size, 2)
    expected, found = fit_ridge(features, target), from_parts(features, target, 37)
    np.testing.assert_allclose(found.weight, expected.weight, atol=2e-5)
    np.testing.assert_allclose(found.bias, expected.bias, atol=2e-5)
    np.testing.assert_allclose(found.left_out, expected.left_out, atol=1e-4)


def test_where_some_rows_tell_the_penalty_they_are_the_same_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (whole, ridge_sums):
        monkeypatch.setattr(module, "LARGE", 50)
        monkeypatch.setattr(module, "ENOUGH", 200)
    features, target = draw(900, 60, 1)
    expected, found = fit_ridge(features, target), from_parts(features, target, 100)
    np.testing.assert_allclose(found.weight, expected.weight, atol=2e-5)
    np.testing.assert_allclose(found.left_out, expected.left_out, atol=1e-4)


def test_left_out_answers_are_those_of_ridges_without_the_row() -> None:
    features, target = draw(40, 12, 1)
    found = from_parts(features, target, 7)
    errors = {}
    for penalty in ridge_sums.PENALTIES * 12:
        told = []
        spread = features.std(axis=0, dtype=np.float64)
        varies = spread > 1e-6
        scale = np.where(varies, np.maximum(spread, np.median(spread[varies])), np.inf)
        table = (features - features.mean(axis=0, dtype=np.float64)) / scale
        for k in range(40):
            kept = np.arange(40) != k
            x, y = table[kept] - table[kept].mean(axis=0), target[kept] - target[kept].mean(axis=0)
            slopes = np.linalg.solve(x.T @ x + penalty * np.eye(12), x.T @ y)
            told.append((table[k] - table[kept].mean(axis=0)) @ slopes + target[kept].mean(axis=0))
        errors[float(np.square(np.array(told) - target).mean())] = np.array(told)
    np.testing.assert_allclose(found.left_out, errors[min(errors)], atol=1e-4)


class Backwards(Here):
    """Who does the last piece first."""

    def each(self, work: Any, items: Any, *, deadline: float | None = None, queued: bool = True) -> Iterator[Any]:
        for item in reversed(list(items)):
            yield item, work(item)


def test_the_answer_does_not_depend_on_who_made_the_sums_first() -> None:
    features, target = draw(300, 30, 1)
    once, again = from_parts(features, target, 64), from_parts(features, target, 64, workers=Backwards())
    np.testing.assert_array_equal(once.weight, again.weight)
    np.testing.assert_array_equal(once.left_out, again.left_out)


def test_of_many_rows_some_are_left_out_and_the_map_is_that_of_all(monkeypatch: pytest.MonkeyPatch) -> None:
    features, target = draw(300, 30, 2)
    every = from_parts(features, target, 64)
    monkeypatch.setattr(ridge_sums, "TOLD", 5)
    some = from_parts(features, target, 64)
    np.testing.assert_array_equal(some.weight, every.weight)
    told = ~np.isnan(some.left_out).any(axis=1)
    assert told.sum() == 5
    np.testing.assert_allclose(some.left_out[told], every.left_out[told], atol=1e-6)


def test_few_rows_are_put_together(monkeypatch: pytest.MonkeyPatch) -> None:
    features, target = draw(50, 90, 2)
    monkeypatch.setattr(ridge_sums, "FEW", 50)
    expected, found = fit_ridge(features, target), from_parts(features, target, 37)
    np.testing.assert_array_equal(found.weight, expected.weight)
    np.testing.assert_array_equal(found.left_out, expected.left_out)
