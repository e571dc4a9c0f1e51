"""Shares against the definition: all orders, one by one."""

from itertools import permutations

import numpy as np
import pytest

from denots.explain.shapley import shapley
from denots.shapes import BoolArray, FloatArray


def game(coalitions: BoolArray) -> FloatArray:
    """A worth with interactions: nothing is simply added."""
    x = coalitions.astype(float) * np.arange(1, coalitions.shape[1] + 1)
    return np.sin(x.sum(axis=1)) + x[:, 0] * x[:, 1] - np.sqrt(x[:, 2:].sum(axis=1))


def by_definition(players: int) -> FloatArray:
    total, orders = np.zeros(players), list(permutations(range(players)))
    for order in orders:
        joined = np.zeros((players + 1, players), dtype=bool)
        for step, player in enumerate(order):
            joined[step + 1 :, player] = True
        total[list(order)] += np.diff(game(joined))
    return total / len(orders)


def test_few_players_have_exact_shares() -> None:
    shares = shapley(game, 6, pairs=6, seed=0)
    np.testing.assert_allclose(shares.effects, by_definition(6), atol=1e-12)
    assert not shares.errors.any()


def test_sampled_shares_approach_the_exact_ones_within_their_errors() -> None:
    exact = by_definition(7)
    few, many = (shapley(game, 12, pairs=pairs, seed=1) for pairs in (20, 160))
    seven = [shapley(game, 7, pairs=9, seed=seed) for seed in range(300)]  # 126 < 2 ** 7: sampled
    assert seven[0].errors.all()
    mean = np.mean([shares.effects for shares in seven], axis=0)
    spread = np.std([shares.effects for shares in seven], axis=0)
    np.testing.assert_array_less(np.abs(mean - exact), 4 * spread / np.sqrt(len(seven)))
    told = np.sqrt(np.mean([shares.errors**2 for shares in seven], axis=0))
    np.testing.assert_allclose(told, spread, rtol=0.2)
    assert many.errors.mean() == pytest.approx(few.errors.mean() / np.sqrt(8), rel=0.3)


@pytest.mark.parametrize("players", [1, 5, 30])
def test_shares_sum_to_what_all_are_worth(players: int) -> None:
    def worth(coalitions: BoolArray) -> FloatArray:
        return np.cos(coalitions @ np.arange(1.0, players + 1)) * 100

    shares = shapley(worth, players, pairs=3, seed=0)
    none, everyone = worth(np.array([[False] * players, [True] * players]))
    assert shares.effects.sum() == pytest.approx(everyone - none, abs=1e-9)


def test_who_adds_nothing_gets_nothing_and_equals_get_the_same() -> None:
    def worth(coalitions: BoolArray) -> FloatArray:
        return (coalitions[:, 0] & coalitions[:, 1]).astype(float)

    shares = shapley(worth, 3, pairs=10, seed=0).effects
    np.testing.assert_allclose(shares, [0.5, 0.5, 0.0], atol=1e-15)
