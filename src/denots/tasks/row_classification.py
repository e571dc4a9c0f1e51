"""Tell the class of every row of a series, such as whether an alarm is due."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from denots.errors import InvalidTarget
from denots.shapes import BoolArray, FloatArray, IntArray
from denots.tasks.class_metrics import judge_classes
from denots.tasks.classification import MOST_CLASSES, Classification
from denots.tasks.rows import RowTask
from denots.tasks.scores import NAN, Judge
from denots.tasks.task import Part


@dataclass(frozen=True)
class RowClassification(RowTask):
    """Cross-entropy over rows; `Classification` says the rest. Classes are whole numbers, or any two numbers."""

    of: Classification

    name = "row-classification"
    baseline = "class shares of rows"
    learns = "classes"
    kind = Classification

    @classmethod
    def question(cls, labels: list[FloatArray]) -> Classification:
        classes = np.unique(np.concatenate(labels))
        whole = bool((classes == np.round(classes)).all())
        if len(classes) > MOST_CLASSES or (len(classes) > 2 and not whole):
            raise InvalidTarget(
                f"the row target has {len(classes)} different values, such as {classes[0]:g} and {classes[1]:g}; classes are "
                f"at most {MOST_CLASSES} whole numbers. Use task row-regression for numbers."
            )
        counts = np.array([(labels[0] == label).sum() for label in classes])
        named = classes.astype(np.int64) if whole else classes
        shares = counts / counts.sum()
        return Classification(tuple(named.tolist()), named.dtype.str, (1.0,) * len(classes), tuple(shares.tolist()))

    def encode(self, labels: FloatArray) -> FloatArray:
        classes = self.of.classes.astype(np.float64)
        unknown = labels[~np.isin(labels, classes)]
        if len(unknown):
            raise InvalidTarget(
                f"the row target holds the class {unknown[0]:g}, which the model does not know; its classes are "
                f"{', '.join(map(repr, self.of.labels))}."
            )
        return np.searchsorted(classes, labels).astype(np.float64)

    def flat_target(self, target: Tensor) -> Tensor:
        return target.nan_to_num().long()

    def row_weights(self, target: Tensor) -> Tensor | None:
        weights = torch.tensor(self.of.weights, dtype=torch.float64)
        return None if (weights == weights[0]).all() else weights[target]

    def strata(self, part: Part) -> npt.NDArray[np.int64] | None:
        """The highest class of each series, where every class is the highest one of at least two."""
        highest = np.fmax.reduce(part.target.numpy(), axis=1, initial=0.0).astype(np.int64)
        return highest if np.unique(highest, return_counts=True)[1].min() > 1 else None

    def judge_series(self, answers: FloatArray, truth: FloatArray, known: BoolArray) -> Judge:
        """Of two classes, how well the highest probability of a series tells whether it ever has the second one."""
        if not self.of.binary:
            return super().judge_series(answers, truth, known)
        some = np.asarray(known.any(axis=1))
        ever = np.where(known, truth, 0.0).max(axis=1).astype(np.int64)
        top = np.where(known, answers[..., 1], 0.0).max(axis=1)
        judge = judge_classes(np.stack([1 - top, top], axis=1), ever)

        def judged(rows: IntArray) -> dict[str, float]:
            own = rows[some[rows]]
            return {"AUROC of series": judge(own)["AUROC"] if len(own) else NAN}

        return judged
