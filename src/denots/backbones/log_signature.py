"""Log-signatures of depth two: how far a path went, and the areas that it swept on the way."""

import numpy as np

from denots.shapes import FloatArray, IntArray


def log_signature_size(channels: int) -> int:
    """Increments, and one area for each pair of channels."""
    return channels + channels * (channels - 1) // 2


def log_signatures(points: FloatArray, first: IntArray, last: IntArray) -> FloatArray:
    """Log-signatures [W, d + d (d - 1) / 2] of the straight lines through rows first[w] to last[w] of `points`.

    The increments of the d channels come first, then half the signed area between channels i < j,
    that is (01), (02), ..., (12), ...: the Lyndon basis. Every window needs at least two rows.
    """
    lengths = last - first
    offsets = np.cumsum(lengths) - lengths
    rows = np.arange(lengths.sum()) + np.repeat(first - offsets, lengths)
    steps = points[rows + 1] - points[rows]
    way = points[rows] - points[np.repeat(first, lengths)]
    found = [points[last] - points[first]]
    for i in range(points.shape[1] - 1):
        swept = way[:, i : i + 1] * steps[:, i + 1 :] - way[:, i + 1 :] * steps[:, i : i + 1]
        found.append(0.5 * np.add.reduceat(swept, offsets))
    return np.concatenate(found, axis=1)
