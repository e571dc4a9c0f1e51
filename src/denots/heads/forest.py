"""Extremely randomised trees, grown by scikit-learn and kept as plain arrays."""

import time
import warnings

import numpy as np

from denots.inference.forest import Forest
from denots.processors import threads
from denots.shapes import FloatArray

MANY_ROWS = 1000  # with fewer, threads are not worth their start
AT_ONCE = 10  # trees between two looks at the clock
MOST_SPLITS = 300  # features that are looked at for each split, a tenth of them where they are fewer


def grow_forest(
    features: FloatArray,
    target: np.ndarray,
    *,
    classes: int,
    trees: int,
    seed: int,
    weight: FloatArray | None = None,
    deadline: float | None = None,
) -> Forest:
    """Trees on a table in single precision, for class numbers (`classes` of them) or, where that is zero, for columns of numbers.

    There are fewer of them where a deadline (as of `time.time()`) passes; those that there are stay the same.
    """
    from sklearn.ensemble import ExtraTreesClassifier, ExtraTreesRegressor

    options = {
        "max_features": int(np.clip(features.shape[1] / 10, np.sqrt(features.shape[1]), MOST_SPLITS)),
        "random_state": seed,
        "n_jobs": threads() if len(features) >= MANY_ROWS else 1,  # the trees are the same
        "warm_start": True,
    }
    if classes:
        grown = ExtraTreesClassifier(criterion="entropy", **options)
    else:
        grown = ExtraTreesRegressor(min_samples_leaf=2, **options)
        target = target[:, 0] if target.shape[1] == 1 else target
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "The number of unique classes is greater than 50%", UserWarning)
        for first in range(0, trees, AT_ONCE):
            if first and deadline is not None and time.time() > deadline:
                break
            grown.set_params(n_estimators=min(first + AT_ONCE, trees)).fit(features, target, sample_weight=weight)
    known = grown.classes_.astype(np.int64) if classes else np.arange(grown.n_outputs_)
    width = classes or grown.n_outputs_
    parts, first = [], 0
    for tree in (member.tree_ for member in grown.estimators_):
        own = np.arange(tree.node_count)
        leaf = tree.children_left < 0
        value = np.zeros((tree.node_count, width), np.float32)
        told = tree.value[:, 0] if classes else tree.value[:, :, 0]
        value[:, known] = told / told.sum(axis=1, keepdims=True) if classes else told
        parts.append(
            (
                first + np.where(leaf, own, tree.children_left),
                first + np.where(leaf, own, tree.children_right),
                np.where(leaf, 0, tree.feature),
                tree.threshold.astype(np.float32),
                value,
            )
        )
        first += tree.node_count
    sizes = np.array([len(part[0]) for part in parts])
    left, right, feature, threshold, value = (np.concatenate(each) for each in zip(*parts, strict=True))
    return Forest(np.concatenate([[0], np.cumsum(sizes)[:-1]]), left, right, feature, threshold, value)
