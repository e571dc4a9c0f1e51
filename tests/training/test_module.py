"""The optimiser takes the steps of torch's, and leaves the threads of the process as they were."""

import pytest
import torch

from denots.training.module import SerialAdam


def descend(optimiser: type[torch.optim.Adam]) -> torch.Tensor:
    weight = torch.nn.Parameter(torch.linspace(-1, 1, 4096).reshape(64, 64))
    steps = optimiser([weight], lr=0.01, fused=True)

    def loss() -> torch.Tensor:
        steps.zero_grad()
        found = (weight @ weight - torch.eye(64)).square().mean()
        found.backward()
        return found

    for _ in range(5):
        steps.step(loss)
    return weight.detach()


def test_one_thread_descends_as_all_do_to_the_last_bit() -> None:
    assert torch.equal(descend(SerialAdam), descend(torch.optim.Adam))


def test_the_number_of_threads_is_one_during_a_step_only(monkeypatch: pytest.MonkeyPatch) -> None:
    before, during = torch.get_num_threads(), []
    monkeypatch.setattr(torch.optim.Adam, "step", lambda self: during.append(torch.get_num_threads()))
    torch.set_num_threads(2)
    try:
        SerialAdam([torch.nn.Parameter(torch.ones(1))]).step()
        assert (during, torch.get_num_threads()) == ([1], 2)
    finally:
        torch.set_num_threads(before)
