"""The fused solver says what the reference says, and what scipy says."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from native_cases import (
    DTYPES,
    EVERY,
    GIVEN_STEPS,
    GRU,
    every_field,
    every_target,
    queries_of,
    smooth_path,
    solve_with_gradients,
)

from denots import kernels
from denots.errors import NativeUnavailable, SlowWarning
from denots.fields import AffineInputField, AntiFeedbackGRU
from denots.ode import InputMap, solve
from denots.paths import PATHS, Path

from oracles import gappy_series, scipy_states


def assert_agrees(field, path: Path, h0: torch.Tensor, *, states: float, gradients: float, **options) -> None:
    expected, expected_gradients = solve_with_gradients(field, path, h0, backend="reference", **options)
    found, found_gradients = solve_with_gradients(field, path, h0, backend="native", **options)
    assert found.backend == "native"
    assert expected.backend == "reference"
    for name in ("status", "accepted", "rejected", "evaluations"):
        assert torch.equal(getattr(found, name), getattr(expected, name)), name
    # Beyond the last query a step ends where the rounding of its size leads it.
    rounding = 1e-9 if h0.dtype == torch.float64 else 1e-3
    torch.testing.assert_close(found.reached, expected.reached, rtol=rounding, atol=0)
    size = float(expected.states.detach().abs().max())
    torch.testing.assert_close(found.states, expected.states, rtol=0, atol=states * size)
    assert found_gradients.keys() == expected_gradients.keys()
    for name, gradient in expected_gradients.items():
        close = gradients * float(gradient.abs().max())
        torch.testing.assert_close(found_gradients[name], gradient, rtol=0, atol=close, msg=name)


@every_target
@pytest.mark.parametrize("dtype", DTYPES)
@every_field
@pytest.mark.parametrize("method", ["dopri5", "tsit5", "owrenzen4", "bosh3"])
def test_states_and_all_gradients_are_those_of_the_reference(
    name: str, dtype: torch.dtype, method: str, target: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DENOTS_TARGET", target)
    double = dtype == torch.float64
    path, field = smooth_path(19, dtype, depth=1.0), EVERY[name](3, 10).to(dtype)
    h0 = 0.5 * torch.randn(19, 10, dtype=dtype)
    options = {"at": queries_of(path), "per_series": True, "to_path": True, "method": method, **GIVEN_STEPS}
    # The last step leads far beyond the last query; a field without feedback grows there, and rounding with it.
    single = 3e-3 if name == "none" else 3e-4
    assert_agrees(field, path, h0, states=1e-10 if double else 3e-5, gradients=1e-10 if double else single, **options)


@every_target
@pytest.mark.parametrize(
    ("name", "dtype"), [*((name, torch.float64) for name in EVERY), *((name, torch.float32) for name in GRU)]
)
@pytest.mark.parametrize("method", ["dopri5", "tsit5", "owrenzen4", "bosh3"])
def test_accepted_and_rejected_steps_are_those_of_the_reference(
    name: str, dtype: torch.dtype, method: str, target: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Steps that pass over many knots, or a ReLU that switches, multiply the rounding of step sizes.

    So fields without feedback are compared in double precision only, and those with ReLUs less tightly.
    """
    monkeypatch.setenv("DENOTS_TARGET", target)
    double, kinked = dtype == torch.float64, name in ("relu", "controlled")
    path, field = smooth_path(19, dtype, depth=10.0), EVERY[name](3, 10).to(dtype)
    h0 = 0.5 * torch.randn(19, 10, dtype=dtype)
    tolerance = 1e-6 if double and method != "bosh3" and not kinked else 1e-3
    close = {"states": 1e-8 if kinked else 1e-10, "gradients": 1e-8 if kinked else 1e-10}
    assert_agrees(
        field,
        path,
        h0,
        **(close if double else {"states": 1e-5, "gradients": 1e-4}),
        method=method,
        at=queries_of(path, beyond=False),
        rtol=tolerance,
        atol=tolerance,
        per_series=True,
    )


