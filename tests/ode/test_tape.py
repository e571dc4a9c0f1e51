"""The tape of a recorded solve: how much memory it takes, and that its budget changes no result."""

import pytest
import torch
from native_cases import DTYPES, assert_same_bits, every_target, queries_of, smooth_path, solve_with_gradients

from denots import kernels
from denots.fields import FIELDS, AntiFeedbackGRU
from denots.ode import solve

LOOSE = {"rtol": 1e-3, "atol": 1e-3, "backend": "native"}
SLAB = 2**20  # tapes grow by so many bytes
CHUNK = 16  # and the steps of a series by so many


def tape_bytes(states: int, n: int, monkeypatch: pytest.MonkeyPatch, depth: float = 3.0) -> tuple[int, int]:
    """Of one recorded solve, and the steps that it accepted."""
    sizes = []
    plain = kernels.solve

    def measured(*args: object, **options: object) -> object:
        tape = plain(*args, **options)
        sizes.append(tape.bytes)
        return tape

    monkeypatch.setattr(kernels, "solve", measured)
    path, field = smooth_path(n, torch.float32, depth=depth), AntiFeedbackGRU(3, states)
    found = solve(field, path, torch.zeros(n, states), **LOOSE)
    monkeypatch.setattr(kernels, "solve", plain)
    return sizes[0], int(found.accepted.sum())


@every_target
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("states", [33, 40, 70])
def test_gradients_have_the_same_bits_whether_stages_are_kept_or_computed_again(
    states: int, dtype: torch.dtype, target: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DENOTS_TARGET", target)
    n = 21
    path, field = smooth_path(n, dtype, depth=20.0), FIELDS["sync"](3, states).to(dtype)
    h0 = torch.randn(n, states, dtype=dtype)
    for options in ({}, {"at": queries_of(path)}, {"method": "tsit5"}):
        kept, gradients = solve_with_gradients(field, path, h0, **LOOSE, **options)
        for budget in (0, 2**20, 4 * 2**20):  # nothing fits, some chunks do, more do
            monkeypatch.setattr(kernels, "TAPE_BUDGET", budget)
            found, own = solve_with_gradients(field, path, h0, **LOOSE, **options)
            assert_same_bits(found.states, kept.states)
            for key, gradient in gradients.items():
                assert_same_bits(own[key], gradient)
        monkeypatch.undo()
        monkeypatch.setenv("DENOTS_TARGET", target)


def test_a_tape_without_room_for_stages_holds_time_step_knot_and_state_of_each_step(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(kernels, "TAPE_BUDGET", 0)
    n, states = 64, 40
    size, steps = tape_bytes(states, n, monkeypatch, depth=100.0)
    each = 4 * states + 24
    assert steps * each <= size <= (steps + n * CHUNK) * (each + 4) + n * 64 + 2 * SLAB


@pytest.mark.parametrize("budget", [2 * SLAB, 5 * SLAB])
def test_stages_take_no_more_than_their_budget(budget: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernels, "TAPE_BUDGET", 0)
    without, _ = tape_bytes(64, 64, monkeypatch, depth=20.0)
    monkeypatch.setattr(kernels, "TAPE_BUDGET", budget)
    size, _ = tape_bytes(64, 64, monkeypatch, depth=20.0)
    assert without + 0.7 * budget < size <= without + budget + (budget // SLAB + 1) * SLAB // 4


def test_few_states_are_computed_again_because_that_is_faster(monkeypatch: pytest.MonkeyPatch) -> None:
    size, _ = tape_bytes(32, 64, monkeypatch, depth=20.0)
    monkeypatch.setattr(kernels, "TAPE_BUDGET", 0)
    assert tape_bytes(32, 64, monkeypatch, depth=20.0)[0] == size
