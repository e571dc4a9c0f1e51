"""The fused solver: no series feels another, and no result feels threads or layout."""

import multiprocessing
from collections.abc import Iterator
from dataclasses import replace

import pytest
import torch
from native_cases import (
    DTYPES,
    EVERY,
    assert_same_bits,
    every_field,
    every_target,
    queries_of,
    smooth_path,
    solve_with_gradients,
)

from denots.fields import AntiFeedbackGRU
from denots.ode import solve

LOOSE = {"rtol": 1e-3, "atol": 1e-3, "backend": "native"}


@pytest.fixture(autouse=True)
def _threads_restored() -> Iterator[None]:
    threads = torch.get_num_threads()
    yield
    torch.set_num_threads(threads)


@every_target
@every_field
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("channels", [3, 30])
def test_a_series_has_the_same_bits_alone_and_in_any_batch(
    name: str, dtype: torch.dtype, channels: int, target: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DENOTS_TARGET", target)
    n = 37
    path, field = smooth_path(n, dtype, channels=channels, depth=1.0), EVERY[name](channels, 7).to(dtype)
    h0, options = torch.randn(n, 7, dtype=dtype), {**LOOSE, "per_series": True, "to_path": True}
    whole, gradients = solve_with_gradients(field, path, h0, at=queries_of(path), **options)
    generator = torch.Generator().manual_seed(0)
    for size in (1, 2, 5, 16, 37):
        rows = torch.randperm(n, generator=generator)[:size]
        part = path.select(rows).packed()
        found, own = solve_with_gradients(field, part, h0[rows], at=queries_of(part), **options)
        assert_same_bits(found.states, whole.states[rows])
        assert torch.equal(found.evaluations, whole.evaluations[rows])
        for key in {"h0", "bias"} & own.keys():
            assert_same_bits(own[key], gradients[key][rows])
        for key in ("values", "slopes"):
            knots = replace(path, values=gradients[key]).select(rows).packed().values
            assert_same_bits(own[key], knots)


@every_field
@pytest.mark.parametrize("channels", [3, 70])
def test_results_and_weight_gradients_have_the_same_bits_for_any_number_of_threads(name: str, channels: int) -> None:
    n = 150
    path, field = smooth_path(n, torch.float32, channels=channels, depth=1.0), EVERY[name](channels, 16)
    h0, options = torch.randn(n, 16), {**LOOSE, "to_path": True}
    torch.set_num_threads(1)
    expected, gradients = solve_with_gradients(field, path, h0, **options)
    for threads in (2, 3, 7):
        torch.set_num_threads(threads)
        found, own = solve_with_gradients(field, path, h0, **options)
        assert_same_bits(found.states, expected.states)
        for key, gradient in gradients.items():
            assert_same_bits(own[key], gradient)


def test_one_bias_for_all_is_the_same_as_one_for_each() -> None:
    path, field, h0 = smooth_path(11), AntiFeedbackGRU(3, 6).double(), torch.randn(11, 6, dtype=torch.float64)
    shared, gradients = solve_with_gradients(field, path, h0, **LOOSE)
    single, own = solve_with_gradients(field, path, h0, per_series=True, **LOOSE)
    assert_same_bits(shared.states, single.states)
    torch.testing.assert_close(gradients["bias_ih"], own["bias"].sum(0))
    torch.testing.assert_close(gradients["bias_hh"], own["bias_hh"])


def test_layout_in_memory_does_not_matter() -> None:
    n, field = 9, AntiFeedbackGRU(3, 6)
    path, h0 = smooth_path(n, torch.float32), torch.randn(n, 6)
    at = queries_of(path)
    expected, gradients = solve_with_gradients(field, path, h0, at=at, **LOOSE)
    with torch.no_grad():
        field.weight_hh.set_(field.weight_hh.T.contiguous().T)
        field.weight_ih.set_(torch.stack([field.weight_ih, field.weight_ih], dim=2)[:, :, 0])
    strided = torch.stack([h0, h0], dim=2)[:, :, 1]
    path.__dict__["values"] = path.values.T.contiguous().T
    path.__dict__["times"] = torch.stack([path.times, path.times], dim=1)[:, 0]
    assert not strided.is_contiguous()
    found = solve(field, path, strided, at=at.T.contiguous().T, **LOOSE)
    assert_same_bits(found.states, expected.states)
    field.zero_grad()
    # The gradient of a sum of transposed states arrives without strides of its own.
    weight = torch.cos(torch.arange(found.states[0].numel(), dtype=h0.dtype)).view(found.states.shape[1:])
    (found.states.transpose(1, 2) * weight.T).sum().backward()
    assert_same_bits(field.weight_hh.grad, gradients["weight_hh"])


def test_inference_mode_gives_the_same_states_and_records_nothing() -> None:
    path, field, h0 = smooth_path(5, torch.float32), AntiFeedbackGRU(3, 6), torch.zeros(5, 6)
    expected = solve(field, path, h0, **LOOSE)
    with torch.inference_mode():
        found = solve(field, path, h0, **LOOSE)
    assert found.backend == "native"
    assert not found.states.requires_grad
    assert_same_bits(found.states, expected.states)


def test_weights_changed_before_the_gradient_are_noticed() -> None:
    path, field = smooth_path(2, torch.float32), AntiFeedbackGRU(3, 4)
    found = solve(field, path, torch.zeros(2, 4), **LOOSE)
    with torch.no_grad():
        field.weight_hh.add_(1.0)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        found.states.sum().backward()


def test_a_gradient_of_the_gradient_is_refused() -> None:
    path, field = smooth_path(2, torch.float32), AntiFeedbackGRU(3, 4)
    found = solve(field, path, torch.zeros(2, 4), **LOOSE)
    (gradient,) = torch.autograd.grad(found.states.sum(), [field.weight_hh], create_graph=True)
    with pytest.raises(RuntimeError, match=r"once_differentiable|does not require grad"):
        gradient.sum().backward()


def test_the_graph_can_be_kept_and_used_twice() -> None:
    path, field = smooth_path(4, torch.float32), AntiFeedbackGRU(3, 4)
    loss = solve(field, path, torch.zeros(4, 4), **LOOSE).states.sum()
    (first,) = torch.autograd.grad(loss, [field.weight_hh], retain_graph=True)
    (second,) = torch.autograd.grad(loss, [field.weight_hh])
    assert_same_bits(first, second)


def _solve_in_child(sender, field, path, h0) -> None:
    found, gradients = solve_with_gradients(field, path, h0, **LOOSE)
    sender.send((found.states.detach().numpy(), gradients["weight_hh"].numpy()))


def test_a_forked_worker_solves_the_same() -> None:
    path, field, h0 = smooth_path(20, torch.float32), AntiFeedbackGRU(3, 6), torch.zeros(20, 6)
    expected, gradients = solve_with_gradients(field, path, h0, **LOOSE)
    context = multiprocessing.get_context("fork")
    receiver, sender = context.Pipe(duplex=False)
    worker = context.Process(target=_solve_in_child, args=(sender, field, path, h0))
    worker.start()
    assert receiver.poll(60), "the forked worker did not answer"
    states, weight_hh = receiver.recv()
    worker.join(60)
    assert worker.exitcode == 0
    assert_same_bits(torch.from_numpy(states), expected.states)
    assert_same_bits(torch.from_numpy(weight_hh), gradients["weight_hh"])


@every_field
def test_a_series_that_stands_twice_adds_up_its_gradients(name: str) -> None:
    path, field = smooth_path(3, torch.float64, depth=1.0), EVERY[name](3, 5).double()
    twice = path.select([2, 0, 2])
    assert twice.values is path.values
    h0 = torch.randn(3, 5, dtype=torch.float64)
    options = {"rtol": 1e9, "atol": 1e9, "to_path": True}  # both backends take the same steps
    fast, slow = (
        solve_with_gradients(field, twice, h0, backend=backend, **options) for backend in ("native", "reference")
    )
    for key in ("values", "slopes"):
        torch.testing.assert_close(fast[1][key], slow[1][key], rtol=1e-5, atol=1e-7)
        assert not fast[1][key][path.begin[1] : path.end[1]].any()
