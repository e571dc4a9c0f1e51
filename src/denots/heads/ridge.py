"""Ridge regression whose penalty is chosen by leaving out each row once, in closed form."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.linalg import cho_solve, cholesky, solve_triangular

from denots import kernels
from denots.shapes import FloatArray, IntArray

PENALTIES = 10.0 ** np.linspace(-6, 3, 19)  # per feature
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
        return kernels.linear_rows(features.astype(self.weight.dtype, copy=False), self.weight, self.bias)


@dataclass(frozen=True, slots=True, eq=False)
class _Rows:
    """How rows count: the root of each weight, 1 in the mean of squares, and rows that are left out together."""

    root: FloatArray  # [n, 1]
    groups: tuple[IntArray, ...] | None

    @classmethod
    def of(cls, n: int, weight: FloatArray | None, labels: npt.NDArray[np.integer] | None) -> "_Rows":
        root = np.ones(n) if weight is None else np.sqrt(weight / weight.mean())
        return cls(root[:, None], None if labels is None else _members(labels))

    def select(self, rows: IntArray) -> "_Rows":
        if self.groups is None:
            return _Rows(self.root[rows], None)
        labels = np.empty(len(self.root), dtype=np.int64)
        for k, members in enumerate(self.groups):
            labels[members] = k
        return _Rows(self.root[rows], _members(labels[rows]))

    def centred(self, table: FloatArray) -> FloatArray:
        """Weighted rows without their weighted mean."""
        root = self.root.astype(table.dtype)
        return table - root * ((root * table).mean(axis=0) / (root**2).mean())


def fit_ridge(
    features: FloatArray,
    target: FloatArray,
    *,
    weight: FloatArray | None = None,
    groups: npt.NDArray[np.integer] | None = None,
) -> Ridge:
    """The map from features [n, F] to targets [n, outputs] with the least squared leave-one-out error.

    Features are centred and divided by how much they vary, or by how much the median one does where that is
    more: what hardly varied in training may do so later. One that never varies is ignored.

    With residual r_i and leverage h_i of a row, the error that it has when left out is r_i / (1 - h_i). One
    eigendecomposition, of the smaller of both Gram matrices, gives that for every penalty. Where both are large
    some of the rows tell the penalty, which is a ratio of variances and does not grow with their number, and a
    Cholesky decomposition serves all of them.

    Args:
        weight: of each row in the squared error, positive; a penalty counts against their mean.
        groups: rows with one label are left out together, which takes one small system of equations for each label.
    """
    n, size = features.shape
    rows = _Rows.of(n, weight, groups)
    centre, spread = _moments(features, weight)
    varies = spread > 1e-6 * np.maximum(1.0, np.abs(centre))
    usual = np.median(spread[varies]) if varies.any() else 1.0
    inverse = np.where(varies, 1 / np.maximum(spread, usual), 0.0)
    scaled = np.empty(features.shape, dtype=np.float32)
    for first in range(0, n, LARGE):  # all rows in double precision would be the peak of memory
        part = slice(first, first + LARGE)
        scaled[part] = (features[part] - centre) * inverse
    middle = np.average(target, axis=0, weights=weight)
    centred = target - middle
    if weight is not None:
        scaled, centred = (scaled * rows.root).astype(np.float32), centred * rows.root
    if min(n, size) <= LARGE:
        slopes, left_out, _ = _decomposed(scaled, centred, rows)
    else:
        some = np.sort(np.random.default_rng(0).permutation(n)[:ENOUGH])
        penalty = _chosen(scaled[some], centred[some], rows.select(some))
        slopes, left_out = _solved(scaled, centred, penalty, rows)
    slopes = slopes * inverse
    bias = middle - slopes @ centre
    told = left_out / rows.root + middle
    return Ridge(np.ascontiguousarray(slopes, dtype=np.float32), bias.astype(np.float32), told)


def lean_of_means(target: FloatArray, weight: FloatArray | None, groups: npt.NDArray[np.integer] | None) -> FloatArray:
    """How far the mean of the other rows lies from that of all [n, outputs], for each row that is left out.

    It lies on the other side of it than the row, by its share. Where features say little, answers for left-out rows are ranked by that
    alone, from the most wrong one on; without it they stand above one mean, each by slopes that were told by the others.
    """
    own = np.ones(len(target)) if weight is None else weight
    labels = np.arange(len(target)) if groups is None else np.unique(groups, return_inverse=True)[1]
    apart = (target - np.average(target, axis=0, weights=own)) * own[:, None]
    together = np.stack([np.bincount(labels, column) for column in apart.T], axis=1)
    others = own.sum() - np.bincount(labels, own)
    return np.asarray(-(together / others[:, None])[labels])


def choose_penalty(scaled: FloatArray, centred: FloatArray) -> float:
    """The penalty for which rows that are left out, each once, have the least squared error."""
    return _chosen(scaled, centred, _Rows.of(len(scaled), None, None))


def _chosen(scaled: FloatArray, centred: FloatArray, rows: _Rows) -> float:
    return _decomposed(rows.centred(scaled), rows.centred(centred), rows)[2]


def _moments(features: FloatArray, weight: FloatArray | None) -> tuple[FloatArray, FloatArray]:
    """Mean and spread of each feature."""
    if weight is None:
        return features.mean(axis=0, dtype=np.float64), features.std(axis=0, dtype=np.float64)
    centre = np.average(features, axis=0, weights=weight)
    return centre, np.sqrt(np.average((features - centre) ** 2, axis=0, weights=weight))


def _members(labels: npt.NDArray[np.integer]) -> tuple[IntArray, ...]:
    """The rows of each label."""
    order = np.argsort(labels, kind="stable")
    return tuple(np.split(order, np.flatnonzero(np.diff(labels[order])) + 1))


def _decomposed(scaled: FloatArray, centred: FloatArray, rows: _Rows) -> tuple[FloatArray, FloatArray, float]:
    """Weights, what is said of rows that are left out, and the penalty for which that is best."""
    n, size = scaled.shape
    wide = size >= n
    gram = (scaled @ scaled.T if wide else scaled.T @ scaled).astype(np.float64)
    values, vectors = np.linalg.eigh(gram)
    values = np.maximum(values, 0.0)
    # Left singular vectors times singular values, one column for each eigenvalue.
    basis = vectors * np.sqrt(values) if wide else scaled.astype(np.float64) @ vectors
    if rows.groups:
        basis = rows.centred(basis)  # what single precision left of the mean would make blocks indefinite
    projected = basis.T @ centred
    best, least = None, np.inf
    for penalty in PENALTIES * size:
        shrunk = projected / (values + penalty)[:, None]
        leverage = (basis**2) @ (1 / (values + penalty))
        half = basis / np.sqrt(values + penalty) if rows.groups else basis
        left_out = _left_out(centred, centred - basis @ shrunk, leverage, _product(half), rows)
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


def _solved(scaled: FloatArray, centred: FloatArray, penalty: float, rows: _Rows) -> tuple[FloatArray, FloatArray]:
    """Weights, and what is said of rows that are left out, for one penalty."""
    n, size = scaled.shape
    wide = size >= n
    gram = (scaled @ scaled.T if wide else scaled.T @ scaled).astype(np.float64)
    gram[np.diag_indices_from(gram)] += penalty
    factor = cholesky(gram, lower=True, overwrite_a=True, check_finite=True)
    if wide:
        dual = cho_solve((factor, True), centred)
        root = solve_triangular(factor, np.eye(n), lower=True, overwrite_b=True)
        leverage = 1 - penalty * (root**2).sum(axis=0)

        def wide_hat(own: IntArray) -> FloatArray:
            return np.eye(len(own)) - penalty * root[:, own].T @ root[:, own]

        left_out = _left_out(centred, penalty * dual, leverage, wide_hat, rows)
        return (scaled.T @ dual.astype(np.float32)).T, left_out
    weight = cho_solve((factor, True), scaled.T.astype(np.float64) @ centred).T
    leverage = np.empty(n)
    for first in range(0, n, LARGE):
        part = scaled[first : first + LARGE].astype(np.float64)
        leverage[first : first + LARGE] = (solve_triangular(factor, part.T, lower=True) ** 2).sum(axis=0)

    def hat(own: IntArray) -> FloatArray:
        return _gram(solve_triangular(factor, scaled[own].T.astype(np.float64), lower=True).T)

    return weight, _left_out(centred, centred - scaled @ weight.T, leverage, hat, rows)


def _left_out(
    centred: FloatArray, residual: FloatArray, leverage: FloatArray, hat: Callable[[IntArray], FloatArray], rows: _Rows
) -> FloatArray:
    """What is said of rows that are left out, each by itself or with its group.

    Args:
        leverage: of each row but for the part of the mean; `hat` gives the same matrix for several rows.
    """
    n = len(centred)
    if rows.groups is None:
        return centred - residual / np.maximum(1 - (leverage + rows.root[:, 0] ** 2 / n), 1e-9)[:, None]
    told = np.empty_like(centred)
    for own in rows.groups:
        lever = np.eye(len(own)) - hat(own) - _gram(rows.root[own]) / n
        told[own] = centred[own] - np.linalg.solve(lever, residual[own])
    return told


def _product(half: FloatArray) -> Callable[[IntArray], FloatArray]:
    return lambda own: _gram(half[own])


def _gram(rows: FloatArray) -> FloatArray:
    return rows @ rows.T
