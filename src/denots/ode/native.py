"""The fused kernels as one differentiable function: forward solve, exact reverse sweep.

Gradients are those of the accepted steps, with step sizes as constants, as on the reference
backend. They can be taken once: there is no gradient of the gradient.
"""

from functools import cache
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from denots import kernels
from denots.fields.field import VectorField
from denots.fields.gru import AntiFeedbackGRU, NoFeedbackGRU, SyncFeedbackGRU
from denots.ode.input_map import InputMap
from denots.ode.runge_kutta import METHODS
from denots.ode.solution import Solution
from denots.paths.path import Path
from denots.shapes import FloatArray

FIELDS: dict[type[VectorField], int] = {NoFeedbackGRU: 0, SyncFeedbackGRU: 1, AntiFeedbackGRU: 2}
MAX_STATES = 512


def unsupported(
    field: VectorField, path: Path, h0: Tensor, method: str, input_map: InputMap | None = None
) -> str | None:
    """Why the fused kernels cannot do this work, or None when they can."""
    table = METHODS[method]
    if type(field) not in FIELDS:
        return f"{type(field).__name__} has no kernel"
    if table.error is None or not table.reuses_last:
        return f"method {method!r} has no kernel"
    if field.state_size > MAX_STATES:
        return f"kernels hold up to {MAX_STATES} states, the field has {field.state_size}"
    tensors = {"h0": h0, "the path": path.values, **dict(field.named_parameters())}
    if input_map is not None:
        tensors.update({"the input map": input_map.weight, "the bias of the input map": input_map.bias})
    for name, tensor in tensors.items():
        if tensor.device.type != "cpu":
            return f"{name} is on {tensor.device}, kernels run on the CPU"
        if tensor.dtype not in (torch.float32, torch.float64):
            return f"{name} is {tensor.dtype}, kernels take float32 and float64"
        if tensor.dtype != h0.dtype:
            return f"{name} is {tensor.dtype} and h0 is {h0.dtype}, kernels take one type"
    if path.values.requires_grad or path.slopes.requires_grad:
        return "the path needs a gradient"
    return None


@cache
def _tables(method: str) -> dict[str, FloatArray]:
    table = METHODS[method]
    stages = len(table.nodes)
    return {
        "nodes": np.array(table.nodes),
        "weights": np.array([row + (0.0,) * (stages - len(row)) for row in table.stages]),
        "error": np.array(table.error),
        "dense": np.array(table.dense),
    }


class _FusedSolve(torch.autograd.Function):
    """From weights and first states to states at the query times; `fixed` gets no gradient."""

    @staticmethod
    def forward(ctx: Any, fixed: dict[str, Any], record: bool, *weights: Tensor) -> tuple[Tensor, ...]:
        weight_hh, bias_hh, weight_in, bias, h0 = weights
        problem = kernels.problem(
            h0.dtype, weight_hh=weight_hh, bias_hh=bias_hh, weight_in=weight_in, bias=bias, h0=h0, **fixed
        )
        n = len(h0)
        states = h0.new_empty(n, fixed["queries"].shape[1], h0.shape[1])
        status, evaluations, accepted, rejected = torch.empty(4, n, dtype=torch.int64).unbind()
        reached = torch.empty(n, dtype=torch.float64)
        tape = kernels.solve(
            problem,
            record=record,
            states=states,
            status=status,
            evaluations=evaluations,
            accepted=accepted,
            rejected=rejected,
            reached=reached,
        )
        if record:
            ctx.problem, ctx.tape, ctx.outcome = problem, tape, (status.clone(), accepted.clone())
            ctx.save_for_backward(*weights)
        ctx.mark_non_differentiable(status, evaluations, accepted, rejected, reached)
        return states, status, evaluations, accepted, rejected, reached

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        # Reading the saved tensors raises if an optimizer has changed them since.
        found = [torch.empty_like(saved, memory_format=torch.contiguous_format) for saved in ctx.saved_tensors]
        weight_hh, bias_hh, weight_in, bias, h0 = found
        status, accepted = ctx.outcome
        kernels.pull_back(
            ctx.problem,
            ctx.tape,
            states=gradients[0],
            status=status,
            accepted=accepted,
            weight_hh=weight_hh,
            bias_hh=bias_hh,
            weight_in=weight_in,
            bias=bias if bias.ndim == 2 else bias[None],
            h0=h0,
        )
        return None, None, *found


def solve_native(
    field: VectorField,
    path: Path,
    h0: Tensor,
    *,
    queries: Tensor,
    method: str,
    rtol: float,
    atol: float,
    max_steps: int,
    input_map: InputMap | None,
) -> Solution:
    """Solve with the fused kernels; only where `unsupported` has nothing to say."""
    weight_in, bias = (field.weight_ih, field.bias_ih) if input_map is None else (input_map.weight, input_map.bias)
    weights = [field.weight_hh, field.bias_hh, weight_in, bias, h0]
    positions = torch.zeros(queries.shape, dtype=torch.int64)
    if queries.shape[1] > 1:
        queries, positions = queries.sort(dim=1, stable=True)
    fixed = {
        "field": FIELDS[type(field)],
        "order": METHODS[method].order,
        "tables": _tables(method),
        "rtol": rtol,
        "atol": atol,
        "max_steps": max_steps,
        "offsets": path.offsets,
        "times": path.times,
        "values": path.values,
        "slopes": path.slopes,
        "start": path.t0,
        "queries": queries,
        "positions": positions,
    }
    record = torch.is_grad_enabled() and any(weight.requires_grad for weight in weights)
    states, status, evaluations, accepted, rejected, reached = _FusedSolve.apply(fixed, record, *weights)  # type: ignore[no-untyped-call]
    return Solution(
        states=states,
        status=status,
        evaluations=evaluations,
        accepted=accepted,
        rejected=rejected,
        reached=reached,
        backend="native",
    )
