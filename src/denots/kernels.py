"""The native extension, behind ordinary functions of arrays."""

import warnings
from collections.abc import Mapping
from functools import cache
from typing import Any, Literal, NamedTuple

import numpy as np

from denots import _native
from denots.errors import NativeUnavailable, SlowWarning
from denots.processors import threads
from denots.shapes import FloatArray, IntArray

# Bytes for the stages of a recorded solve; what does not fit is computed again for the gradient,
# with the same result to the last bit.
TAPE_BUDGET = 128 * 2**20

Layer = Literal["attention", "feed_forward", "state_space", "gru"]

_PROBLEMS = {np.dtype(np.float32): _native.Problem32, np.dtype(np.float64): _native.Problem64}


def fit_splines(
    kind: Literal["natural_cubic", "causal_hermite", "linear"],
    offsets: IntArray,
    times: FloatArray,
    observed: FloatArray,
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Value, slope before and slope after each time stamp, each [N, C]; NaN in `observed` is a hole."""
    value, before, after = (np.empty_like(observed, order="C") for _ in range(3))
    _native.fit_splines(
        kind=kind,
        offsets=np.ascontiguousarray(offsets),
        times=np.ascontiguousarray(times),
        observed=np.ascontiguousarray(observed),
        value=value,
        slope_before=before,
        slope_after=after,
        threads=threads(),
    )
    return value, before, after


def fill_straight(offsets: IntArray, times: FloatArray, table: FloatArray) -> None:
    """Fill the holes of a table [N, C], in place, by straight lines; before the first and after the last value it is held."""
    no_slopes = np.empty((0, table.shape[1]), table.dtype)
    _native.fit_splines("linear", offsets, times, table, table, no_slopes, no_slopes, threads())


def drive_rows(
    offsets: IntArray, times: FloatArray, values: FloatArray, *, start: float, end: float, **drive: Any
) -> tuple[IntArray, FloatArray, FloatArray]:
    """Offsets, times and rows of `inference.drive.Drive` in single precision; NaN stays where nothing was observed."""
    added = (times[offsets[:-1]] > start) + (times[offsets[1:] - 1] < end).astype(np.int64)
    driven_offsets = np.concatenate([[0], np.cumsum(np.diff(offsets) + added)])
    driven_times = np.empty(driven_offsets[-1])
    driven = np.empty((len(driven_times), len(drive["centre"])), np.float32)
    _native.drive_rows(
        offsets=np.ascontiguousarray(offsets),
        times=np.ascontiguousarray(times),
        values=np.ascontiguousarray(values),
        start=start,
        end=end,
        **drive,
        driven_offsets=driven_offsets,
        driven_times=driven_times,
        driven=driven,
        threads=threads(),
    )
    return driven_offsets, driven_times, driven


def summarise(
    offsets: IntArray,
    times: FloatArray,
    start: FloatArray,
    values: FloatArray,
    *,
    late: float,
    table: FloatArray,
    first_column: int,
) -> None:
    """Fill the statistics of all channels into a table, as `data.summary` describes them."""
    _native.summarise(
        offsets=np.ascontiguousarray(offsets),
        times=np.ascontiguousarray(times),
        start=np.ascontiguousarray(start),
        values=np.ascontiguousarray(values),
        late=late,
        table=table,
        first_column=first_column,
        threads=threads(),
    )


def normal_scores(table: FloatArray, edges: FloatArray, levels: FloatArray, holes: IntArray) -> FloatArray:
    """Each column of a table by rank, as `features.NormalScores` describes it; `edges` has a row for each."""
    scores = np.empty((len(table), table.shape[1] + len(holes)), np.float32)
    _native.normal_scores(
        table=np.ascontiguousarray(table),
        edges=np.ascontiguousarray(edges),
        levels=levels,
        holes=holes,
        scores=scores,
        threads=threads(),
    )
    return scores


def driven_path(
    offsets: IntArray,
    times: FloatArray,
    start: FloatArray,
    values: FloatArray,
    *,
    dtype: np.dtype[np.floating],
    **reading: Any,
) -> tuple[FloatArray, FloatArray, FloatArray, IntArray]:
    """Times, values and slopes of the knots of `inference.driven_curve`, two for each row, and where those end that a
    series owns."""
    knots, width = 2 * len(times), len(reading["centre"]) + values.shape[1]
    knot_times, ends = np.zeros(knots), np.empty(len(start), np.int64)
    knot_values, knot_slopes = np.empty((knots, width), dtype), np.empty((knots, width), dtype)
    _native.fill_driven_path(
        offsets=np.ascontiguousarray(offsets),
        times=np.ascontiguousarray(times),
        start=np.ascontiguousarray(start),
        values=np.ascontiguousarray(values),
        **reading,
        knot_times=knot_times,
        knot_values=knot_values,
        knot_slopes=knot_slopes,
        ends=ends,
        threads=threads(),
    )
    return knot_times, knot_values, knot_slopes, ends


class Pooled(NamedTuple):
    """What oscillators did along each series [n, oscillators]; for each threshold [n, thresholds, oscillators] the share
    of time above it, and by how much on average."""

    highest: FloatArray
    lowest: FloatArray
    mean: FloatArray
    last: FloatArray
    when_highest: FloatArray
    shares: FloatArray
    excess: FloatArray


def pool_oscillators(*, begins: IntArray, threshold: FloatArray, **others: Any) -> Pooled:
    """Solve damped oscillators along piecewise cubic signals, exactly, and pool their outputs along time.

    Signals without slopes are straight lines. Between two looks an output is taken as a straight line; at each
    knot there is one.
    """
    pooled = _pooled(begins, threshold, 5 + 2 * len(threshold), whole=True, **others)
    highest, lowest, mean, last, when = (pooled[:, k] for k in range(5))
    return Pooled(highest, lowest, mean, last, when, pooled[:, 5::2], pooled[:, 6::2])


def oscillator_shares(*, begins: IntArray, threshold: FloatArray, **others: Any) -> FloatArray:
    """Of all that is pooled, the share of time above each threshold [n, thresholds, oscillators], in less time."""
    return _pooled(begins, threshold, len(threshold), whole=False, **others)


def _pooled(begins: IntArray, threshold: FloatArray, rows: int, **others: Any) -> FloatArray:
    target()
    pooled = np.empty((len(begins), rows, threshold.shape[1]), np.float32)
    _native.pool_oscillators(begins=begins, threshold=threshold, **others, pooled=pooled, threads=threads())
    return pooled


def sample_evenly(points: int, *, begins: IntArray, values: FloatArray, **others: Any) -> FloatArray:
    """Straight lines at so many even times, from the first knot of each series to its last [n, C, points]."""
    grid = np.empty((len(begins), values.shape[1], points), np.float32)
    _native.sample_evenly(begins=begins, values=values, **others, grid=grid, threads=threads())
    return grid


def convolution_shares(**arguments: Any) -> None:
    """Fill `shares` [n, thresholds, filters]: at which share of the points each filter is above each threshold."""
    target()
    _native.pool_convolutions(**arguments, threads=threads())


def sum_evidence(
    offsets: IntArray, times: FloatArray, scores: FloatArray, *, directions: FloatArray, **curves: Any
) -> dict[str, FloatArray]:
    """The arrays of `inference.discriminant.Evidence`; NaN in `scores` was not observed."""
    target()
    series, size = len(offsets) - 1, directions.shape[2]
    sums: dict[str, FloatArray] = {
        "gram": np.empty((series, size, size)),
        "told": np.empty((series, size)),
        "square": np.empty(series),
        "seen": np.empty(series),
    }
    _native.sum_evidence(
        offsets=np.ascontiguousarray(offsets),
        times=np.ascontiguousarray(times),
        scores=np.ascontiguousarray(scores),
        directions=directions,
        **curves,
        **sums,
        threads=threads(),
    )
    return sums


def log_likelihoods(*, means: FloatArray, told: FloatArray, **arguments: Any) -> FloatArray:
    """How likely each class would have drawn what was seen of each series [n, classes], but for what all have in common."""
    target()
    found = np.empty((len(told), len(means)))
    _native.log_likelihoods(means=means, told=told, **arguments, found=found, threads=threads())
    return found


def posteriors(*, told: FloatArray, **arguments: Any) -> tuple[FloatArray, FloatArray]:
    """Mean [n, R] and covariance [n, R, R] of the weights of each series in class `of[i]`, given what was seen of it."""
    target()
    mean, covariance = np.empty(told.shape), np.empty((*told.shape, told.shape[1]))
    _native.posteriors(told=told, **arguments, mean=mean, covariance=covariance, threads=threads())
    return mean, covariance


def linear_rows(x: FloatArray, weight: FloatArray, bias: FloatArray) -> FloatArray:
    """`x weight^T + bias` of rows [B, C], each summed by itself in one order: it does not depend on the other rows.

    The bias is one for all rows [G], or one for each [B, G].
    """
    found = np.empty((len(x), len(weight)), weight.dtype)
    _native.linear_rows(
        x=np.ascontiguousarray(x),
        weight=np.ascontiguousarray(weight),
        bias=np.ascontiguousarray(bias if bias.ndim == 2 else bias[None]),
        found=found,
        threads=threads(),
    )
    return found


def softmax_rows(logits: FloatArray) -> FloatArray:
    """Shares [B, K] that sum to one; a row with NaN is NaN."""
    shares = np.empty(logits.shape)
    _native.softmax_rows(logits=np.ascontiguousarray(logits, dtype=np.float64), shares=shares)
    return shares


def sum_trees(table: FloatArray, outputs: int, **forest: Any) -> FloatArray:
    """What boosted trees say of each row [B, outputs], summed as LightGBM sums them."""
    sums = np.empty((len(table), outputs))
    _native.sum_trees(table=np.ascontiguousarray(table), **forest, sums=sums, threads=threads())
    return sums


def run_layer(layer: Layer, **arrays: Any) -> None:
    """Fill `found` with what a layer makes of its rows."""
    target()
    getattr(_native, layer)(**arrays, threads=threads())


def pull_layer(layer: Layer, **arrays: Any) -> None:
    """Fill the arrays `to_...` with gradients, given that of what was found; those of weights have to be zero before."""
    getattr(_native, f"pull_{layer}")(**arrays, threads=threads())


def target() -> str:
    """The CPU target that the solver runs on; the environment variable DENOTS_TARGET forces one.

    Before its first use in a process a target solves a few small problems beside the plain one; one that
    does not agree with it is passed over with a warning, or refused where it was forced.
    """
    try:
        chosen, passed_over = _native.target()
    except ValueError as error:
        raise NativeUnavailable(str(error)) from None
    if passed_over:
        _warn_of(f"{passed_over}Using {chosen} instead; please report this with the model of your processor.")
    return chosen


@cache
def _warn_of(message: str) -> None:
    warnings.warn(message, SlowWarning, stacklevel=3)


def targets() -> list[str]:
    """All CPU targets that can run here, the plainest first."""
    return _native.supported()[::-1]


def fields() -> list[str]:
    """The names of all fields that have a fused kernel, for `VectorField.kernel`."""
    return _native.fields()


def method(order: int, safety: float, tables: Mapping[str, FloatArray]) -> _native.Method:
    """A Runge-Kutta method that reuses its last stage; `tables` are nodes, weights, error and dense."""
    return _native.Method(order=order, safety=safety, **tables)


def problem(*, h0: FloatArray, bias: FloatArray, **others: Any) -> Any:
    """Everything a solve reads, as one native object that holds on to its arrays.

    A bias without a series axis serves all series.
    """
    target()
    return _PROBLEMS[h0.dtype](h0=h0, bias=bias if bias.ndim == 2 else bias[None], **others)


def solve(problem: Any, *, record: bool, **found: Any) -> Any:
    """Fill the arrays `found`; returns the tape of accepted steps if it is to be recorded."""
    return problem.solve(**found, record=record, tape_budget=TAPE_BUDGET, threads=threads())


def pull_back(problem: Any, tape: Any, **arrays: Any) -> None:
    """Fill the gradients among the arrays, given that of the states and what `solve` found.

    Those of `values` and `slopes` of the path may be left out, which is faster.
    """
    problem.pull_back(**arrays, tape=tape, threads=threads())


def steps(problem: Any, tape: Any, *, offsets: IntArray, **found: Any) -> None:
    """Fill the arrays `found`, times and states at the start of every accepted step of a recorded solve.

    Rows `offsets[i]` to `offsets[i + 1]` are those of series i; the last of them is left for its end.
    """
    problem.steps(tape=tape, offsets=offsets, **found)