@every_target
@pytest.mark.parametrize("name", ["anti", "tanh", "controlled"])
@pytest.mark.parametrize(("states", "channels"), [(1, 1), (3, 5), (8, 4), (16, 70), (33, 9), (130, 1)])
def test_every_size_of_state_and_signal_agrees(
    name: str, states: int, channels: int, target: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DENOTS_TARGET", target)
    path = smooth_path(5, channels=channels)
    field, h0 = EVERY[name](channels, states).double(), torch.randn(5, states, dtype=torch.float64)
    assert_agrees(field, path, h0, states=1e-10, gradients=1e-10, to_path=True, **GIVEN_STEPS)


@every_field
def test_the_largest_state_agrees(name: str) -> None:
    path, field, h0 = smooth_path(2, channels=2), EVERY[name](2, 512).double(), torch.randn(2, 512).double()
    assert_agrees(field, path, h0, states=1e-10, gradients=1e-10, to_path=True, **GIVEN_STEPS)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", ["anti", "relu"])
def test_more_channels_than_drive_rows_agree(name: str, dtype: torch.dtype) -> None:
    path, field = smooth_path(5, dtype, channels=70), EVERY[name](70, 5).to(dtype)
    tight, h0 = 1e-10 if dtype == torch.float64 else 1e-4, torch.randn(5, 5, dtype=dtype)
    assert_agrees(field, path, h0, states=tight, gradients=tight, per_series=True, to_path=True, **GIVEN_STEPS)


@pytest.mark.usefixtures("double")
@pytest.mark.parametrize("kind", PATHS)
@pytest.mark.parametrize("scale", [0.3, 5.0])
@pytest.mark.parametrize("name", ["anti", "controlled"])
def test_every_path_agrees_with_its_holes_kinks_and_jumps(kind: str, scale: float, name: str) -> None:
    path = PATHS[kind].fit(gappy_series((1, 2, 3, 4, 5, 7))).scale_time(scale)
    field, h0 = EVERY[name](3, 6), torch.zeros(6, 6)
    assert_agrees(field, path, h0, states=1e-10, gradients=1e-10, to_path=True, **GIVEN_STEPS)
    if name == "anti":
        assert_agrees(field, path, h0, states=1e-8, gradients=1e-8, rtol=1e-5, atol=1e-5)


@pytest.mark.usefixtures("double")
@every_field
def test_states_equal_scipys(name: str) -> None:
    path, field, h0 = smooth_path(3), EVERY[name](3, 5), torch.randn(3, 5)
    span = path.t1 - path.t0
    at = torch.stack([path.t0 + 0.2 * span, path.t0 + 0.83 * span, path.t1, path.t1 + 0.5], dim=1)
    found = solve(field, path, h0, at=at, rtol=1e-10, atol=1e-10, backend="native").check()
    for row in range(3):
        expected = scipy_states(field, path, row, h0[row].numpy(), at[row].numpy())
        np.testing.assert_allclose(found.states[row].detach().numpy(), expected, rtol=1e-6, atol=1e-7)


@pytest.mark.usefixtures("double")
@every_field
@pytest.mark.parametrize("method", ["dopri5", "tsit5"])
def test_gradients_equal_finite_differences(name: str, method: str) -> None:
    path, field, h0 = smooth_path(2, depth=1.0), EVERY[name](3, 3), torch.randn(2, 3)
    at = torch.stack([0.4 * path.t1, path.t1, 0.93 * path.t1], dim=1)
    names = [*dict(field.named_parameters()), "h0", "values", "slopes"]
    bias = torch.randn(2, len(field.bias_ih)) if isinstance(field, AffineInputField) else None

    class Solve(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.field = field

        def forward(self, h0, values, slopes, bias=None):
            mapped = {} if bias is None else {"input_map": InputMap(self.field.weight_ih, bias)}
            moved = replace(path, values=values, slopes=slopes)
            return solve(self.field, moved, h0, at=at, method=method, backend="native", **mapped, **GIVEN_STEPS).states

    def states(*inputs):
        given = dict(zip(names, inputs, strict=False))
        weights = {f"field.{key}": given[key] for key in names[:-3]}
        others = (given["h0"], given["values"], given["slopes"], *inputs[len(names) :])
        return torch.func.functional_call(Solve(), weights, others)

    tensors = [*field.parameters(), h0, path.values, path.slopes, *([] if bias is None else [bias])]
    inputs = [t.detach().clone().requires_grad_() for t in tensors]
    assert torch.autograd.gradcheck(states, inputs)


@pytest.mark.parametrize("backend", ["auto", "native"])
def test_a_field_without_a_kernel_falls_back_only_if_it_may(backend: str) -> None:
    class Mine(AntiFeedbackGRU):
        def slope(self, u: torch.Tensor, h: torch.Tensor) -> torch.Tensor:
            return -h

    path = smooth_path(1, torch.float32)
    arguments = (Mine(3, 4), path, torch.zeros(1, 4))
    if backend == "auto":
        with pytest.warns(SlowWarning, match="Mine has no kernel"):
            found = solve(*arguments, rtol=1e-3, atol=1e-3)
        assert (found.backend, found.fallback) == ("reference", "Mine has no kernel")
        again = solve(*arguments, rtol=1e-3, atol=1e-3)  # warnings are errors in tests: it came once
        assert again.fallback == "Mine has no kernel"
        asked = solve(*arguments, rtol=1e-3, atol=1e-3, backend="reference")
        assert asked.fallback is None
    else:
        with pytest.raises(NativeUnavailable, match="Mine has no kernel"):
            solve(*arguments, rtol=1e-3, atol=1e-3, backend="native")


def test_a_subclass_inherits_weights_but_no_kernel() -> None:
    class Mine(AntiFeedbackGRU):
        """Computes the same, which nobody can know."""

    assert AntiFeedbackGRU(3, 4).kernel().name == "gru-anti"
    assert Mine(3, 4).kernel() is None


@pytest.mark.parametrize("name", EVERY)
def test_every_kernel_that_a_field_names_exists(name: str) -> None:
    assert EVERY[name](3, 4).kernel().name in kernels.fields()


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda p, f, h: (p, f.double(), h), "weight_hh is torch.float64 and h0 is torch.float32"),
        (lambda p, f, h: (p, AntiFeedbackGRU(3, 513), torch.zeros(1, 513)), "up to 512 states"),
        (lambda p, f, h: (p, f, h.bfloat16()), "bfloat16"),
    ],
)
def test_what_the_kernels_cannot_do_is_refused_with_the_reason(change, reason: str) -> None:
    path, field, h0 = change(smooth_path(1, torch.float32), AntiFeedbackGRU(3, 4), torch.zeros(1, 4))
    if h0.dtype == torch.bfloat16:
        path.__dict__["values"], path.__dict__["slopes"] = path.values.bfloat16(), path.slopes.bfloat16()
    with pytest.raises(NativeUnavailable, match=reason):
        solve(field, path, h0, rtol=1e-3, atol=1e-3, backend="native")


