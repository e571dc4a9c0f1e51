"""Random damped oscillators, driven by a series: for how much of the time does each swing beyond a threshold?"""

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from denots import kernels
from denots.data.series import SeriesSet
from denots.errors import InvalidOption
from denots.inference.drive import Drive, Signals
from denots.inference.oscillators import PIECES, Bank, OscillatorShares, shares
from denots.shapes import FloatArray

SLOWEST = 2.5  # decay of an oscillator in one span
FASTEST = 3.0  # decay in one step
TURNS = 1.5 * np.pi  # of the highest frequency, in units of the decay rate
MOST_CHANNELS = 9  # that one oscillator reads
SAMPLE = 32  # training series from which thresholds are taken
PLACES = (0.15, 0.4, 0.6, 0.85)  # in the range of an oscillator, to look for thresholds between
MOST_THRESHOLDS = 8
WHOLE = (0.0, 1.0)
PARTS = (WHOLE, (0.0, 0.5), (0.5, 1.0), (0.25, 0.75), WHOLE, (0.0, 0.25), (0.75, 1.0), WHOLE)


class Oscillators(TransformerMixin, BaseEstimator):
    """Features of irregular series by untrained dynamics, solved in closed form between any two observations.

    A bank of damped oscillators of many speeds is driven by random mixtures of the values and slopes of a
    series, half of them with time and half against it. A feature is the share of time for which one of them is
    above a threshold. Thresholds are quantiles of what the oscillator does on a random training series.

    Args:
        oscillators: how many.
        thresholds: of each; the number of features is the product.
        timed: whether it matters when something happens: the clock drives the oscillators, too, and most
            shares are of a part of the series.
        path: how observations are joined.
    """

    def __init__(
        self,
        oscillators: int = 2000,
        thresholds: int = 5,
        *,
        timed: bool = False,
        path: str = "linear",
        random_state: Any = 0,
    ) -> None:
        self.oscillators = oscillators
        self.thresholds = thresholds
        self.timed = timed
        self.path = path
        self.random_state = random_state

    def fit(self, X: SeriesSet, y: Any = None) -> Self:
        """Draw the bank and learn scale, clock and thresholds from the series."""
        if not 1 <= self.thresholds <= MOST_THRESHOLDS:
            raise InvalidOption(f"thresholds must be 1 to {MOST_THRESHOLDS}; got {self.thresholds!r}.")
        rng = np.random.default_rng(check_random_state(self.random_state).randint(2**31))
        self.drive_ = Drive.fit(X, timed=self.timed)
        sample = X.select(np.sort(rng.permutation(len(X))[:SAMPLE]))
        signals = self.drive_.signals(sample, self.path)
        steps = float(np.median(X.lengths))
        bank = draw_bank(rng, self.oscillators, signals.values.shape[1], self.drive_.span, steps)
        self.bank_ = set_thresholds(
            bank, signals, PARTS[: self.thresholds] if self.timed else (WHOLE,) * self.thresholds, rng
        )
        return self

    def transform(self, X: SeriesSet) -> FloatArray:
        """One row a series; it depends on that series alone, to the last bit."""
        check_is_fitted(self)
        return OscillatorShares(self.drive_, self.bank_, self.path).transform(X)

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        check_is_fitted(self)
        return np.array(
            [f"oscillator{o} above {t}" for t in range(self.thresholds) for o in range(self.oscillators)], dtype=object
        )

    def state(self) -> dict[str, np.ndarray]:
        """Everything that `fit` learnt, as arrays."""
        check_is_fitted(self)
        return OscillatorShares(self.drive_, self.bank_).state()

    def restore(self, state: dict[str, np.ndarray]) -> Self:
        """Take over what another one learnt; arrays that do not fit together are refused by the kernels."""
        found = OscillatorShares.restore(state)
        if found.bank.threshold.shape != (self.thresholds, self.oscillators):
            raise ValueError(f"expected {self.thresholds} thresholds of {self.oscillators} oscillators")
        self.drive_, self.bank_ = found.drive, found.bank
        return self


