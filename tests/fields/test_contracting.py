"""Fields that contract by construction: whatever the weights, judged by Jacobians, boxes and trajectories."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from denots.errors import InvalidOption
from denots.fields import FIELDS
from denots.fields.contracting import LARGEST, ContractingGRU, held
from denots.fields.gru import GRUField
from denots.theory.box import is_invariant
from denots.theory.comparison import compare, contraction
from denots.theory.gru_cell import any_drive, cell_of, drive_box
from denots.theory.interval import Interval
from denots.theory.lipschitz import jacobians
from denots.theory.logarithmic_norm import logarithmic_norm


def contracting(
    kind: str, seed: int, gain: float, size: int = 6, channels: int = 3
) -> tuple[ContractingGRU, torch.Tensor]:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        field = FIELDS[kind](channels, size).double()
        with torch.no_grad():
            for weight in field.parameters():
                weight.copy_(gain * torch.randn_like(weight))
        reach = 4 * torch.rand(channels).double()
    return ContractingGRU(field, reach), reach


@settings(max_examples=12, deadline=None)
@given(st.sampled_from(["anti", "sync"]), st.integers(0, 10_000), st.sampled_from([0.01, 0.3, 1.0, 10.0, 100.0]))
def test_weights_of_any_size_contract_and_keep_their_box(kind: str, seed: int, gain: float) -> None:
    field, reach = contracting(kind, seed, gain)
    cell, largest = cell_of(field), LARGEST[field.kind]
    drive = drive_box(field.weight_ih.detach(), Interval.point(field.bias_ih.detach()), Interval.symmetric(reach))
    box = Interval.symmetric(torch.full((6,), largest, dtype=torch.float64))
    assert is_invariant(cell, drive, box)
    weight = field.weight_ih.detach()
    assert contraction(compare(cell, drive, box, weight)).rate < 0
    x = reach * (2 * torch.rand(300, 3, dtype=torch.float64) - 1).sign()
    h = largest * (2 * torch.rand(300, 6, dtype=torch.float64) - 1)
    _, found = jacobians(field, x @ weight.T + field.bias_ih.detach(), h)
    assert (logarithmic_norm(found, "inf") < 0).all()


@settings(max_examples=5, deadline=None)
@given(st.integers(0, 10_000), st.sampled_from([0.3, 10.0]))
def test_the_synchronous_one_contracts_whatever_the_signal(seed: int, gain: float) -> None:
    field, _ = contracting("sync", seed, gain)
    box = Interval.symmetric(torch.ones(6, dtype=torch.float64))
    assert is_invariant(cell_of(field), any_drive(cell_of(field)), box)
    u = 30 * torch.randn(500, 18, dtype=torch.float64)
    _, found = jacobians(field, u, 2 * torch.rand(500, 6, dtype=torch.float64) - 1)
    assert (logarithmic_norm(found, "inf") <= 1e-12).all()


def test_small_weights_are_left_as_they_are() -> None:
    for kind in ("anti", "sync"):
        plain = FIELDS[kind](2, 4).double()
        with torch.no_grad():
            for weight in plain.parameters():
                weight.mul_(0.01)
        limited = ContractingGRU(plain, torch.ones(2))
        u, h = torch.randn(5, 12).double(), torch.randn(5, 4).double()
        torch.testing.assert_close(limited.slope(u, h), plain.slope(u, h))
        for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh"):
            torch.testing.assert_close(getattr(limited, name), getattr(plain, name), rtol=0, atol=0)


def test_its_weights_are_learnt_through_the_limits() -> None:
    plain = FIELDS["anti"](2, 4)
    limited = ContractingGRU(plain, torch.ones(2))
    limited.slope(torch.randn(3, 12) + limited.bias_ih, torch.randn(3, 4)).sum().backward()
    assert isinstance(plain, GRUField)
    assert plain.weight_hh.grad is not None
    assert plain.weight_hh.grad.abs().sum() > 0


def test_a_first_state_is_moved_into_the_box_and_hardly_where_it_is_small() -> None:
    far = torch.tensor([-1e6, 0.01, 1e6])
    assert held(far, FIELDS["anti"]).abs().max() == LARGEST[FIELDS["anti"]]
    assert float(held(far, FIELDS["sync"])[1]) == pytest.approx(0.01, rel=1e-4)


@pytest.mark.parametrize("kind", ["none", "tanh"])
def test_fields_without_feedback_cannot_be_certified(kind: str) -> None:
    with pytest.raises(InvalidOption, match="needs negative feedback"):
        ContractingGRU(FIELDS[kind](2, 3), torch.ones(2))
