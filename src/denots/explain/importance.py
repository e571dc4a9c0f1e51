"""How much a model needs each channel and each static feature: what it loses when they are exchanged among series."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import torch

from denots.data.series import SeriesSet, ragged_rows
from denots.errors import InvalidOption
from denots.estimators.estimator import SeriesEstimator
from denots.explain.subject import check_model
from denots.progress import track
from denots.shapes import BoolArray, FloatArray, IntArray
from denots.tasks import Part

if TYPE_CHECKING:
    import pandas as pd


class Need(NamedTuple):
    """How far the metric falls without a channel or static feature, on average, and how that varies between draws."""

    name: str
    drop: float
    spread: float


@dataclass(frozen=True, eq=False)
class Importance:
    """What a model needs, the most needed first; `score` is its metric with everything in place."""

    metric: str
    score: float
    needs: tuple[Need, ...]

    def to_frame(self) -> "pd.DataFrame":
        """One row a channel or static feature."""
        import pandas as pd

        return pd.DataFrame(self.needs, columns=Need._fields)


def importance(
    model: SeriesEstimator, X: Any, y: Any = None, *, repeats: int = 5, seed: int = 0, verbose: bool = False
) -> Importance:
    """How far the metric of the model falls on series with known answers when one channel tells of another series.

    Each series is given the observations that a random other one has in this channel, with their times, counted from
    the start of the series. Of two channels that say the same, each seems to be hardly needed.

    Args:
        repeats: draws of who is given whose observations.
        verbose: tell on stderr how long it may still take.
    """
    check_model(model)
    series = model.read_known(X, y)
    if len(series) < 2 or repeats < 1:
        raise InvalidOption(
            f"channels are exchanged among series, at least once; got {len(series)} series and repeats={repeats}."
        )
    part = model.task_.pose(series)
    rng = np.random.default_rng(seed)
    score = _score(model, part, series, np.ones(len(series), dtype=bool))
    drops: dict[str, list[float]] = {name: [] for name in (*series.channels, *series.static_names)}
    exchanges = list(enumerate(drops.values())) * repeats
    for k, found in track(exchanges, "exchanged") if verbose else exchanges:
        givers = rng.permutation(len(series))
        if k < len(series.channels):
            found.append(score - _score(model, part, *exchange_channel(series, k, givers)))
        else:
            changed = exchange_static(series, k - len(series.channels), givers)
            found.append(score - _score(model, part, changed, np.ones(len(series), dtype=bool)))
    needs = [
        Need(name, float(np.mean(found)), float(np.std(found, ddof=1)) if repeats > 1 else float("nan"))
        for name, found in drops.items()
    ]
    return Importance(model.task_.metric_name, score, tuple(sorted(needs, key=lambda need: -need.drop)))


def _score(model: SeriesEstimator, part: Part, series: SeriesSet, readable: BoolArray) -> float:
    """The metric; a series of which nothing is left has no answer."""
    outputs = torch.full((len(part), model.task_.outputs), torch.nan, dtype=torch.float64)
    outputs[torch.from_numpy(readable)] = model.fitted_.outputs(series).outputs.double()
    return float(model.task_.metric(outputs, part.target))


def exchange_channel(series: SeriesSet, channel: int, givers: IntArray) -> tuple[SeriesSet, BoolArray]:
    """Each series with the channel of its giver, and which series have any observation then; the others are left out."""
    own = series.values.copy()
    own[:, channel] = np.nan
    rows, offsets = ragged_rows(series.offsets, givers)
    receiver = np.repeat(np.arange(len(series)), np.diff(offsets))
    seen = ~np.isnan(series.values[rows, channel])
    rows, receiver = rows[seen], receiver[seen]
    given = series.times[rows] + (series.start - series.start[givers])[receiver]
    owner, times = np.concatenate([series.owner(), receiver]), np.concatenate([series.times, given])
    order = np.lexsort((times, owner))
    first = np.ones(len(order), dtype=bool)
    first[1:] = (np.diff(owner[order]) > 0) | (np.diff(times[order]) > 0)
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.cumsum(first) - 1
    owner, times = owner[order][first], times[order][first]
    values = np.full((len(times), len(series.channels)), np.nan, dtype=series.values.dtype)
    values[place[: len(own)]] = own
    values[place[len(own) :], channel] = series.values[rows, channel]
    empty = np.zeros(len(times), dtype=bool)
    empty[place[: len(own)]] = np.isnan(series.values).all(axis=1)
    observed = ~np.isnan(values).all(axis=1)
    readable = np.bincount(owner, weights=observed, minlength=len(series)) > 0
    kept = (observed | empty) & readable[owner]
    return replace(
        series.select(readable),
        times=times[kept],
        values=values[kept],
        offsets=np.concatenate([[0], np.cumsum(np.bincount(owner[kept], minlength=len(series))[readable])]),
    ), readable


def exchange_static(series: SeriesSet, feature: int, givers: IntArray) -> SeriesSet:
    """Each series with the static feature of its giver."""
    static: FloatArray = np.array(series.static)
    static[:, feature] = static[givers, feature]
    return replace(series, static=static)
