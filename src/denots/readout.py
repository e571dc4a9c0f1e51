"""From states to answers: head, loss and metric of each task."""

import abc
from typing import ClassVar

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn.functional import binary_cross_entropy_with_logits, cross_entropy, mse_loss

from denots.errors import InvalidOption
from denots.rowwise import linear_rows


class Readout(nn.Module, abc.ABC):
    """A linear head on the states, and how its outputs are judged. Larger metrics are better."""

    metric_name: ClassVar[str]

    def __init__(self, state_size: int, outputs: int) -> None:
        super().__init__()
        self.outputs = outputs
        self.head = nn.Linear(state_size, outputs)

    def calibrate(self, target: Tensor) -> None:
        """Learn what is fixed before training, such as the scale of a regression target."""

    def forward(self, states: Float[Tensor, "B K H"]) -> Tensor:
        """Raw outputs, one row for each series [B, outputs]."""
        return linear_rows(states[:, -1], self.head.weight, self.head.bias)

    def balance(self, target: Tensor) -> None:
        """Let rare targets weigh as much as common ones, where the task knows classes."""
        raise InvalidOption(f"{type(self).__name__.lower()} knows no classes to balance.")

    @abc.abstractmethod
    def loss(self, outputs: Tensor, target: Tensor) -> Tensor: ...

    @abc.abstractmethod
    def metric(self, outputs: Tensor, target: Tensor) -> Tensor:
        """The metric over a whole split; outputs of failed series are NaN and count as wrong."""

    @abc.abstractmethod
    def answer(self, outputs: Tensor) -> Tensor:
        """What a user asked for: probabilities, or values in the target's own unit."""


class _Scaled(Readout):
    """Targets are learnt in units of their training spread, and answered in their own."""

    centre: Tensor
    spread: Tensor
    metric_name = "R2"

    def __init__(self, state_size: int, outputs: int) -> None:
        super().__init__(state_size, outputs)
        self.register_buffer("centre", torch.zeros(outputs, dtype=torch.float64))
        self.register_buffer("spread", torch.ones(outputs, dtype=torch.float64))

    def calibrate(self, target: Tensor) -> None:
        table = target.double().reshape(-1, self.outputs)
        seen = ~table.isnan()
        count = seen.sum(dim=0).clamp_min(1)
        centre = table.nan_to_num().sum(dim=0) / count
        spread = ((table - centre).nan_to_num().square().sum(dim=0) / count).sqrt()
        self.centre.copy_(centre)
        self.spread.copy_(torch.where(spread > 0, spread, 1.0))

    def scaled(self, target: Tensor, like: Tensor) -> Tensor:
        return ((target - self.centre) / self.spread).to(like.dtype)

    def answer(self, outputs: Tensor) -> Tensor:
        return outputs * self.spread + self.centre


class Regression(_Scaled):
    """Mean squared error; R2, averaged over outputs."""

    def loss(self, outputs: Tensor, target: Tensor) -> Tensor:
        return mse_loss(outputs, self.scaled(target, outputs))

    def metric(self, outputs: Tensor, target: Tensor) -> Tensor:
        from torchmetrics.functional import r2_score

        return r2_score(outputs.nan_to_num(), self.scaled(target, outputs))


class Forecast(_Scaled):
    """Values of all channels at query times; a NaN in the target is a query without an answer.

    The target has one more column than there are channels: 1 where a query lies beyond the
    observations, 0 between them. Both kinds weigh the same in the loss, however many there are.
    """

    def calibrate(self, target: Tensor) -> None:
        super().calibrate(target[..., :-1])

    def forward(self, states: Float[Tensor, "B K H"]) -> Tensor:
        return linear_rows(states, self.head.weight, self.head.bias)

    def loss(self, outputs: Tensor, target: Tensor) -> Tensor:
        truth = self.scaled(target[..., :-1], outputs)
        beyond = (target[..., -1:] > 0.5).expand_as(truth)
        # Unanswered queries leave before any arithmetic: a zero gradient times NaN is NaN.
        masks = (~truth.isnan() & beyond, ~truth.isnan() & ~beyond)
        means = [mse_loss(outputs[mask], truth[mask]) for mask in masks if mask.any()]
        return torch.stack(means).mean() if means else (outputs * 0).sum()

    def metric(self, outputs: Tensor, target: Tensor) -> Tensor:
        from torchmetrics.functional import r2_score

        truth = self.scaled(target[..., :-1], outputs)
        asked = ~truth.isnan()
        return r2_score(outputs.nan_to_num()[asked], truth[asked])


class _Classes(Readout):
    """Targets are class numbers; each class has a weight in the loss."""

    class_weight: Tensor

    def __init__(self, state_size: int, outputs: int) -> None:
        super().__init__(state_size, outputs)
        self.register_buffer("class_weight", torch.ones(max(outputs, 2)))

    def balance(self, target: Tensor) -> None:
        """Let every class weigh alike, however rare it is in `target`."""
        counts = target.bincount(minlength=len(self.class_weight))
        self.class_weight.copy_(len(target) / (len(counts) * counts))


class Binary(_Classes):
    """Cross-entropy on one logit; area under the ROC curve."""

    metric_name = "AUROC"

    def loss(self, outputs: Tensor, target: Tensor) -> Tensor:
        weight = self.class_weight[target].to(outputs.dtype)
        each = binary_cross_entropy_with_logits(outputs[:, 0], target.to(outputs.dtype), reduction="none")
        return (weight * each).sum() / weight.sum()

    def metric(self, outputs: Tensor, target: Tensor) -> Tensor:
        from torchmetrics.functional.classification import binary_auroc

        # Ranks, because probabilities of confident models round to one and would count as ties.
        ranks = outputs[:, 0].nan_to_num().unique(return_inverse=True)[1].double()
        return binary_auroc(ranks / ranks.max().clamp_min(1), target)

    def answer(self, outputs: Tensor) -> Tensor:
        positive = torch.sigmoid(outputs.double())
        return torch.cat([1 - positive, positive], dim=1)


class Multiclass(_Classes):
    """Cross-entropy; share of right answers."""

    metric_name = "accuracy"

    def loss(self, outputs: Tensor, target: Tensor) -> Tensor:
        return cross_entropy(outputs, target, weight=self.class_weight.to(outputs.dtype))

    def metric(self, outputs: Tensor, target: Tensor) -> Tensor:
        right = (outputs.argmax(dim=1) == target) & ~outputs.isnan().any(dim=1)
        return right.double().mean()

    def answer(self, outputs: Tensor) -> Tensor:
        return torch.softmax(outputs.double(), dim=1)


TASKS: dict[str, type[Readout]] = {
    "regression": Regression,
    "binary": Binary,
    "multiclass": Multiclass,
    "forecast": Forecast,
}
