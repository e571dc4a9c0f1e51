"""Boosted trees on statistics of each series."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from denots.data.series import SeriesSet
from denots.data.summary import summarise
from denots.inference.boosted_trees import BoostedTrees
from denots.inference.curve import CURVES
from denots.inference.told import Told
from denots.shapes import FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class TreeAnswers:
    """One forest for all classes, or one for each column of numbers."""

    forests: tuple[BoostedTrees, ...]

    def outputs(self, series: SeriesSet, at: FloatArray | None = None) -> Told:
        features = tree_features(series, at)
        table = np.concatenate([forest.sums(features) for forest in self.forests], axis=1)
        shaped = table if at is None else table.reshape(*at.shape, -1)
        return Told(shaped, np.ones(len(series), dtype=bool))


def tree_features(series: SeriesSet, at: FloatArray | None = None) -> FloatArray:
    """One row a series; or one for each question, with the time that is asked for and linear interpolations there."""
    summary = summarise(series)
    if at is None:
        return summary
    values = CURVES["linear"](series, dtype=np.dtype(np.float64)).values_at(at)
    asked = (at - series.start[:, None])[..., None]
    repeated = np.repeat(summary[:, None], at.shape[1], axis=1)
    return np.concatenate([repeated, asked, values], axis=2).reshape(at.size, -1)


def read_forests(texts: Any, expected: int) -> tuple[BoostedTrees, ...]:
    """Forests as a stored model has them; anything odd is a ValueError."""
    if not isinstance(texts, list) or len(texts) != expected or not all(isinstance(text, str) for text in texts):
        raise ValueError(f"trees need {expected} forests as text")
    return tuple(BoostedTrees.read(text) for text in texts)
