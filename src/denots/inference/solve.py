"""Solve a field that has a kernel, without any gradient."""

from collections.abc import Mapping
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from denots import kernels
from denots.errors import InvalidOption
from denots.inference.curve import Curve
from denots.inference.solver import SolverConfig
from denots.shapes import BoolArray, FloatArray, IntArray
from denots.tableaus import METHODS

MAX_STATES = 512
KERNELS = {"anti": "gru-anti", "sync": "gru-sync", "none": "gru-none", "tanh": "mlp-tanh", "relu": "mlp-relu"}


def unsolved(options: SolverConfig, field: Any, states: int) -> str | None:
    """Why a model with such a field and such options is solved by torch alone; None where it is not."""
    method = METHODS.get(options.method)
    if field not in KERNELS:
        return f"field {field!r} has no kernel"
    if method is None or method.error is None or not method.reuses_last:
        return f"method {options.method!r} has no kernel"
    if states > MAX_STATES:
        return f"kernels hold up to {MAX_STATES} states"
    return "backend 'reference' needs torch" if options.backend == "reference" else None


class FieldKernel(NamedTuple):
    """The kernel of a field and its weights; an outer layer is empty where the field has none."""

    name: str
    weight_hh: FloatArray
    bias_hh: FloatArray
    weight_in: FloatArray
    bias: FloatArray  # [G], or one for each series
    weight_out: FloatArray
    bias_out: FloatArray

    @classmethod
    def restore(
        cls, field: str, weights: Mapping[str, FloatArray], weight_in: FloatArray, bias: FloatArray
    ) -> "FieldKernel":
        """A field among the weights of a backbone, that meets the signal through a given input map."""
        weight_hh = weights["field.weight_hh"]
        none = np.empty(0, weight_hh.dtype)
        return cls(
            KERNELS[field],
            weight_hh,
            weights["field.bias_hh"],
            weight_in,
            bias,
            weights.get("field.weight_out", none.reshape(0, weight_hh.shape[1])),
            weights.get("field.bias_out", none),
        )


class Solved(NamedTuple):
    """States at the query times, NaN for a series that failed."""

    states: FloatArray  # [n, K, H]
    ok: BoolArray
    evaluations: IntArray


@cache
def native_method(name: str) -> Any:
    """A method of `METHODS` as the kernels take it."""
    table = METHODS[name]
    stages = len(table.nodes)
    tables = {
        "nodes": np.array(table.nodes),
        "weights": np.array([row + (0.0,) * (stages - len(row)) for row in table.stages]),
        "error": np.array(table.error),
        "dense": np.array(table.dense),
    }
    return kernels.method(table.order, table.safety, tables)


def solve(
    field: FieldKernel,
    curve: Curve,
    h0: FloatArray,
    *,
    queries: FloatArray,
    method: str,
    tolerance: float,
    max_steps: int,
    land_on_knots: bool = False,
) -> Solved:
    """Integrate from `curve.t0` for every series with its own steps; no query may lie before that.

    Steps land on the end of the curve and, where it is said so, on every knot, as `ode.solve` tells.
    """
    early = ~(queries >= curve.t0[:, None]) | np.isinf(queries)
    if early.any():
        i, j = np.argwhere(early)[0].tolist()
        raise InvalidOption(
            f"at[{i}, {j}] = {queries[i, j]} must be finite and not before {curve.t0[i]}, where series {i} starts."
        )
    n, asked = queries.shape
    positions = np.argsort(queries, axis=1, kind="stable")
    problem = kernels.problem(
        field=field.name,
        method=native_method(method),
        rtol=tolerance,
        atol=tolerance,
        max_steps=max_steps,
        begins=curve.begin,
        ends=curve.end,
        times=curve.times,
        values=np.ascontiguousarray(curve.values),
        slopes=np.ascontiguousarray(curve.slopes),
        start=curve.t0,
        stop=curve.t1,
        queries=np.take_along_axis(queries, positions, axis=1),
        positions=positions,
        h0=h0,
        weight_hh=field.weight_hh,
        bias_hh=field.bias_hh,
        weight_in=field.weight_in,
        bias=field.bias,
        weight_out=field.weight_out,
        bias_out=field.bias_out,
        land_on_knots=land_on_knots,
    )
    states = np.empty((n, asked, h0.shape[1]), h0.dtype)
    status, evaluations, accepted, rejected = np.empty((4, n), np.int64)
    kernels.solve(
        problem,
        record=False,
        states=states,
        status=status,
        evaluations=evaluations,
        accepted=accepted,
        rejected=rejected,
        reached=np.empty(n),
    )
    return Solved(states, status == 0, evaluations)
