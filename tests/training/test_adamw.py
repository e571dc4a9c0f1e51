"""The optimiser takes the steps of torch's, and leaves the threads of the process as they were."""

from collections.abc import Callable

import pytest
import torch
from torch import nn

from denots.training.adamw import AdamW


def descend(optimiser: Callable[[list[nn.Parameter]], object], steps: int = 5) -> list[torch.Tensor]:
    """Weights after some steps; the second has a gradient in the later half only, the third never."""
    weights = [nn.Parameter(torch.linspace(-1, 1, n * n).reshape(n, n).to(t)) for n, t in SHAPES]
    chosen = optimiser(weights)
    for step in range(steps):
        chosen.zero_grad()
        parts = [(w @ w - torch.eye(len(w))).square().mean() for w in (weights[0], weights[1])]
        (parts[0] if step < steps // 2 else sum(parts)).backward()
        chosen.step()
    return [weight.detach() for weight in weights]


SHAPES = ((64, torch.float32), (7, torch.float32), (3, torch.float32))


def test_the_steps_are_those_of_torch_to_the_last_bit() -> None:
    own = descend(lambda weights: AdamW(weights, 0.01))
    torchs = descend(lambda weights: torch.optim.Adam(weights, lr=0.01, fused=True))
    assert all(torch.equal(a, b) for a, b in zip(own, torchs, strict=True))
    assert not torch.equal(own[0], torch.linspace(-1, 1, 4096).reshape(64, 64))
    assert torch.equal(own[2], torch.linspace(-1, 1, 9).reshape(3, 3))


def test_a_loaded_state_goes_on_as_the_one_that_was_saved() -> None:
    weight, copy = nn.Parameter(torch.ones(3)), nn.Parameter(torch.ones(3))
    first, second = AdamW([weight], 0.1), AdamW([copy], 0.1)

    def move(optimiser: AdamW, parameter: nn.Parameter) -> None:
        optimiser.zero_grad()
        (parameter**2 * torch.arange(3.0)).sum().backward()
        optimiser.step()

    move(first, weight)
    second.load({name: value.clone() for name, value in first.state().items()})
    copy.data.copy_(weight.data)
    move(first, weight)
    move(second, copy)
    assert torch.equal(weight, copy)


def test_the_number_of_threads_is_one_during_a_step_only(monkeypatch: pytest.MonkeyPatch) -> None:
    before, during = torch.get_num_threads(), []
    monkeypatch.setattr(torch, "_fused_adamw_", lambda *_, **__: during.append(torch.get_num_threads()))
    torch.set_num_threads(2)
    try:
        weight = nn.Parameter(torch.ones(1))
        weight.sum().backward()
        AdamW([weight], 0.1).step()
        assert (during, torch.get_num_threads()) == ([1], 2)
    finally:
        torch.set_num_threads(before)
