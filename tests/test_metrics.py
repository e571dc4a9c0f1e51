"""R2 and AUROC against scikit-learn, against counting pairs, and at the edges of their definition."""

import numpy as np
import pytest
import torch
from sklearn.metrics import r2_score, roc_auc_score

from denots.errors import InvalidTarget
from denots.metrics import auroc, r2


def table(seed: int, rows: int, outputs: int, dtype: torch.dtype) -> tuple[torch.Tensor, torch.Tensor]:
    rng = np.random.default_rng(seed)
    truth = torch.from_numpy(rng.normal(rng.normal(size=outputs), 2, (rows, outputs))).to(dtype)
    return truth + torch.from_numpy(rng.normal(size=(rows, outputs))).to(dtype) * rng.uniform(0.1, 3), truth


@pytest.mark.parametrize("seed", range(20))
def test_r2_is_that_of_scikit_learn(seed: int) -> None:
    answers, truth = table(seed, 2 + 17 * seed, 1 + seed % 4, torch.float64)
    assert float(r2(answers, truth)) == pytest.approx(r2_score(truth, answers), rel=1e-9)
    assert float(r2(answers.float(), truth.float())) == pytest.approx(r2_score(truth, answers), abs=1e-4)
    assert float(r2(answers[:, 0], truth[:, 0])) == pytest.approx(r2_score(truth[:, 0], answers[:, 0]), rel=1e-9)


def test_r2_of_a_constant_truth_is_one_for_the_right_answer_and_zero_for_another() -> None:
    constant = torch.full((5, 1), 3.0)
    assert float(r2(constant, constant)) == 1
    assert float(r2(constant + 1, constant)) == 0
    mixed = torch.cat([constant, torch.arange(5.0)[:, None]], dim=1)
    assert float(r2(mixed + torch.tensor([1.0, 0.0]), mixed)) == 0.5


def test_r2_of_one_row_is_refused() -> None:
    with pytest.raises(InvalidTarget, match="at least two rows to judge by; got 1"):
        r2(torch.ones(1, 1), torch.ones(1, 1))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("seed", range(20))
def test_auroc_is_that_of_scikit_learn_with_ties_or_without(seed: int, dtype: torch.dtype) -> None:
    rng = np.random.default_rng(seed)
    n = 3 + 23 * seed
    target = np.concatenate([[0, 1], rng.integers(0, 2, n - 2)])
    scores = rng.normal(size=n) + target
    scores = np.round(scores, seed % 3) if seed % 4 else scores
    found = auroc(torch.from_numpy(scores).to(dtype), torch.from_numpy(target))
    assert float(found) == pytest.approx(roc_auc_score(target, scores.astype(np.float64)), abs=1e-6)


def test_auroc_is_the_share_of_pairs_in_the_right_order() -> None:
    scores = torch.tensor([0.1, 0.4, 0.4, 0.8, -30.0, 90.0])
    target = torch.tensor([0, 0, 1, 1, 1, 0])
    pairs = [(p, q) for p in scores[target == 1].tolist() for q in scores[target == 0].tolist()]
    share = sum((p > q) + (p == q) / 2 for p, q in pairs) / len(pairs)
    assert float(auroc(scores, target)) == pytest.approx(share, abs=1e-7)


def test_auroc_reads_only_the_order_of_scores() -> None:
    scores = torch.tensor([50.0, 51.0, 52.0, -torch.inf, torch.inf, torch.inf], dtype=torch.float64)
    target = torch.tensor([0, 1, 1, 0, 1, 0])
    ranks = torch.tensor([1.0, 2.0, 3.0, 0.0, 4.0, 4.0])
    assert auroc(scores, target) == auroc(ranks, target)


@pytest.mark.parametrize("label", [0, 1])
def test_auroc_of_one_class_is_zero_with_a_warning(label: int) -> None:
    with pytest.warns(UserWarning, match="only one is present"):
        assert float(auroc(torch.arange(4.0), torch.full((4,), label))) == 0