def draw_bank(rng: np.random.Generator, oscillators: int, channels: int, span: float, steps: float) -> Bank:
    """Oscillators without thresholds, for series that typically have so many steps in a span of so much time."""
    n = oscillators
    rate = SLOWEST * max(2.0, FASTEST / SLOWEST * steps) ** rng.uniform(0, 1, n)
    frequency, phase = rng.uniform(0, TURNS, n) * rate, rng.uniform(0, 2 * np.pi, n)
    most = min(MOST_CHANNELS, channels)
    used = np.minimum(2 ** rng.uniform(0, np.log2(most + 1), n), most).astype(np.int32)
    channel = np.stack([rng.permutation(channels)[:most] for _ in range(n)], axis=1).astype(np.int32)
    read = np.arange(most)[:, None] < used
    kind = rng.integers(0, 3, n)  # driven by values, by slopes, by both
    value = np.where(read & (kind != 1), rng.normal(size=(most, n)) * rate, 0.0)
    slope = np.where(read & (kind != 0), rng.normal(size=(most, n)), 0.0)
    relative = rng.permutation(n) % 2 == 0
    pace = np.where(relative, 1.0, 1 / span)
    return Bank(
        rate=_single(rate * pace),
        frequency=_single(frequency * pace),
        cosine=_single(np.cos(phase)),
        sine=_single(np.sin(phase)),
        relative=_single(relative),
        used=used,
        channel=channel,
        value_weight=_single(value * pace),
        slope_weight=_single(slope),
        threshold=np.zeros((0, n), np.float32),
        window=np.zeros((2, 0), np.float32),
        forward=(n + 1) // 2,
    )


def set_thresholds(
    bank: Bank, signals: Signals, windows: Sequence[tuple[float, float]], rng: np.random.Generator
) -> Bank:
    """Thresholds that are random quantiles, in time, of each oscillator on a random series; one for each window."""
    count, n = len(windows), len(bank.rate)
    ranges = kernels.pool_oscillators(pieces=PIECES, **signals._asdict(), **bank._asdict())
    places = [ranges.lowest + (ranges.highest - ranges.lowest) * share for share in PLACES]
    levels = np.quantile(np.concatenate(places), (np.arange(MOST_THRESHOLDS) + 0.5) / MOST_THRESHOLDS, axis=0)
    whole = np.array([[0.0], [1.0]], np.float32).repeat(MOST_THRESHOLDS, axis=1)
    known = shares(signals, bank._replace(threshold=_single(levels), window=whole))
    series, column = rng.integers(0, len(signals.begins), (count, n)), np.arange(n)
    quantile = rng.uniform(0, 1, (count, n))
    low, high = ranges.lowest[series, column], ranges.highest[series, column]
    found = [
        _invert(1 - known[series[t], :, column].T, np.clip(levels, low[t], high[t]), low[t], high[t], quantile[t])
        for t in range(count)
    ]
    return bank._replace(
        threshold=_single(np.stack(found)), window=np.ascontiguousarray(np.array(windows, np.float32).T)
    )


def _invert(
    below: FloatArray, levels: FloatArray, low: FloatArray, high: FloatArray, quantile: FloatArray
) -> FloatArray:
    """The level below which each column is for a share `quantile` of the time, by straight lines between those known."""
    column = np.arange(len(quantile))
    shares = np.concatenate([np.zeros((1, len(column))), below, np.ones((1, len(column)))])
    shares, levels = np.maximum.accumulate(shares, axis=0), np.concatenate([low[None], levels, high[None]])
    after = np.clip((shares < quantile).sum(axis=0), 1, len(shares) - 1)
    less, more = shares[after - 1, column], shares[after, column]
    part = np.where(more > less, (quantile - less) / np.where(more > less, more - less, 1.0), 0.0)
    return levels[after - 1, column] + np.clip(part, 0, 1) * (levels[after, column] - levels[after - 1, column])


def _single(numbers: np.ndarray) -> FloatArray:
    return numbers.astype(np.float32)
