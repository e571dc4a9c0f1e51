"""How good answers are, over a whole split: R2 and the area under the ROC curve."""

import warnings

import torch
from jaxtyping import Float, Int
from torch import Tensor

from denots.errors import InvalidTarget

NEGLIGIBLE = 1e-4  # sums of squares up to this count as zero


def r2(answers: Float[Tensor, "*table"], truth: Float[Tensor, "*table"]) -> Float[Tensor, ""]:
    """Share of the variance over the rows that is explained, averaged over columns if there are any.

    An answer without error has 1 even where the truth does not vary, and one with an error has 0 there.
    """
    if len(truth) < 2:
        raise InvalidTarget(f"R2 needs at least two rows to judge by; got {len(truth)}.")
    total = truth.sum(dim=0)
    squares = (truth * truth).sum(dim=0) - total * (total / len(truth))
    residual = truth - answers
    errors = (residual * residual).sum(dim=0)
    wrong, varies = ~_negligible(errors), ~_negligible(squares)
    explained = torch.where(varies, 1 - errors / squares, 0.0)
    return torch.where(wrong, explained, 1.0).mean()


def auroc(scores: Float[Tensor, " n"], target: Int[Tensor, " n"]) -> Float[Tensor, ""]:
    """Area under the ROC curve: the chance that a row of class 1 has a larger score than one of class 0.

    Equal scores count as half. Only the order of the scores matters, so logits do as well as
    probabilities, and better where those round to one.
    """
    order = scores.argsort(descending=True)
    scores, positive = scores[order], target[order] == 1
    last_of_ties = torch.cat([scores[1:] != scores[:-1], torch.tensor([True])])
    hits = torch.cat([torch.tensor([0]), positive.cumsum(0)[last_of_ties]])
    misses = torch.cat([torch.tensor([0]), (~positive).cumsum(0)[last_of_ties]])
    if hits[-1] == 0 or misses[-1] == 0:
        warnings.warn("AUROC compares two classes and only one is present; it counts as 0.", stacklevel=2)
        return torch.tensor(0.0)
    return torch.trapezoid(hits / hits[-1], misses / misses[-1])


def _negligible(squares: Tensor) -> Tensor:
    return torch.isclose(squares, torch.zeros_like(squares), atol=NEGLIGIBLE)
