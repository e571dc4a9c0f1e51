"""Short filters of many widths, moved along a series: at how much of it does each respond beyond a threshold?"""

from collections.abc import Mapping
from itertools import combinations
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from denots.data.series import SeriesSet
from denots.errors import InvalidOption
from denots.inference.convolutions import FEWEST, MOST, ConvolutionShares, Filters
from denots.inference.even_grid import EvenGrid
from denots.shapes import FloatArray

LENGTH = 9  # places of a filter
MOST_CHANNELS = 9  # that one filter reads
SAMPLE = 64  # training series from which thresholds are taken
PLACES = np.array(list(combinations(range(LENGTH), 3)), np.int32).T  # that weigh 2, while the others weigh -1


class Convolutions(TransformerMixin, BaseEstimator):
    """Features of short, sharp patterns: shares of time for which dilated convolutions are above thresholds.

    Series are brought to an even grid. A filter has nine places, some points apart, of which three weigh 2 and the
    others -1 (as in MiniRocket); it reads a random mixture of channels, or of their differences from one point to the
    next. Half of the filters go beyond the ends, where zeros stand. Thresholds are random quantiles of what a filter
    says of a random training series.

    Args:
        filters: how many.
        thresholds: of each; the number of features is the product.
    """

    def __init__(self, filters: int = 2000, thresholds: int = 5, *, random_state: Any = 0) -> None:
        self.filters = filters
        self.thresholds = thresholds
        self.random_state = random_state

    def fit(self, X: SeriesSet, y: Any = None) -> Self:
        """Draw the filters and learn scale, grid and thresholds from the series."""
        for name in ("filters", "thresholds"):
            if getattr(self, name) < 1:
                raise InvalidOption(f"{name} must be at least 1; got {getattr(self, name)!r}.")
        rng = np.random.default_rng(check_random_state(self.random_state).randint(2**31))
        self.grid_ = EvenGrid.fit(X, FEWEST, MOST)
        sample = self.grid_.read(X.select(np.sort(rng.permutation(len(X))[:SAMPLE])))
        drawn = draw_filters(rng, self.filters, sample)
        self.bank_ = set_thresholds(drawn, sample, self.thresholds, rng)
        return self

    def transform(self, X: SeriesSet) -> FloatArray:
        """One row a series; it depends on that series alone, to the last bit."""
        check_is_fitted(self)
        return ConvolutionShares(self.grid_, self.bank_).transform(X)

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        check_is_fitted(self)
        return np.array(
            [f"filter{f} above {t}" for t in range(self.thresholds) for f in range(self.filters)], dtype=object
        )

    def state(self) -> dict[str, np.ndarray]:
        """Everything that `fit` learnt, as arrays."""
        check_is_fitted(self)
        return ConvolutionShares(self.grid_, self.bank_).state()

    def restore(self, state: Mapping[str, np.ndarray]) -> Self:
        """Take over what another one learnt; arrays that do not fit together are refused by the kernels."""
        found = ConvolutionShares.restore(state)
        if found.bank.threshold.shape != (self.thresholds, self.filters):
            raise ValueError(f"expected {self.thresholds} thresholds of {self.filters} filters")
        self.grid_, self.bank_ = found.grid, found.bank
        return self


def draw_filters(rng: np.random.Generator, filters: int, sample: FloatArray) -> Filters:
    """Filters without thresholds, for series on a grid like that of the sample [n, C, points]."""
    _, channels, points = sample.shape
    widest = (points - 2) // (LENGTH - 1)
    dilation = np.minimum(2 ** rng.uniform(0, np.log2(widest + 1), filters), widest)
    most = min(MOST_CHANNELS, channels)
    used = np.minimum(2 ** rng.uniform(0, np.log2(most + 1), filters), most).astype(np.int32)
    channel = np.stack([rng.permutation(channels)[:most] for _ in range(filters)], axis=1).astype(np.int32)
    difference = (np.arange(filters) % 2).astype(np.int32)
    spread = np.diff(sample, axis=2).std(axis=(0, 2))
    inverse = np.where(difference, (1 / np.where(spread > 0, spread, 1.0))[channel], 1.0)
    weight = rng.normal(size=channel.shape) * inverse * (np.arange(most)[:, None] < used)
    return Filters(
        places=np.ascontiguousarray(PLACES[:, rng.permutation(filters) % PLACES.shape[1]]),
        dilation=dilation.astype(np.int32),
        difference=difference,
        padded=(np.arange(filters) // 2 % 2).astype(np.int32),
        used=used,
        channel=channel,
        weight=weight.astype(np.float32),
        threshold=np.zeros((0, filters), np.float32),
    )


def set_thresholds(bank: Filters, sample: FloatArray, thresholds: int, rng: np.random.Generator) -> Filters:
    """Thresholds that are random quantiles of what each filter says of a random series."""
    count = len(bank.dilation)
    chosen, quantile = rng.integers(0, len(sample), count), rng.uniform(0, 1, (thresholds, count))
    found = [_quantiles(response(bank, f, sample[chosen[f]]), quantile[:, f]) for f in range(count)]
    return bank._replace(threshold=np.ascontiguousarray(np.stack(found, axis=1), dtype=np.float32))


def _quantiles(numbers: FloatArray, shares: FloatArray) -> FloatArray:
    """As NumPy has them, without what it checks thousands of times."""
    ordered, place = np.sort(numbers), shares * (len(numbers) - 1)
    low = place.astype(np.int64)
    return ordered[low] + (place - low) * (ordered[np.minimum(low + 1, len(ordered) - 1)] - ordered[low])


def response(bank: Filters, f: int, series: FloatArray) -> FloatArray:
    """What one filter says along a series [C, points]."""
    terms, step = bank.used[f], int(bank.dilation[f])
    mixed = bank.weight[:terms, f] @ series[bank.channel[:terms, f]]
    mixed = np.diff(mixed) if bank.difference[f] else mixed
    reach = LENGTH // 2 * step
    mixed = np.pad(mixed, reach) if bank.padded[f] else mixed
    length = len(mixed) - 2 * reach
    parts = [mixed[k * step : k * step + length] for k in range(LENGTH)]
    return 3 * sum(parts[k] for k in bank.places[:, f]) - sum(parts)