def test_an_input_map_of_another_type_is_refused() -> None:
    path, field = smooth_path(1, torch.float32), AntiFeedbackGRU(3, 4)
    double = InputMap(torch.zeros(12, 3).double(), torch.zeros(1, 12).double())
    with pytest.raises(NativeUnavailable, match=r"the input map is torch\.float64 and h0 is torch\.float32"):
        solve(field, path, torch.zeros(1, 4), rtol=1e-3, atol=1e-3, input_map=double, backend="native")


def test_a_method_without_a_kernel_is_refused() -> None:
    with pytest.raises(NativeUnavailable, match="'rk4' has no kernel"):
        solve(
            AntiFeedbackGRU(3, 4),
            smooth_path(1, torch.float32),
            torch.zeros(1, 4),
            rtol=0,
            atol=0,
            method="rk4",
            step=0.1,
            backend="native",
        )


@pytest.mark.parametrize("wanted", ["sse9", "avx512"])
def test_a_target_that_cannot_run_is_named_with_those_that_can(wanted: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if wanted in kernels.targets():
        pytest.skip("this CPU can run it")
    monkeypatch.setenv("DENOTS_TARGET", wanted)
    with pytest.raises(NativeUnavailable, match=rf"{wanted}.*baseline"):
        solve(AntiFeedbackGRU(3, 4), smooth_path(1, torch.float32), torch.zeros(1, 4), rtol=1e-3, atol=1e-3)
