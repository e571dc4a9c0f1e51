"""Sine-2, SineMix and Bump, value by value, against scalar formulas."""

import math

import numpy as np
import pytest
from scipy.stats import kstest

from denots.datasets.bump import BUMP
from denots.datasets.dataset import SplitSizes
from denots.datasets.sine import SINE_2, SINE_MIX, SINE_MIX_JUMP
from denots.errors import InvalidOption

PI = math.pi
FIRST_ROW = {"train": 0, "val": 1024, "test": 1024 + 256}


@pytest.mark.parametrize("seed", [0, 42])
def test_sine_2_is_the_sum_of_two_drawn_waves(seed: int) -> None:
    sets = SINE_2.generate(seed, SplitSizes(3, 2, 2))
    rng = np.random.default_rng(seed)
    slow, fast = (rng.uniform(low * PI, 2 * low * PI, 32832) for low in (4, 8))
    for part, begin in {"train": 0, "val": 32768, "test": 32800}.items():
        for i, one in enumerate(sets[part]):
            for k in range(100):
                t = k / 99
                exact = math.sin(slow[begin + i] * t) + math.sin(fast[begin + i] * t)
                assert one.times[k] == pytest.approx(t)
                assert one.values[k, 0] == pytest.approx(exact, abs=1e-6)


@pytest.mark.parametrize("seed", [0, 42])
def test_sine_mix_changes_frequency_at_the_fiftieth_point(seed: int) -> None:
    sets = SINE_MIX.generate(seed, SplitSizes(3, 2, 2))
    a, b = np.random.default_rng(seed).uniform(2 * PI, 6 * PI, (2, 1088))
    for part, begin in {"train": 0, "val": 1024, "test": 1056}.items():
        for i, one in enumerate(sets[part]):
            first, second = a[begin + i], b[begin + i]
            assert one.target == first
            for k in range(100):
                t, join = k / 99, 50 / 99
                exact = math.sin(first * t) if k < 50 else math.sin(second * t + join * (first - second))
                assert one.values[k, 0] == pytest.approx(exact, abs=1e-6)


def test_sine_mix_does_not_jump_where_the_waves_meet() -> None:
    series = SINE_MIX.generate(1, SINE_MIX.sizes)["train"]
    values = series.values.reshape(len(series), 100)
    assert abs(np.diff(values, axis=1)).max() < 6 * PI / 99 + 1e-6  # the slope of the fastest wave


def test_the_harder_sine_mix_differs_in_the_second_half_alone() -> None:
    plain, harder = (recipe.generate(5, recipe.sizes)["train"] for recipe in (SINE_MIX, SINE_MIX_JUMP))
    first, second = (part.values.astype(np.float64).reshape(len(part), 100) for part in (plain, harder))
    assert np.array_equal(first[:, :50], second[:, :50])
    assert np.array_equal(plain.target, harder.target)
    b = np.random.default_rng(5).uniform(2 * PI, 6 * PI, (2, 1088))[1, : len(second)]
    late, middle = second[:, 50:], second[:, 51:-1]
    np.testing.assert_allclose(late[:, 2:] + late[:, :-2], 2 * np.cos(b[:, None] / 99) * middle, atol=1e-5)
    start = np.arctan2(np.sin(b / 99) * late[:, 0], late[:, 1] - np.cos(b / 99) * late[:, 0])
    assert kstest((start / (2 * PI)) % 1, "uniform").pvalue > 0.01
    assert abs(np.corrcoef(start, harder.target)[0, 1]) < 0.1


@pytest.mark.parametrize("seed", [0, 42])
def test_bump_is_the_formula_at_the_drawn_centres(seed: int) -> None:
    sets = BUMP.generate(seed, SplitSizes(6, 6, 6))
    rng = np.random.default_rng(seed)
    centre, coin = rng.uniform(0.05, 0.95, 1536), rng.uniform(size=1536)
    for part, begin in FIRST_ROW.items():
        for i, one in enumerate(sets[part]):
            label = coin[begin + i] > 0.5
            assert one.target == label
            for k in range(600):
                z = 20 * (k / 599 - centre[begin + i])
                exact = math.exp(-1 / (1 - z * z)) if label and abs(z) < 1 else 0.0
                assert one.values[k, 0] == pytest.approx(exact, abs=1e-6)


def test_every_bump_lies_inside_the_window_and_the_classes_balance() -> None:
    series = BUMP.generate(5, BUMP.sizes)["train"]
    values = series.values.reshape(1024, 600)
    assert ((values > 0).any(axis=1) == (series.target == 1)).all()
    assert values[:, [0, -1]].max() == 0
    assert series.target.mean() == pytest.approx(0.5, abs=4 * 0.5 / 32)


@pytest.mark.parametrize("recipe", [SINE_2, SINE_MIX, BUMP], ids=lambda recipe: recipe.name)
def test_more_series_than_published_are_refused(recipe: object) -> None:
    with pytest.raises(InvalidOption, match=r"300 series asked for 'test'"):
        recipe.generate(0, SplitSizes(1, 1, 300))  # type: ignore[attr-defined]
