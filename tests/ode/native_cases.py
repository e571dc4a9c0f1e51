"""What the tests of the fused solver share: targets, smooth paths, and one solve with its gradients."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import Tensor

from denots import kernels
from denots.data import SeriesSet
from denots.fields import FIELDS, AffineInputField, ControlledField, VectorField
from denots.ode import InputMap, Solution, solve
from denots.paths import NaturalCubic, Path

EVERY: dict[str, type[VectorField]] = {**FIELDS, "controlled": ControlledField}
GRU = ["none", "sync", "anti"]
every_field = pytest.mark.parametrize("name", EVERY)
# Every step is accepted and ten times as long as the one before: both backends take the very same ones.
GIVEN_STEPS = {"rtol": 1e9, "atol": 1e9}
DTYPES = [torch.float32, torch.float64]
every_target = pytest.mark.parametrize("target", kernels.targets())


def smooth_path(
    n: int, dtype: torch.dtype = torch.float64, *, channels: int = 3, depth: float = 3.0, seed: int = 0
) -> Path:
    """Splines through sines, 8 to 60 knots each.

    They start at their first knot: a kink makes the state depend on where a step ends, which
    multiplies the rounding of step sizes.
    """
    rng = np.random.default_rng(seed)
    times = [np.sort(rng.uniform(0.1, rng.uniform(1.0, 2.0), rng.integers(8, 60))) for _ in range(n)]
    values = [
        np.stack([np.sin(rng.uniform(1, 4) * t + rng.uniform(0, 6)) for _ in range(channels)], axis=1) for t in times
    ]
    return NaturalCubic.fit(SeriesSet.from_arrays(times, values, start=[t[0] for t in times]), dtype=dtype).scale_time(
        depth
    )


def queries_of(path: Path, beyond: bool = True) -> Tensor:
    """Unsorted, with a repetition, the start, the end, and a time beyond the last knot."""
    share = torch.tensor([0.7, 0.0, 1.0, 0.31, 0.7, 1.05 if beyond else 0.999, 0.9], dtype=torch.float64)
    return path.t0[:, None] + (path.t1 - path.t0)[:, None] * share


def solve_with_gradients(
    field: VectorField,
    path: Path,
    h0: Tensor,
    *,
    per_series: bool = False,
    to_path: bool = False,
    **options: object,
) -> tuple[Solution, dict[str, Tensor]]:
    """The solution and the gradients of a weighted sum of its finite states.

    On request each series has its own bias, where the field has one, and the path a gradient.
    """
    field.zero_grad()
    others = {"h0": h0.detach().clone().requires_grad_()}
    mapped = {}
    if per_series and isinstance(field, AffineInputField):
        others["bias"] = field.bias_ih.detach().expand(len(path), -1).clone().requires_grad_()
        mapped["input_map"] = InputMap(field.weight_ih, others["bias"])
    if to_path:
        knots = {name: getattr(path, name).detach().clone().requires_grad_() for name in ("values", "slopes")}
        path, others = replace(path, **knots), {**others, **knots}
    found = solve(field, path, others["h0"], **mapped, **options)
    weight = torch.cos(torch.arange(found.states[0].numel(), dtype=h0.dtype)).view(found.states.shape[1:])
    (torch.where(found.ok[:, None, None], found.states, 0.0) * weight).sum().backward()
    gradients = {name: p.grad.clone() for name, p in field.named_parameters() if p.grad is not None}
    return found, {**gradients, **{name: tensor.grad for name, tensor in others.items()}}


def assert_same_bits(a: Tensor, b: Tensor) -> None:
    assert torch.equal(a.nan_to_num(nan=7.0), b.nan_to_num(nan=7.0)), f"differs by {(a - b).abs().max()}"
