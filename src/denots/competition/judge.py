"""What a contender tells of the test series, and by which numbers it is judged."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from denots.shapes import FloatArray

SMALLEST = 1e-15  # a probability of zero that came true would cost infinitely much


@dataclass(frozen=True, slots=True, eq=False)
class Told:
    """Classes, or numbers; where the contender has them, the probability of each of `classes`, in ascending order.

    order: with two classes, how much a series is of the second one, on any scale.
    """

    answers: npt.NDArray[Any]
    classes: npt.NDArray[Any] | None = None
    shares: FloatArray | None = None
    order: FloatArray | None = None

    @classmethod
    def of_shares(cls, shares: FloatArray, classes: npt.NDArray[Any]) -> "Told":
        order = shares[:, 1] if len(classes) == 2 else None
        return cls(classes[shares.argmax(axis=1)], classes, shares, order)


def judge(told: Told, target: npt.NDArray[Any]) -> dict[str, float]:
    """Accuracy, with two classes AUROC and average precision, with probabilities log loss; or R2 and RMSE."""
    from sklearn.metrics import average_precision_score, r2_score, roc_auc_score

    if told.classes is None:
        error = np.sqrt(np.mean((told.answers - target) ** 2))
        return {"R2": float(r2_score(target, told.answers)), "RMSE": float(error)}
    found = {"accuracy": float((told.answers == target).mean())}
    if told.order is not None and np.array_equal(np.unique(target), told.classes):
        second = target == told.classes[1]
        found["AUROC"] = float(roc_auc_score(second, told.order))
        found["average precision"] = float(average_precision_score(second, told.order))
    if told.shares is not None:
        column = np.searchsorted(told.classes, target).clip(max=len(told.classes) - 1)
        known = told.classes[column] == target
        share = np.where(known, told.shares[np.arange(len(target)), column], 0.0)
        found["log loss"] = float(-np.log(np.clip(share, SMALLEST, 1.0)).mean())
    return found
