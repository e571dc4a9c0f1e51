"""What every synthetic data set promises, run over the registry."""

from functools import cache

import numpy as np
import pytest

from denots.data import SeriesSet
from denots.data.store import content_hash
from denots.datasets import DATASETS, Recipe, SplitSizes
from denots.errors import InvalidOption

FEW = SplitSizes(12, 4, 5)
DRAWN_SETS = {name: recipe for name, recipe in DATASETS.items() if isinstance(recipe, Recipe)}
each = pytest.mark.parametrize("recipe", DRAWN_SETS.values(), ids=DRAWN_SETS)
PARTS = ["train", "val", "test"]


@cache
def drawn(name: str) -> dict[str, SeriesSet]:
    return DRAWN_SETS[name].generate(0, FEW)


@each
def test_a_recipe_is_registered_under_its_own_name(recipe: Recipe) -> None:
    assert DATASETS[recipe.name] is recipe
    assert recipe.metric == ("auroc" if recipe.task == "classification" else "r2")


@each
def test_splits_have_the_asked_sizes_and_share_no_series(recipe: Recipe) -> None:
    parts = drawn(recipe.name)
    assert list(parts) == PARTS
    assert [len(series) for series in parts.values()] == list(FEW)
    ids = [name for series in parts.values() for name in series.ids.tolist()]
    rows = [one.values.tobytes() for series in parts.values() for one in series if np.nanmax(one.values) > 0]
    assert len(set(ids)) == FEW.total
    assert len(set(rows)) == len(rows)


@each
def test_series_are_float32_over_float64_times_from_zero(recipe: Recipe) -> None:
    for series in drawn(recipe.name).values():
        assert (series.values.dtype, series.times.dtype) == (np.float32, np.float64)
        assert (series.start == 0).all()
        assert (series.target is None) == (recipe.task == "forecast")


@each
def test_a_seed_decides_every_bit(recipe: Recipe) -> None:
    first, again, other = drawn(recipe.name), recipe.generate(0, FEW), recipe.generate(6, FEW)
    for part in PARTS:
        assert content_hash(first[part]) == content_hash(again[part])
        assert content_hash(first[part]) != content_hash(other[part])


@each
def test_a_smaller_split_is_the_beginning_of_the_larger(recipe: Recipe) -> None:
    small, large = drawn(recipe.name), recipe.generate(0, SplitSizes(300, 20, 30))
    for part in PARTS:
        assert small[part].same_as(large[part].select(np.arange(len(small[part]))))


def limits_by_the_rule(n: int, shares: list[float]) -> list[int]:
    """A row goes to the first split whose cumulative share of n - 1 exceeds its number; the last takes the rest."""
    counts, first, total = [], 0, 0.0
    for share in shares:
        total += share
        last = next((row for row in range(first, n) if row >= total * (n - 1)), n)
        counts.append(last - first)
        first = last
    return [*counts, n - first]


@pytest.mark.parametrize(
    ("name", "sizes"),
    [
        ("pendulum", (22937, 4915, 4916)),
        ("pendulum-small", (717, 153, 154)),
        ("pendulum-angles", (1024, 256, 256)),
        ("pendulum-angles-regular", (1024, 256, 256)),
        ("sine-2", (32768, 32, 32)),
        ("bump", (1024, 256, 256)),
        ("sine-mix", (1024, 32, 32)),
        ("sine-mix-jump", (1024, 32, 32)),
    ],
)
def test_default_sizes_are_the_published_ones(name: str, sizes: tuple[int, int, int]) -> None:
    recipe = DRAWN_SETS[name]
    assert recipe.sized(None) == sizes
    assert recipe.sized(sum(sizes)) == sizes


@pytest.mark.parametrize("n", [1024, 32768, 500, 77])
def test_the_pendulum_split_follows_the_70_15_15_rule_at_any_size(n: int) -> None:
    assert list(DRAWN_SETS["pendulum"].sized(n)) == limits_by_the_rule(n, [0.7, 0.15])


@each
@pytest.mark.parametrize("total", [3, 4, 10, 100, 1000])
def test_a_reduced_total_keeps_the_shares_and_leaves_no_split_empty(recipe: Recipe, total: int) -> None:
    sizes = recipe.sized(total)
    assert sizes.total == total
    for n, published in zip(sizes, recipe.sizes, strict=True):
        assert n >= 1
        assert abs(n - total * published / recipe.sizes.total) <= 2


@pytest.mark.parametrize("size", [2, 0, -5, (1, 2), (1, 2, 0)])
def test_a_size_that_leaves_a_split_empty_is_refused(size: int | tuple[int, ...]) -> None:
    with pytest.raises(InvalidOption, match="size"):
        DRAWN_SETS["bump"].sized(size)


DRAWN = {  # the sums of the times and of the values of two training series, seed 0
    "pendulum": (1493.80701, -224.73134),
    "pendulum-small": (1599.98318, -543.60699),
    "pendulum-angles": (257.51362, 0.88271),
    "pendulum-angles-regular": (320.00000, 199.62218),
    "sine-2": (100.00000, 25.12603),
    "bump": (600.00000, 13.29762),
    "sine-mix": (100.00000, 9.68763),
    "sine-mix-jump": (100.00000, 16.75488),
}


@each
def test_the_draws_change_only_with_the_version(recipe: Recipe) -> None:
    series = drawn(recipe.name)["train"].select([0, 1])
    found = (float(series.times.sum()), float(np.nansum(series.values, dtype=np.float64)))
    assert recipe.version == 1
    assert found == pytest.approx(DRAWN[recipe.name], rel=1e-4), "raise Recipe.version, or cached folders go stale"
