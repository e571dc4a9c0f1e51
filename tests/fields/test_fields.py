"""Fields against torch's own cells and layers."""

import pytest
import torch
from torch import nn

from denots.fields import (
    FIELDS,
    AntiFeedbackGRU,
    ControlledField,
    NoFeedbackGRU,
    ReLUField,
    SyncFeedbackGRU,
    TanhField,
)

pytestmark = pytest.mark.usefixtures("double")
EVERY = {**FIELDS, "controlled": ControlledField}


def draws(n: int = 5, channels: int = 3, state: int = 4) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    return torch.zeros(n), torch.randn(n, channels), torch.randn(n, state)


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        (NoFeedbackGRU, lambda cell, x, h: cell(x, h)),
        (SyncFeedbackGRU, lambda cell, x, h: cell(x, h) - h),
        (AntiFeedbackGRU, lambda cell, x, h: cell(x, -h)),
    ],
)
def test_gru_slopes_follow_from_torchs_cell_with_copied_weights(kind, expected) -> None:
    t, x, h = draws()
    cell, field = nn.GRUCell(3, 4), kind(3, 4)
    field.load_state_dict(cell.state_dict())
    torch.testing.assert_close(field(t, x, h), expected(cell, x, h), rtol=1e-14, atol=1e-14)
    cell.load_state_dict(field.state_dict())


@pytest.mark.parametrize(("kind", "inner", "outer"), [(TanhField, nn.Tanh, nn.Tanh), (ReLUField, nn.ReLU, nn.Identity)])
def test_mlp_slopes_are_two_linear_layers(kind, inner, outer) -> None:
    t, x, h = draws()
    field = kind(3, 4)
    first, second = nn.Linear(7, 4), nn.Linear(4, 4)
    with torch.no_grad():
        first.weight.copy_(torch.cat([field.weight_ih, field.weight_hh], dim=1))
        first.bias.copy_(field.bias_ih + field.bias_hh)
        second.weight.copy_(field.weight_out)
        second.bias.copy_(field.bias_out)
    expected = outer()(second(inner()(first(torch.cat([x, h], dim=1)))))
    torch.testing.assert_close(field(t, x, h), expected)


@pytest.mark.parametrize(
    ("name", "count"), [("anti", 3552), ("sync", 3552), ("none", 3552), ("tanh", 2240), ("relu", 2240)]
)
def test_parameter_counts_are_those_of_the_paper(name: str, count: int) -> None:
    assert sum(p.numel() for p in FIELDS[name](3, 32).parameters()) == count


def test_controlled_slopes_are_a_matrix_of_two_layers_times_the_slope_of_the_signal() -> None:
    t, x, h = draws()
    field, first, second = ControlledField(3, 4), nn.Linear(4, 4), nn.Linear(4, 12)
    first.load_state_dict({"weight": field.weight_hh, "bias": field.bias_hh})
    second.load_state_dict({"weight": field.weight_out, "bias": field.bias_out})
    matrix = second(first(h).relu()).tanh().view(5, 4, 3)
    torch.testing.assert_close(field(t, x, h), torch.einsum("bic,bc->bi", matrix, x))


@pytest.mark.parametrize("channels", [1, 3, 70])
def test_a_controlled_field_and_its_start_map_have_the_parameters_of_the_paper(channels: int) -> None:
    modules = ControlledField(channels, 32), nn.Linear(channels, 32)
    assert sum(p.numel() for module in modules for p in module.parameters()) == 1088 * (channels + 1)


@pytest.mark.parametrize("name", EVERY)
def test_a_row_has_the_slope_it_has_alone(name: str) -> None:
    t, x, h = draws()
    field = EVERY[name](3, 4)
    alone = torch.cat([field(t[i : i + 1], x[i : i + 1], h[i : i + 1]) for i in range(len(t))])
    torch.testing.assert_close(field(t, x, h), alone, rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize("name", EVERY)
def test_gradients_reach_every_parameter(name: str) -> None:
    t, x, h = draws()
    field = EVERY[name](3, 4)
    field(t, x, h).square().sum().backward()
    assert all(p.grad is not None and p.grad.abs().max() > 0 for p in field.parameters())


@pytest.mark.parametrize("name", EVERY)
def test_initial_weights_follow_the_seed(name: str) -> None:
    def build(seed: int) -> torch.Tensor:
        torch.manual_seed(seed)
        return EVERY[name](3, 4).weight_hh

    assert torch.equal(build(1), build(1))
    assert not torch.equal(build(1), build(2))
