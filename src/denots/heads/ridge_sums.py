"""The ridge of `heads.ridge` for rows that do not fit into memory: sums over blocks of rows tell it exactly."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.linalg import blas, cholesky, solve_triangular

from denots.heads.ridge import ENOUGH, LARGE, PENALTIES, Ridge, choose_penalty
from denots.shapes import FloatArray, IntArray


class Block(NamedTuple):
    """Some rows: features [m, F] and targets [m, outputs]."""

    features: FloatArray
    target: FloatArray


Blocks = Callable[[], Iterable[Block]]  # all rows, in the same order each time


@dataclass(frozen=True, slots=True, eq=False)
class Sums:
    """What blocks of rows add up to, of features less a shift that is near their mean."""

    shift: FloatArray  # [F]
    rows: int
    total: FloatArray  # [F]
    products: FloatArray  # [F, F], the upper half
    told: FloatArray  # [outputs]
    cross: FloatArray  # [F, outputs]

    @classmethod
    def of(cls, block: Block, shift: FloatArray) -> "Sums":
        """In single precision within a block, as features are; in double precision from block to block."""
        near = np.asarray(block.features - shift, dtype=np.float32)
        target = np.asarray(block.target, dtype=np.float64)
        return cls(
            shift,
            len(near),
            near.sum(axis=0, dtype=np.float64),
            blas.ssyrk(1.0, near.T).astype(np.float64),
            target.sum(axis=0),
            near.T.astype(np.float64) @ target,
        )

    def add(self, other: "Sums") -> "Sums":
        """Both together; the large matrix of this one is used again."""
        np.add(self.products, other.products, out=self.products)
        return Sums(
            self.shift,
            self.rows + other.rows,
            self.total + other.total,
            self.products,
            self.told + other.told,
            self.cross + other.cross,
        )


@dataclass(frozen=True, slots=True, eq=False)
class _Scaled:
    """Normal equations of features that are centred and divided as `fit_ridge` does."""

    rows: int
    centre: FloatArray
    inverse: FloatArray
    middle: FloatArray
    gram: FloatArray
    cross: FloatArray

    @classmethod
    def of(cls, sums: Sums) -> "_Scaled":
        mean, middle = sums.total / sums.rows, sums.told / sums.rows
        gram = np.triu(sums.products) + np.triu(sums.products, 1).T
        gram -= sums.rows * np.outer(mean, mean)
        spread = np.sqrt(np.maximum(np.diag(gram) / sums.rows, 0.0))
        centre = sums.shift + mean
        varies = spread > 1e-6 * np.maximum(1.0, np.abs(centre))
        usual = np.median(spread[varies]) if varies.any() else 1.0
        inverse = np.where(varies, 1 / np.maximum(spread, usual), 0.0)
        gram *= inverse
        gram *= inverse[:, None]
        cross = (sums.cross - sums.rows * np.outer(mean, middle)) * inverse[:, None]
        return cls(sums.rows, centre, inverse, middle, gram, cross)

    def scaled(self, features: FloatArray) -> FloatArray:
        return ((features - self.centre) * self.inverse).astype(np.float32)


def fit_ridge_blocks(blocks: Blocks, rows: int) -> Ridge:
    """What `fit_ridge` gives for all rows together, to rounding; blocks are read twice, or thrice where few features
    let all rows tell the penalty."""
    chosen = np.sort(np.random.default_rng(0).permutation(rows)[:ENOUGH])
    sums, some = _add_up(blocks, chosen)
    equations = _Scaled.of(sums)
    if min(rows, len(equations.gram)) <= LARGE:
        penalty = _choose(blocks, equations)
    else:
        penalty = choose_penalty(equations.scaled(some.features), some.target - equations.middle)
    factor = cholesky(equations.gram + penalty * np.eye(len(equations.gram)), lower=True, overwrite_a=True)
    root = solve_triangular(factor, np.eye(len(factor)), lower=True, overwrite_b=True)
    slopes = root.T @ (root @ equations.cross)
    narrow = np.ascontiguousarray(root.T, dtype=np.float32)
    parts = [_left_out(block, equations, slopes, _square_sums(block, equations, narrow)) for block in blocks()]
    weight = (slopes * equations.inverse[:, None]).T
    bias = equations.middle - weight @ equations.centre
    return Ridge(np.ascontiguousarray(weight, dtype=np.float32), bias.astype(np.float32), np.concatenate(parts))


def _add_up(blocks: Blocks, chosen: IntArray) -> tuple[Sums, Block]:
    """The sums over all blocks, in their order, and the chosen rows themselves."""
    sums, some, first = None, [], 0
    for block in blocks():
        shift = block.features.mean(axis=0, dtype=np.float64).astype(np.float32) if sums is None else sums.shift
        own = Sums.of(block, shift)
        sums = own if sums is None else sums.add(own)
        here = chosen[np.searchsorted(chosen, first) : np.searchsorted(chosen, first + len(block.target))] - first
        some.append(Block(block.features[here], block.target[here]))
        first += len(block.target)
    if sums is None:
        raise ValueError("a ridge needs at least one row")
    return sums, Block(*(np.concatenate(parts) for parts in zip(*some, strict=True)))


def _choose(blocks: Blocks, equations: _Scaled) -> float:
    """The penalty with the least squared error over rows that are left out, each once."""
    values, vectors = np.linalg.eigh(equations.gram)
    values = np.maximum(values, 0.0)
    projected = vectors.T @ equations.cross
    penalties = PENALTIES * len(values)
    errors = np.zeros(len(penalties))
    for block in blocks():
        basis = equations.scaled(block.features).astype(np.float64) @ vectors
        centred = block.target - equations.middle
        for k, penalty in enumerate(penalties):
            residual = centred - basis @ (projected / (values + penalty)[:, None])
            leverage = (basis**2) @ (1 / (values + penalty)) + 1 / equations.rows
            errors[k] += ((residual / np.maximum(1 - leverage, 1e-9)[:, None]) ** 2).sum()
    return float(penalties[errors.argmin()])


def _square_sums(block: Block, equations: _Scaled, root: FloatArray) -> FloatArray:
    return np.asarray(((equations.scaled(block.features) @ root) ** 2).sum(axis=1, dtype=np.float64))


def _left_out(block: Block, equations: _Scaled, slopes: FloatArray, leverage: FloatArray) -> FloatArray:
    """What is said of each row when it is left out."""
    centred = block.target - equations.middle
    residual = centred - equations.scaled(block.features) @ slopes
    told = centred - residual / np.maximum(1 - leverage - 1 / equations.rows, 1e-9)[:, None]
    return np.asarray(told + equations.middle)
