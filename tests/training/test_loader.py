"""Batches: a function of the seed, every row or every class equally often."""

import pytest
import torch

from denots.training.loader import class_weights, draw_batches


def test_batches_are_a_function_of_the_seed_and_hold_every_row_equally_often() -> None:
    def rows(seed: int) -> list[list[int]]:
        return [batch.tolist() for batch in draw_batches(10, 4, 5, seed=seed)]

    assert rows(3) == rows(3)
    assert rows(3) != rows(4)
    flat = [row for batch in rows(3) for row in batch]
    assert sorted(flat[:10]) == sorted(flat[10:]) == list(range(10))


def test_balanced_batches_hold_every_class_equally_often_and_repeat_with_the_seed() -> None:
    target = torch.tensor([0] * 90 + [1] * 9 + [2])

    def rows(seed: int) -> torch.Tensor:
        batches = draw_batches(len(target), 50, 200, seed=seed, weights=class_weights(target))
        assert [len(batch) for batch in batches] == [50] * 200
        return torch.cat(batches)

    drawn = rows(3)
    shares = torch.bincount(target[drawn]) / len(drawn)
    assert shares.tolist() == pytest.approx([1 / 3] * 3, abs=0.02)  # 10,000 draws: four standard deviations
    within = torch.bincount(drawn, minlength=100)[90:99] / len(drawn)
    assert within.tolist() == pytest.approx([1 / 27] * 9, abs=0.01)
    assert torch.equal(drawn, rows(3))
    assert not torch.equal(drawn, rows(4))
