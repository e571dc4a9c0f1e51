"""Ridge regression whose penalty is chosen by leaving out each row once, in closed form."""

from dataclasses import dataclass

import numpy as np
import torch

from denots.rowwise import linear_rows
from denots.shapes import FloatArray

PENALTIES = 10.0 ** np.linspace(-6, 3, 19)  # per feature
ROWS = 64  # of a table that are multiplied at once


@dataclass(frozen=True, slots=True, eq=False)
class Ridge:
    """A linear map of features.

    left_out: what the map says of each training row when that row is left out [n, outputs].
    """

    weight: FloatArray  # [outputs, features]
    bias: FloatArray  # [outputs]
    left_out: FloatArray

    def predict(self, features: FloatArray) -> FloatArray:
        """Numbers for each row, which do not depend on the other rows."""
        weight, bias = torch.from_numpy(self.weight), torch.from_numpy(self.bias)
        parts = torch.from_numpy(np.ascontiguousarray(features)).to(weight.dtype).split(ROWS)
        return torch.cat([linear_rows(part, weight, bias) for part in parts]).numpy()


def fit_ridge(features: FloatArray, target: FloatArray) -> Ridge:
    """The map from features [n, F] to targets [n, outputs] with the least squared leave-one-out error.

    Features are centred and divided by how much they vary, or by how much the median one does where that is
    more: what hardly varied in training may do so later. One that never varies is ignored.

    With residual r_i and leverage h_i of a row, the error that it has when left out is r_i / (1 - h_i). One
    eigendecomposition, of the smaller of both Gram matrices, gives that for every penalty.
    """
    n, size = features.shape
    centre, spread = features.mean(axis=0, dtype=np.float64), features.std(axis=0, dtype=np.float64)
    varies = spread > 1e-6 * np.maximum(1.0, np.abs(centre))
    usual = np.median(spread[varies]) if varies.any() else 1.0
    inverse = np.where(varies, 1 / np.maximum(spread, usual), 0.0)
    scaled = ((features - centre) * inverse).astype(np.float32)
    middle = target.mean(axis=0)
    centred = target - middle
    wide = size >= n
    gram = (scaled @ scaled.T if wide else scaled.T @ scaled).astype(np.float64)
    values, vectors = np.linalg.eigh(gram)
    values = np.maximum(values, 0.0)
    # Left singular vectors times singular values, one column for each eigenvalue.
    basis = vectors * np.sqrt(values) if wide else scaled.astype(np.float64) @ vectors
    projected = basis.T @ centred
    best, least = None, np.inf
    for penalty in PENALTIES * size:
        shrunk = projected / (values + penalty)[:, None]
        leverage = (basis**2) @ (1 / (values + penalty)) + 1 / n
        left_out = centred - (centred - basis @ shrunk) / np.maximum(1 - leverage, 1e-9)[:, None]
        error = float(((centred - left_out) ** 2).mean())
        if error < least:
            best, least = (penalty, left_out), error
    if best is None:
        raise FloatingPointError("a target or a feature is not finite")
    penalty, left_out = best
    if wide:
        dual = vectors @ ((vectors.T @ centred) / (values + penalty)[:, None])
        weight = (scaled.T @ dual.astype(np.float32)).T
    else:
        weight = (vectors @ (projected / (values + penalty)[:, None])).T
    weight = weight * inverse
    bias = middle - weight @ centre
    return Ridge(np.ascontiguousarray(weight, dtype=np.float32), bias.astype(np.float32), left_out + middle)
