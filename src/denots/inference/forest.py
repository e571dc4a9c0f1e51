"""Randomised trees as plain arrays, on quantiles of parts of each series and on statistics of the whole."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from denots.data.blocks import in_blocks
from denots.data.series import SeriesSet
from denots.data.summary import summarise
from denots.inference.linear_model import Features
from denots.inference.told import Told, joined
from denots.shapes import FloatArray, IntArray

TOGETHER = 256  # series whose features are made at once


@dataclass(frozen=True, slots=True, eq=False)
class Forest:
    """Trees laid end to end; node i of a tree leads to `left` or `right`, counted from the first node of all.

    A leaf leads to itself. `value` is what each node says: shares of classes, or means.
    """

    roots: IntArray
    left: IntArray
    right: IntArray
    feature: IntArray
    threshold: FloatArray
    value: FloatArray  # [nodes, outputs]

    @classmethod
    def restore(cls, arrays: Mapping[str, Any], width: int) -> "Forest":
        """Trees that lead out of themselves or in circles are refused: a child comes after its parent."""
        forest = cls(*(arrays[name] for name in cls.__slots__))
        nodes = len(forest.value)
        own = np.arange(nodes)
        whole = all(len(part) == nodes for part in (forest.left, forest.right, forest.feature, forest.threshold))
        if not whole or forest.value.ndim != 2 or forest.value.shape[1] != width or not len(forest.roots):
            raise ValueError("the arrays of a forest differ in length")
        for child in (forest.left, forest.right, forest.roots):
            if child.min() < 0 or child.max() >= nodes:
                raise ValueError("a tree leads to a node that is not there")
        leaf = (forest.left == own) & (forest.right == own)
        if not (leaf | ((forest.left > own) & (forest.right > own))).all():
            raise ValueError("a tree leads back to a node before")
        return forest

    def predict(self, features: FloatArray) -> FloatArray:
        """The mean over all trees for each row, in single precision."""
        rows = np.arange(len(features))[:, None]
        node = np.broadcast_to(self.roots, (len(features), len(self.roots)))
        while True:
            low = features[rows, self.feature[node]] <= self.threshold[node]
            after = np.where(low, self.left[node], self.right[node])
            if (after == node).all():
                break
            node = after
        return self.value[node].mean(axis=1)

    def arrays(self) -> dict[str, np.ndarray]:
        return {name: getattr(self, name) for name in self.__slots__}


@dataclass(frozen=True, slots=True, eq=False)
class ForestAnswers:
    """Means, or shares of classes as logits: so many where `classes`, the one of the second where there are two."""

    features: Features
    forest: Forest
    classes: int

    def outputs(self, series: SeriesSet, at: FloatArray | None = None) -> Told:
        return joined([self._told(block) for block in in_blocks(series, TOGETHER)])

    def _told(self, series: SeriesSet) -> Told:
        told = self.forest.predict(forest_features(self.features, series)).astype(np.float64)
        if self.classes:
            # One more tree that knows nothing, so that no class is ever impossible.
            trees = len(self.forest.roots)
            shares = (told * trees + 1 / self.classes) / (trees + 1)
            logits = np.array([math.log(share) for share in shares.flat]).reshape(shares.shape)
            told = logits if self.classes > 2 else logits[:, 1:] - logits[:, :1]
        return Told(told, np.ones(len(series), dtype=bool))


def forest_features(features: Features, series: SeriesSet) -> FloatArray:
    """One row a series, in single precision."""
    parts = (
        np.concatenate([within_single(features.transform(block)), within_single(summarise(block))], axis=1)
        for block in in_blocks(series, TOGETHER)
    )
    first = next(parts)
    table = np.empty((len(series), first.shape[1]), np.float32)
    table[: len(first)] = first
    for k, part in enumerate(parts, start=1):
        table[k * TOGETHER : k * TOGETHER + len(part)] = part
    return table


def within_single(features: FloatArray) -> FloatArray:
    """Missing values below all others, and none beyond single precision."""
    limit = np.finfo(np.float32).max
    single: FloatArray = np.clip(features, -limit, limit).astype(np.float32, copy=False)
    single[np.isnan(single)] = -limit
    return single
