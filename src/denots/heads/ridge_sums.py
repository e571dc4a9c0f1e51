"""The ridge of `heads.ridge` for rows that do not fit into memory: sums over blocks of rows tell it exactly.

Rows come in parts of several blocks. Sums are made part by part, here or elsewhere, and added in the order of the parts:
so the answer does not depend on who made them. Of many rows, a random sample is told what it would be told when left out.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from scipy.linalg import blas, cholesky, solve_triangular

from denots.cluster.workers import Here, Workers
from denots.heads.ridge import ENOUGH, LARGE, PENALTIES, Ridge, choose_penalty, fit_ridge
from denots.shapes import FloatArray, IntArray


class Block(NamedTuple):
    """Some rows: features [m, F] and targets [m, outputs]."""

    features: FloatArray
    target: FloatArray


class Part(NamedTuple):
    """Rows `first` to `end` of all."""

    number: int
    first: int
    end: int


Read = Callable[
    [Part, IntArray], Iterable[Block]
]  # some rows of a part, which are counted from its first, in this order
FEW = 3000  # rows that are put together, for then their products are a smaller matrix than those of features
TOLD = 20_000  # rows that are left out, each once, at most; more would hardly change what is known of an answer


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
class _Scale:
    """How `fit_ridge` centres and divides features."""

    rows: int
    centre: FloatArray
    inverse: FloatArray
    middle: FloatArray

    def scaled(self, features: FloatArray) -> FloatArray:
        return ((features - self.centre) * self.inverse).astype(np.float32)


class _Equations(NamedTuple):
    """Normal equations of features that are centred and divided."""

    scale: _Scale
    gram: FloatArray
    cross: FloatArray

    @classmethod
    def of(cls, sums: Sums) -> "_Equations":
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
        return cls(_Scale(sums.rows, centre, inverse, middle), gram, cross)


def fit_ridge_parts(read: Read, parts: Sequence[Part], workers: Workers | None = None) -> Ridge:
    """What `fit_ridge` gives for all rows together, to rounding; of many rows, parts are read once, or twice where few features
    let all rows tell the penalty, and then the rows that are left out, TOLD at most: others have NaN there."""
    do, rows = (workers or Here()).in_order, parts[-1].end
    if rows <= FEW:
        return fit_ridge(*_stacked([block for part in parts for block in read(part, _all(part))]))
    shuffled = np.random.default_rng(0).permutation(rows)
    chosen, told = np.sort(shuffled[:ENOUGH]), np.sort(shuffled[:TOLD])
    del shuffled
    begin = next(iter(read(parts[0], _all(parts[0])))).features.mean(axis=0, dtype=np.float64).astype(np.float32)
    sums, some = _joined(do(_AddUp(read, begin, chosen), parts))
    scale, gram, cross = _Equations.of(sums)
    del sums
    if min(rows, len(gram)) <= LARGE:
        values, vectors = np.linalg.eigh(gram)
        errors = _Errors(read, scale, np.maximum(values, 0.0), vectors, vectors.T @ cross)
        penalty = float(errors.penalties[np.sum(list(do(errors, parts)), axis=0).argmin()])
    else:
        penalty = choose_penalty(scale.scaled(some.features), some.target - scale.middle)
    factor = cholesky(gram + penalty * np.eye(len(gram)), lower=True, overwrite_a=True)
    root = solve_triangular(factor, np.eye(len(factor)), lower=True, overwrite_b=True)
    slopes = root.T @ (root @ cross)
    leave = _LeftOut(read, scale, slopes, np.ascontiguousarray(root.T, dtype=np.float32), told)
    left_out = np.full((rows, cross.shape[1]), np.nan)
    left_out[told] = np.concatenate(list(do(leave, parts)))
    weight = (slopes * scale.inverse[:, None]).T
    bias = scale.middle - weight @ scale.centre
    return Ridge(np.ascontiguousarray(weight, dtype=np.float32), bias.astype(np.float32), left_out)


def _all(part: Part) -> IntArray:
    return np.arange(part.end - part.first)


def _within(rows: IntArray, first: int, end: int) -> IntArray:
    """Those of the sorted rows that lie between two others, counted from the first of these."""
    return rows[slice(*np.searchsorted(rows, (first, end)))] - first


@dataclass(frozen=True, slots=True, eq=False)
class _AddUp:
    """The sums over a part, and those of the chosen rows that are in it."""

    read: Read
    shift: FloatArray
    chosen: IntArray

    def __call__(self, part: Part) -> tuple[Sums, Block]:
        sums, some, first = None, [], part.first
        for block in self.read(part, _all(part)):
            own = Sums.of(block, self.shift)
            sums = own if sums is None else sums.add(own)
            end = first + len(block.target)
            here = _within(self.chosen, first, end)
            some.append(Block(block.features[here], block.target[here]))
            first = end
        if sums is None:
            raise ValueError(f"part {part.number} has no row")
        return sums, _stacked(some)


def _joined(found: Iterable[tuple[Sums, Block]]) -> tuple[Sums, Block]:
    sums, some = None, []
    for own, chosen in found:
        # What comes from another process may not be written to.
        sums = replace(own, products=own.products.copy(order="K")) if sums is None else sums.add(own)
        some.append(chosen)
    if sums is None:
        raise ValueError("a ridge needs at least one part")
    return sums, _stacked(some)


def _stacked(blocks: list[Block]) -> Block:
    return Block(*(np.concatenate(parts) for parts in zip(*blocks, strict=True)))


@dataclass(frozen=True, slots=True, eq=False)
class _Errors:
    """For each penalty the squared error over the rows of a part, each left out once."""

    read: Read
    scale: _Scale
    values: FloatArray
    vectors: FloatArray
    projected: FloatArray

    @property
    def penalties(self) -> FloatArray:
        return PENALTIES * len(self.values)

    def __call__(self, part: Part) -> FloatArray:
        errors = np.zeros(len(self.penalties))
        for block in self.read(part, _all(part)):
            basis = self.scale.scaled(block.features).astype(np.float64) @ self.vectors
            centred = block.target - self.scale.middle
            for k, penalty in enumerate(self.penalties):
                residual = centred - basis @ (self.projected / (self.values + penalty)[:, None])
                leverage = (basis**2) @ (1 / (self.values + penalty)) + 1 / self.scale.rows
                errors[k] += ((residual / np.maximum(1 - leverage, 1e-9)[:, None]) ** 2).sum()
        return errors


@dataclass(frozen=True, slots=True, eq=False)
class _LeftOut:
    """What is said of some rows of a part when they are left out, each once."""

    read: Read
    scale: _Scale
    slopes: FloatArray
    root: FloatArray
    rows: IntArray

    def __call__(self, part: Part) -> FloatArray:
        rows = _within(self.rows, part.first, part.end)
        blocks = self.read(part, rows) if len(rows) else ()
        return np.concatenate([np.zeros((0, self.slopes.shape[1])), *map(self._told, blocks)])

    def _told(self, block: Block) -> FloatArray:
        features, centred = self.scale.scaled(block.features), block.target - self.scale.middle
        leverage = ((features @ self.root) ** 2).sum(axis=1, dtype=np.float64)
        residual = centred - features @ self.slopes
        told = centred - residual / np.maximum(1 - leverage - 1 / self.scale.rows, 1e-9)[:, None]
        return np.asarray(told + self.scale.middle)
