"""The one entry point: check, pick a backend, return a Solution."""

import warnings
from dataclasses import replace

import torch
from jaxtyping import Float
from torch import Tensor

from denots.errors import InvalidOption, NativeUnavailable, SlowWarning
from denots.fields.field import AffineInputField, Kernel, VectorField
from denots.inference.solver import Backend
from denots.ode.input_map import InputMap
from denots.ode.native import fused, pose, solve_native
from denots.ode.reference import ReferenceRun
from denots.ode.solution import Solution
from denots.ode.used import noted
from denots.paths.path import Path
from denots.registry import lookup
from denots.tableaus import METHODS, Tableau

_warned: set[tuple[type[VectorField], str]] = set()


def solve(
    field: VectorField,
    path: Path,
    h0: Float[Tensor, "n H"],
    *,
    rtol: float = 1e-5,
    atol: float = 1e-5,
    at: Tensor | None = None,
    method: str = "dopri5",
    max_steps: int = 10_000,
    step: float | None = None,
    input_map: InputMap | None = None,
    land_on_knots: bool = False,
    backend: Backend = "auto",
) -> Solution:
    """Integrate dh/dt = field(t, path(t), h) for every series from `path.t0`, each with its own steps.

    Args:
        rtol: allowed error of a step relative to the state; its default is that of predictions.
        atol: allowed error of a step where the state is small.
        at: query times of each series, in any order, not before `path.t0`; they may lie beyond
            the last observation, where the path is held. No question changes the answer to another: steps land on
            the end of the path only. Default: that end, K = 1.
        method: dopri5, tsit5, owrenzen4 or bosh3 (adaptive), rk4 or euler (fixed steps of size `step`).
        max_steps: attempted steps after which a series is given up with status MAX_STEPS.
        input_map: replaces the field's own input map, for embeddings folded into it.
        land_on_knots: let steps land on every knot, too, and begin anew there with the whole way to the next one, so that a
            state at a knot has the same bits whatever follows. The path must not jump.
        backend: "auto" takes the fused kernels where they apply; elsewhere the reference, which is
            many times slower, with a SlowWarning for each field and reason (`Solution.backend` and
            `Solution.fallback` say so too). "native" raises NativeUnavailable with the reason instead,
            and "reference" takes the plain loop. Native gradients cannot be differentiated again.
    """
    table = lookup(METHODS, method, "method")
    check_options(table, method, rtol, atol, max_steps, step)
    queries = path.t1[:, None] if at is None else at.to(torch.float64)
    check_shapes(field, path, h0, queries, input_map)
    if at is not None:
        _check_queries(path, queries)
    kernel = None if backend == "reference" else fused(field, path, h0, method, input_map)
    reason = kernel if isinstance(kernel, str) else None
    if backend == "native" and reason is not None:
        raise NativeUnavailable(f"the fused solver cannot do this: {reason}. Use backend='auto' or 'reference'.")
    if isinstance(kernel, Kernel):
        posed = pose(
            kernel,
            path,
            h0,
            queries=queries,
            method=method,
            rtol=rtol,
            atol=atol,
            max_steps=max_steps,
            input_map=input_map,
            land_on_knots=land_on_knots,
        )
        return noted(solve_native(*posed))
    if reason is not None and table.error is not None:  # whoever names a method of fixed steps has chosen
        _warn_once(field, reason)
    run = ReferenceRun(
        field=field,
        path=path,
        h=h0,
        queries=queries,
        table=table,
        rtol=rtol,
        atol=atol,
        max_steps=max_steps,
        fixed_step=step,
        input_map=input_map,
        land_on_knots=land_on_knots,
    )
    return noted(replace(run.solve(), fallback=reason))


def _warn_once(field: VectorField, reason: str) -> None:
    key = (type(field), reason)
    if key not in _warned:
        warnings.warn(
            f"solving with the reference loop, many times slower than the fused solver: {reason}. "
            "Pass backend='reference' to solve without this warning.",
            SlowWarning,
            stacklevel=3,
        )
        _warned.add(key)


def check_options(table: Tableau, method: str, rtol: float, atol: float, max_steps: int, step: float | None) -> None:
    if table.error is not None and not (rtol >= 0 and atol >= 0 and rtol + atol > 0):
        raise InvalidOption(f"tolerances must not be negative, nor both zero; got rtol={rtol}, atol={atol}.")
    if max_steps < 1:
        raise InvalidOption(f"max_steps must be at least 1; got {max_steps}.")
    if table.error is None and (step is None or not step > 0):
        raise InvalidOption(f"method {method!r} takes fixed steps: give step=..., a positive time; got {step}.")
    if table.error is not None and step is not None:
        raise InvalidOption(f"method {method!r} chooses its own steps; leave out step={step}.")


def check_shapes(field: VectorField, path: Path, h0: Tensor, queries: Tensor, input_map: InputMap | None) -> None:
    n = len(path)
    if not isinstance(field, VectorField):
        raise InvalidOption(
            f"the field is {field!r:.60}; make it a VectorField, with input_size, state_size and forward(t, x, h)."
        )
    if h0.shape != (n, field.state_size):
        raise InvalidOption(f"h0 has shape {tuple(h0.shape)}; expected ({n}, {field.state_size}).")
    if h0.dtype != path.values.dtype:
        raise InvalidOption(f"h0 is {h0.dtype} but the path is {path.values.dtype}; make them one type.")
    if queries.ndim != 2 or len(queries) != n or not queries.shape[1]:
        raise InvalidOption(f"at has shape {tuple(queries.shape)}; expected ({n}, K) with K >= 1.")
    if input_map is not None and not isinstance(field, AffineInputField):
        raise InvalidOption(f"{type(field).__name__} has no affine input map to replace; leave out input_map.")
    if input_map is None and path.values.shape[1] != field.input_size:
        raise InvalidOption(f"the path has {path.values.shape[1]} channels; the field expects {field.input_size}.")


def _check_queries(path: Path, queries: Tensor) -> None:
    early = ~(queries >= path.t0[:, None]) | torch.isinf(queries)
    if early.any():
        i, j = early.nonzero()[0].tolist()
        raise InvalidOption(
            f"at[{i}, {j}] = {queries[i, j].item()} must be finite and not before {path.t0[i].item()}, where series {i} starts."
        )
