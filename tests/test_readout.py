"""Metrics of the readouts, judged by scikit-learn."""

import numpy as np
import torch
from sklearn.metrics import roc_auc_score

from denots.readout import Binary


def test_confident_answers_are_ranked_and_not_tied() -> None:
    rng = np.random.default_rng(0)
    target = rng.integers(0, 2, 200)
    logits = (rng.normal(size=200) + target + 40).astype(np.float32)  # every probability rounds to one
    found = Binary(3, 1).metric(torch.from_numpy(logits)[:, None], torch.from_numpy(target))
    np.testing.assert_allclose(found, roc_auc_score(target, logits))


def test_equal_answers_count_half() -> None:
    target = torch.tensor([0, 1, 1, 0])
    assert float(Binary(3, 1).metric(torch.zeros(4, 1), target)) == 0.5
