"""Ridge regression whose penalty is chosen by leaving out each row once, in closed form."""

from dataclasses import dataclass

import numpy as np
import torch
from scipy.linalg import cho_solve, cholesky, solve_triangular

from denots.rowwise import linear_rows
from denots.shapes import FloatArray

PENALTIES = 10.0 ** np.linspace(-6, 3, 19)  # per feature
ROWS = 64  # of a table that are multiplied at once
LARGE, ENOUGH = 3000, 1500  # where both sides of a table are larger, so many rows tell the penalty


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
    eigendecomposition, of the smaller of both Gram matrices, gives that for every penalty. Where both are large
    some of the rows tell the penalty, which is a ratio of variances and does not grow with their number, and a
    Cholesky decomposition serves all of them.
    """
    n, size = features.shape
    centre, spread = features.mean(axis=0, dtype=np.float64), features.std(axis=0, dtype=np.float64)
    varies = spread > 1e-6 * np.maximum(1.0, np.abs(centre))
    usual = np.median(spread[varies]) if varies.any() else 1.0
    inverse = np.where(varies, 1 / np.maximum(spread, usual), 0.0)
    scaled = ((features - centre) * inverse).astype(np.float32)
    middle = target.mean(axis=0)
    centred = target - middle
    if min(n, size) <= LARGE:
        weight, left_out, _ = _decomposed(scaled, centred)
    else:
        some = np.sort(np.random.default_rng(0).permutation(n)[:ENOUGH])
        part, own = scaled[some], centred[some]
        penalty = _decomposed(part - part.mean(axis=0), own - own.mean(axis=0))[2]
        weight, left_out = _solved(scaled, centred, penalty)
    weight = weight * inverse
    bias = middle - weight @ centre
    return Ridge(np.ascontiguousarray(weight, dtype=np.float32), bias.astype(np.float32), left_out + middle)


def _decomposed(scaled: FloatArray, centred: FloatArray) -> tuple[FloatArray, FloatArray, float]:
    """Weights, what is said of rows that are left out, and the penalty for which that is best."""
    n, size = scaled.shape
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
        left_out = _left_out(centred, centred - basis @ shrunk, leverage)
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
    return weight, left_out, float(penalty)


def _solved(scaled: FloatArray, centred: FloatArray, penalty: float) -> tuple[FloatArray, FloatArray]:
    """Weights, and what is said of rows that are left out, for one penalty."""
    n, size = scaled.shape
    wide = size >= n
    gram = (scaled @ scaled.T if wide else scaled.T @ scaled).astype(np.float64)
    gram[np.diag_indices_from(gram)] += penalty
    factor = cholesky(gram, lower=True, overwrite_a=True, check_finite=True)
    if wide:
        dual = cho_solve((factor, True), centred)
        root = solve_triangular(factor, np.eye(n), lower=True, overwrite_b=True)
        leverage = 1 - penalty * (root**2).sum(axis=0) + 1 / n
        return (scaled.T @ dual.astype(np.float32)).T, _left_out(centred, penalty * dual, leverage)
    weight = cho_solve((factor, True), scaled.T.astype(np.float64) @ centred).T
    leverage = np.full(n, 1 / n)
    for first in range(0, n, LARGE):
        rows = scaled[first : first + LARGE].astype(np.float64)
        leverage[first : first + LARGE] += (solve_triangular(factor, rows.T, lower=True) ** 2).sum(axis=0)
    return weight, _left_out(centred, centred - scaled @ weight.T, leverage)


def _left_out(centred: FloatArray, residual: FloatArray, leverage: FloatArray) -> FloatArray:
    return centred - residual / np.maximum(1 - leverage, 1e-9)[:, None]
