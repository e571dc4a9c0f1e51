"""The fused kernels as one differentiable function: forward solve, exact reverse sweep.

Gradients are those of the accepted steps, with step sizes as constants, as on the reference
backend. They can be taken once: there is no gradient of the gradient.
"""

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from denots import kernels
from denots.fields.field import Kernel, VectorField
from denots.inference.solve import MAX_STATES, native_method
from denots.ode.input_map import InputMap
from denots.ode.solution import Solution
from denots.paths.path import Path
from denots.tableaus import METHODS

_DTYPES = (torch.float32, torch.float64)
# What has a gradient, in the order of the arguments; the last two belong to the path.
_WEIGHTS = ("weight_hh", "bias_hh", "weight_in", "bias", "weight_out", "bias_out", "h0", "values", "slopes")
_FOUND = ("states", "status", "evaluations", "accepted", "rejected", "reached")


def fused(field: VectorField, path: Path, h0: Tensor, method: str, input_map: InputMap | None = None) -> Kernel | str:
    """The fused kernel for this work, or why there is none."""
    table = METHODS[method]
    kernel = field.kernel()
    if kernel is None:
        return f"{type(field).__name__} has no kernel"
    if table.error is None or not table.reuses_last:
        return f"method {method!r} has no kernel"
    if field.state_size > MAX_STATES:
        return f"kernels hold up to {MAX_STATES} states, the field has {field.state_size}"
    dtype = h0.dtype
    tensors = {"h0": h0, "the path": path.values, **_own_weights(kernel)}
    if input_map is not None:
        tensors.update({"the input map": input_map.weight, "the bias of the input map": input_map.bias})
    for name, tensor in tensors.items():
        if tensor.is_cpu and tensor.dtype is dtype and dtype in _DTYPES:
            continue
        if not tensor.is_cpu:
            return f"{name} is on {tensor.device}, kernels run on the CPU"
        if tensor.dtype not in _DTYPES:
            return f"{name} is {tensor.dtype}, kernels take float32 and float64"
        return f"{name} is {tensor.dtype} and h0 is {dtype}, kernels take one type"
    return kernel


def arrays_of(given: dict[str, Any]) -> dict[str, Any]:
    """Tensors as contiguous arrays that share memory where they can: NumPy hands them over fastest."""
    return {
        name: value.detach().contiguous().numpy() if isinstance(value, Tensor) else value
        for name, value in given.items()
    }


def run(fixed: dict[str, Any], weights: tuple[Tensor, ...], *, record: bool) -> tuple[Any, Any, tuple[Tensor, ...]]:
    """The native problem, the tape of its accepted steps if they are recorded, and what was found, in the order of
    `_FOUND`."""
    given: dict[str, Any] = dict(zip(_WEIGHTS, weights, strict=True))
    h0 = given["h0"]
    problem = kernels.problem(**arrays_of(given | fixed))
    n = len(h0)
    states = h0.new_empty(n, fixed["queries"].shape[1], h0.shape[1])
    found = (states, *torch.empty(4, n, dtype=torch.int64).unbind(), torch.empty(n, dtype=torch.float64))
    filled = {name: tensor.numpy() for name, tensor in zip(_FOUND, found, strict=True)}
    return problem, kernels.solve(problem, record=record, **filled), found


def solution_of(found: tuple[Tensor, ...]) -> Solution:
    named: dict[str, Any] = dict(zip(_FOUND, found, strict=True))
    return Solution(**named, backend="native")


class _FusedSolve(torch.autograd.Function):
    """From weights, first states and the path to states at the query times; `fixed` gets no gradient."""

    @staticmethod
    def forward(ctx: Any, fixed: dict[str, Any], *weights: Tensor) -> tuple[Tensor, ...]:
        ctx.problem, ctx.tape, found = run(fixed, weights, record=True)
        status, accepted = (found[_FOUND.index(name)] for name in ("status", "accepted"))
        ctx.outcome = {"status": status.numpy().copy(), "accepted": accepted.numpy().copy()}
        ctx.save_for_backward(*weights)
        ctx.mark_non_differentiable(*found[1:])
        return found

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        # Reading the saved tensors raises if an optimizer has changed them since.
        saved = dict(zip(_WEIGHTS, ctx.saved_tensors, strict=True))
        if not any(ctx.needs_input_grad[-2:]):
            del saved["values"], saved["slopes"]
        found = {name: torch.empty_like(it, memory_format=torch.contiguous_format) for name, it in saved.items()}
        filled = {name: it.numpy() for name, it in found.items()}
        bias = filled["bias"]
        filled["bias"] = bias if bias.ndim == 2 else bias[None]
        kernels.pull_back(ctx.problem, ctx.tape, **arrays_of({"states": gradients[0]}), **ctx.outcome, **filled)
        return None, *(found.get(name) for name in _WEIGHTS)


def _own_weights(kernel: Kernel) -> dict[str, Tensor]:
    return {name: weight for name, weight in vars(kernel).items() if isinstance(weight, Tensor)}


def _weights(kernel: Kernel, path: Path, input_map: InputMap | None) -> tuple[Tensor, ...]:
    """State, input and output maps as kernels take them; empty where the field has none."""
    none, states = path.values.new_empty(0), kernel.weight_hh.shape[1]
    given = (kernel.weight_ih, kernel.bias_ih) if input_map is None else (input_map.weight, input_map.bias)
    empty = (none.view(0, path.values.shape[1]), none, none.view(0, states), none)
    others = (*given, kernel.weight_out, kernel.bias_out)
    return (
        kernel.weight_hh,
        kernel.bias_hh,
        *(absent if weight is None else weight for weight, absent in zip(others, empty, strict=True)),
    )


def pose(
    kernel: Kernel,
    path: Path,
    h0: Tensor,
    *,
    queries: Tensor,
    method: str,
    rtol: float,
    atol: float,
    max_steps: int,
    input_map: InputMap | None = None,
    land_on_knots: bool = False,
) -> tuple[dict[str, Any], tuple[Tensor, ...]]:
    """The problem, for `solve_native` and `run`: by name what has no gradient, and in order what may have one.

    Only with what `fused` found.
    """
    if path.values.requires_grad or path.slopes.requires_grad:
        path = path.packed()  # a series that stands twice in a batch must not share the gradient of its knots
    weights = (*_weights(kernel, path, input_map), h0, path.values, path.slopes)
    positions = torch.zeros(queries.shape, dtype=torch.int64)
    if queries.shape[1] > 1:
        queries, positions = queries.sort(dim=1, stable=True)
    fixed = {
        "field": kernel.name,
        "method": native_method(method),
        "rtol": rtol,
        "atol": atol,
        "max_steps": max_steps,
        "begins": path.begin,
        "ends": path.end,
        "times": path.times,
        "start": path.t0,
        "stop": path.t1,
        "queries": queries,
        "positions": positions,
        "land_on_knots": land_on_knots,
    }
    return fixed, weights


def solve_native(fixed: dict[str, Any], weights: tuple[Tensor, ...]) -> Solution:
    """Solve with the fused kernel of a field, and with a gradient where one is wanted."""
    if not (torch.is_grad_enabled() and any(weight.requires_grad for weight in weights)):
        return solution_of(run(fixed, weights, record=False)[2])
    return solution_of(_FusedSolve.apply(fixed, *weights))  # type: ignore[no-untyped-call]
