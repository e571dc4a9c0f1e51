"""The fused solver says what the reference says, and what scipy says."""

import numpy as np
import pytest
import torch
from native_cases import DTYPES, GRU, every_target, queries_of, smooth_path, solve_with_gradients

from denots.errors import NativeUnavailable
from denots.fields import FIELDS, AntiFeedbackGRU
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
    torch.testing.assert_close(found.reached, expected.reached)
    size = float(expected.states.detach().abs().max())
    torch.testing.assert_close(found.states, expected.states, rtol=0, atol=states * size)
    assert found_gradients.keys() == expected_gradients.keys()
    for name, gradient in expected_gradients.items():
        close = gradients * float(gradient.abs().max())
        torch.testing.assert_close(found_gradients[name], gradient, rtol=0, atol=close, msg=name)


@every_target
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", GRU)
@pytest.mark.parametrize("method", ["dopri5", "tsit5", "bosh3"])
def test_states_steps_and_gradients_are_those_of_the_reference(
    name: str, dtype: torch.dtype, method: str, target: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DENOTS_TARGET", target)
    double = dtype == torch.float64
    path, field = smooth_path(19, dtype, depth=10.0), FIELDS[name](3, 10).to(dtype)
    h0 = 0.5 * torch.randn(19, 10, dtype=dtype)
    tolerance = 1e-6 if double and method != "bosh3" else 1e-3
    assert_agrees(
        field,
        path,
        h0,
        states=1e-10 if double else 1e-5,
        gradients=1e-10 if double else 1e-4,
        method=method,
        at=queries_of(path, beyond=False),
        rtol=tolerance,
        atol=tolerance,
        per_series=True,
    )


@every_target
@pytest.mark.parametrize(("states", "channels"), [(1, 1), (3, 2), (8, 4), (16, 5), (33, 9), (70, 1)])
def test_every_size_of_state_and_signal_agrees(
    states: int, channels: int, target: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DENOTS_TARGET", target)
    path = smooth_path(5, channels=channels)
    field, h0 = FIELDS["anti"](channels, states).double(), torch.randn(5, states, dtype=torch.float64)
    assert_agrees(field, path, h0, states=1e-10, gradients=1e-10, rtol=1e-5, atol=1e-5)


@pytest.mark.usefixtures("double")
@pytest.mark.parametrize("name", PATHS)
@pytest.mark.parametrize("scale", [0.3, 5.0])
def test_every_path_agrees_with_its_holes_kinks_and_jumps(name: str, scale: float) -> None:
    path = PATHS[name].fit(gappy_series((1, 2, 3, 4, 5, 7))).scale_time(scale)
    field, h0 = AntiFeedbackGRU(3, 6), torch.zeros(6, 6)
    assert_agrees(field, path, h0, states=1e-8, gradients=1e-8, rtol=1e-5, atol=1e-5)


@pytest.mark.usefixtures("double")
@pytest.mark.parametrize("name", GRU)
def test_states_equal_scipys(name: str) -> None:
    path, field, h0 = smooth_path(3), FIELDS[name](3, 5), torch.randn(3, 5)
    at = torch.stack([0.2 * path.t1, 0.83 * path.t1, path.t1, path.t1 + 0.5], dim=1)
    found = solve(field, path, h0, at=at, rtol=1e-10, atol=1e-10, backend="native").check()
    for row in range(3):
        expected = scipy_states(field, path, row, h0[row].numpy(), at[row].numpy())
        np.testing.assert_allclose(found.states[row].detach().numpy(), expected, rtol=1e-6, atol=1e-7)


@pytest.mark.usefixtures("double")
@pytest.mark.parametrize("name", GRU)
@pytest.mark.parametrize("method", ["dopri5", "tsit5"])
def test_gradients_equal_finite_differences(name: str, method: str) -> None:
    path, field, h0 = smooth_path(2, depth=1.0), FIELDS[name](3, 3), torch.randn(2, 3)
    at = torch.stack([0.4 * path.t1, path.t1, 0.93 * path.t1], dim=1)

    class Solve(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.field = field

        def forward(self, weight_in, bias, h0):
            tight = {"rtol": 1e-12, "atol": 1e-12, "backend": "native"}
            return solve(
                self.field, path, h0, at=at, input_map=InputMap(weight_in, bias), method=method, **tight
            ).states

    def states(weight_hh, bias_hh, *others):
        replaced = {"field.weight_hh": weight_hh, "field.bias_hh": bias_hh}
        return torch.func.functional_call(Solve(), replaced, others)

    bias = torch.randn(2, 9)
    inputs = [t.detach().clone().requires_grad_() for t in (field.weight_hh, field.bias_hh, field.weight_ih, bias, h0)]
    # Finite differences also feel that step sizes change, which gradients leave out: tight and wide.
    assert torch.autograd.gradcheck(states, inputs, eps=1e-3, atol=1e-5)


@pytest.mark.parametrize("backend", ["auto", "native"])
def test_a_field_without_a_kernel_falls_back_only_if_it_may(backend: str) -> None:
    class Mine(AntiFeedbackGRU):
        def slope(self, u: torch.Tensor, h: torch.Tensor) -> torch.Tensor:
            return -h

    path = smooth_path(1, torch.float32)
    arguments = (Mine(3, 4), path, torch.zeros(1, 4))
    if backend == "auto":
        assert solve(*arguments, rtol=1e-3, atol=1e-3).backend == "reference"
    else:
        with pytest.raises(NativeUnavailable, match="Mine has no kernel"):
            solve(*arguments, rtol=1e-3, atol=1e-3, backend="native")


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda p, f, h: (p, f.double(), h), "weight_ih is torch.float64 and h0 is torch.float32"),
        (lambda p, f, h: (p, AntiFeedbackGRU(3, 513), torch.zeros(1, 513)), "up to 512 states"),
        (lambda p, f, h: (p, f, h.bfloat16()), "bfloat16"),
        (lambda p, f, h: (p.values.requires_grad_() is not None and p, f, h), "the path needs a gradient"),
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
    from denots import kernels

    if wanted in kernels.targets():
        pytest.skip("this CPU can run it")
    monkeypatch.setenv("DENOTS_TARGET", wanted)
    with pytest.raises(NativeUnavailable, match=rf"{wanted}.*baseline"):
        solve(AntiFeedbackGRU(3, 4), smooth_path(1, torch.float32), torch.zeros(1, 4), rtol=1e-3, atol=1e-3)
