"""The fused kernels as one differentiable function: forward solve, exact reverse sweep.

Gradients are those of the accepted steps, with step sizes as constants, as on the reference
backend. They can be taken once: there is no gradient of the gradient.
"""

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from denots import kernels
from denots.fields.field import VectorField
from denots.fields.gru import AntiFeedbackGRU, NoFeedbackGRU, SyncFeedbackGRU
from denots.ode.input_map import InputMap
from denots.ode.runge_kutta import METHODS, Tableau
from denots.ode.solution import Solution
from denots.paths.path import Path

_FIELDS: dict[type[VectorField], int] = {NoFeedbackGRU: 0, SyncFeedbackGRU: 1, AntiFeedbackGRU: 2}
_GRU = (NoFeedbackGRU, SyncFeedbackGRU, AntiFeedbackGRU)
MAX_STATES = 512


def unsupported(field: VectorField, path: Path, h0: Tensor, method: str) -> str | None:
    """Why the fused kernels cannot do this work, or None when they can."""
    table = METHODS[method]
    if type(field) not in _FIELDS:
        return f"{type(field).__name__} has no kernel"
    if table.error is None or not table.reuses_last:
        return f"method {method!r} has no kernel"
    if field.state_size > MAX_STATES:
        return f"kernels hold up to {MAX_STATES} states, the field has {field.state_size}"
    tensors = {"h0": h0, "the path": path.values, **dict(field.named_parameters())}
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


@dataclass(frozen=True, eq=False)
class _Task:
    """What a solve needs and what gets no gradient."""

    kind: int
    table: Tableau
    path: Path
    queries: Tensor
    rtol: float
    atol: float
    max_steps: int

    def problem(self, weight_hh: Tensor, bias_hh: Tensor, weight_in: Tensor, bias: Tensor, h0: Tensor) -> Any:
        queries, positions = self.queries.sort(dim=1, stable=True)
        return kernels.problem(
            h0.dtype,
            field=self.kind,
            rtol=self.rtol,
            atol=self.atol,
            max_steps=self.max_steps,
            order=self.table.order,
            nodes=self.table.nodes,
            weights=[row + (0.0,) * (len(self.table.nodes) - len(row)) for row in self.table.stages],
            error=self.table.error,
            dense=self.table.dense,
            offsets=self.path.offsets,
            times=self.path.times,
            values=self.path.values,
            slopes=self.path.slopes,
            start=self.path.t0,
            queries=queries,
            positions=positions,
            h0=h0,
            weight_hh=weight_hh,
            bias_hh=bias_hh,
            weight_in=weight_in,
            bias=bias,
        )


class _FusedSolve(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, task: _Task, record: bool, *weights: Tensor) -> tuple[Tensor, ...]:
        n, states = weights[-1].shape
        found = weights[-1].new_empty(n, task.queries.shape[1], states)
        counts = torch.empty(4, n, dtype=torch.int64)
        reached = torch.empty(n, dtype=torch.float64)
        status, evaluations, accepted, rejected = counts
        tape = task.problem(*weights).solve(
            states=found,
            status=status,
            evaluations=evaluations,
            accepted=accepted,
            rejected=rejected,
            reached=reached,
            record=record,
            threads=torch.get_num_threads(),
        )
        ctx.task, ctx.tape = task, tape
        ctx.save_for_backward(*weights, status, accepted)
        ctx.mark_non_differentiable(status, evaluations, accepted, rejected, reached)
        return found, status, evaluations, accepted, rejected, reached

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        *weights, status, accepted = ctx.saved_tensors
        weight_hh, bias_hh, weight_in, bias, h0 = (
            torch.empty_like(weight, memory_format=torch.contiguous_format) for weight in weights
        )
        ctx.task.problem(*weights).pull_back(
            tape=ctx.tape,
            states=gradients[0].contiguous(),
            status=status,
            accepted=accepted,
            weight_hh=weight_hh,
            bias_hh=bias_hh,
            weight_in=weight_in,
            bias=bias if bias.ndim == 2 else bias[None],
            h0=h0,
            threads=torch.get_num_threads(),
        )
        return None, None, weight_hh, bias_hh, weight_in, bias, h0


def solve_native(
    field: VectorField,
    path: Path,
    h0: Tensor,
    *,
    queries: Tensor,
    table: Tableau,
    rtol: float,
    atol: float,
    max_steps: int,
    input_map: InputMap | None,
) -> Solution:
    """Solve with the fused kernels; the caller has asked `unsupported` before."""
    assert isinstance(field, _GRU)  # noqa: S101 - for the type checker: `unsupported` lets nothing else pass
    weight_in, bias = (field.weight_ih, field.bias_ih) if input_map is None else (input_map.weight, input_map.bias)
    weights = (field.weight_hh, field.bias_hh, weight_in, bias, h0)
    record = torch.is_grad_enabled() and any(weight.requires_grad for weight in weights)
    task = _Task(_FIELDS[type(field)], table, path, queries, rtol, atol, max_steps)
    states, status, evaluations, accepted, rejected, reached = _FusedSolve.apply(task, record, *weights)
    return Solution(
        states=states,
        status=status,
        evaluations=evaluations,
        accepted=accepted,
        rejected=rejected,
        reached=reached,
        backend="native",
    )
