"""Layers with a fused kernel, as one differentiable function: forward and an exact way back.

Gradients can be taken once: there is no gradient of the gradient.
"""

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from denots import kernels


def run(layer: kernels.Layer, width: int, fixed: dict[str, Any], **weights: Tensor) -> Tensor:
    """What a layer makes of its rows, `width` numbers each; `fixed` gets no gradient, all others do."""
    found: Tensor = _NativeLayer.apply(layer, width, fixed, tuple(weights), *weights.values())  # type: ignore[no-untyped-call]
    return found


class _NativeLayer(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, layer: kernels.Layer, width: int, fixed: dict[str, Any], names: tuple[str, ...], *weights: Tensor
    ) -> Tensor:
        weights = tuple(weight.contiguous() for weight in weights)
        rows = len(fixed["x"] if "x" in fixed else weights[0])
        found = weights[0].new_empty(rows, width)
        ctx.layer, ctx.fixed, ctx.names = layer, {name: _array(value) for name, value in fixed.items()}, names
        ctx.save_for_backward(*weights)
        kernels.run_layer(layer, found=found.numpy(), **ctx.fixed, **_named(names, weights))
        return found

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        weights = ctx.saved_tensors
        found = tuple(torch.zeros_like(weight) for weight in weights)
        to = {f"to_{name}": array for name, array in _named(ctx.names, found).items()}
        kernels.pull_layer(ctx.layer, gradient=_array(gradient), **ctx.fixed, **_named(ctx.names, weights), **to)
        return None, None, None, None, *found


def _named(names: tuple[str, ...], tensors: tuple[Tensor, ...]) -> dict[str, Any]:
    return {name: _array(tensor) for name, tensor in zip(names, tensors, strict=True)}


def _array(value: Any) -> Any:
    return value.detach().contiguous().numpy() if isinstance(value, Tensor) else value
