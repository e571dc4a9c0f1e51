"""Shapley values: how much each player of a game adds, averaged over the orders in which they may join."""

from collections.abc import Callable
from math import comb
from typing import NamedTuple

import numpy as np

from denots.shapes import BoolArray, FloatArray


class Shares(NamedTuple):
    """What each player adds, which sums to the value of all less that of none; and its standard error, zero if exact."""

    effects: FloatArray
    errors: FloatArray


def shapley(value: Callable[[BoolArray], FloatArray], players: int, *, pairs: int, seed: int) -> Shares:
    """The shares of so many players; `value` takes coalitions [n, players] and gives the worth of each.

    Orders are drawn in pairs, one the reverse of the other, which removes much of the noise. Where all coalitions
    are no more than would be asked for, all are, and the shares are exact.
    """
    if players <= 20 and 2**players <= 2 * pairs * players:
        return Shares(_exact(value, players), np.zeros(players))
    return _sampled(value, players, pairs, seed)


def _exact(value: Callable[[BoolArray], FloatArray], players: int) -> FloatArray:
    numbers = np.arange(2**players)
    joined = (numbers[:, None] >> np.arange(players)) & 1 == 1
    worth, size = value(joined), joined.sum(axis=1)
    weights = np.array([1 / (players * comb(players - 1, k)) for k in range(players)])
    effects = np.empty(players)
    for player in range(players):
        without = numbers[~joined[:, player]]
        effects[player] = (weights[size[without]] * (worth[without | (1 << player)] - worth[without])).sum()
    return effects


def _sampled(value: Callable[[BoolArray], FloatArray], players: int, pairs: int, seed: int) -> Shares:
    rng = np.random.default_rng(seed)
    forward = np.argsort(rng.random((pairs, players)), axis=1)  # the place of each player in the order
    places = np.concatenate([forward, players - 1 - forward])
    joined = places[:, None, :] < np.arange(players + 1)[:, None]  # [orders, joined so far, players]
    different, which = np.unique(joined.reshape(-1, players), axis=0, return_inverse=True)
    worth = value(different)[which.reshape(joined.shape[:2])]
    added = np.take_along_axis(np.diff(worth, axis=1), places, axis=1)
    by_pair = (added[:pairs] + added[pairs:]) / 2
    errors = by_pair.std(axis=0, ddof=1) / np.sqrt(pairs) if pairs > 1 else np.full(players, np.nan)
    return Shares(by_pair.mean(axis=0), errors)
