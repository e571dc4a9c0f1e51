"""Tell which of two or more classes a series belongs to."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor
from torch.nn.functional import binary_cross_entropy_with_logits, cross_entropy

from denots.data.series import SeriesSet
from denots.errors import InvalidOption, InvalidTarget
from denots.inference.answers import LARGEST_LOGIT, ClassAnswers
from denots.metrics import auroc
from denots.pages.chart import Picture
from denots.registry import listed
from denots.shapes import FloatArray
from denots.tasks.class_metrics import judge_classes, reliability
from denots.tasks.class_pictures import class_pictures
from denots.tasks.scores import Bin, Comparison, Held, Judge
from denots.tasks.task import Part, Task, known_target

MOST_CLASSES = 20  # whole numbers with more distinct values are taken as a quantity


@dataclass(frozen=True)
class Classification(Task):
    """Cross-entropy; area under the ROC curve for two classes (one logit), share of right answers for more.

    The trivial answer is the share of each class in the first set that the task was read from.

    labels, dtype: the classes as plain values in ascending order, and the type of their array.
    weights: of each class in the loss.
    """

    labels: tuple[Any, ...]
    dtype: str
    weights: tuple[float, ...]
    shares: tuple[float, ...]

    name = "classification"
    baseline = "class shares"
    learns = "classes"

    @classmethod
    def suits(cls, target: npt.NDArray[Any] | None) -> str | None:
        if target is None or target.ndim != 1:
            return None
        distinct = len(np.unique(target))
        if target.dtype.kind == "b":
            return "is true or false"
        if target.dtype.kind not in "iuf":
            return f"holds text, {distinct} classes"
        if distinct == 2:
            return "holds two different numbers"
        if target.dtype.kind in "iu" and distinct <= MOST_CLASSES:
            return f"holds whole numbers, only {distinct} different ones"
        return None

    @classmethod
    def read(cls, *sets: SeriesSet) -> "Classification":
        classes = np.unique(np.concatenate([_classes(known_target(series)) for series in sets]))
        first = np.searchsorted(classes, _classes(known_target(sets[0])))
        shares = np.bincount(first, minlength=len(classes)) / len(first)
        return cls(tuple(classes.tolist()), classes.dtype.str, (1.0,) * len(classes), tuple(shares.tolist()))

    @property
    def classes(self) -> npt.NDArray[Any]:
        return self.answers.classes

    def pose(self, series: SeriesSet) -> Part:
        target, known = _classes(known_target(series)), set(self.labels)
        unknown = [label for label in target.tolist() if label not in known]
        if unknown:
            raise InvalidTarget(
                f"the target holds the class {unknown[0]!r}, which the model does not know; "
                f"its classes are {', '.join(map(repr, self.labels))}."
            )
        return Part(series, torch.from_numpy(np.searchsorted(self.classes, target).astype(np.int64)))

    def check(self, part: Part) -> None:
        if len(self.labels) < 2:
            raise InvalidTarget(
                f"every series has one class, {self.labels[0]!r}; a classifier needs at least two classes."
            )
        counts = part.target.bincount(minlength=len(self.labels))
        if counts.min() < 2:
            rare = self.labels[int(counts.argmin())]
            raise InvalidTarget(
                f"class {rare!r} has one series; each class needs at least two, one to learn from and one to validate with."
            )

    def calibrated(self, train: Part) -> "Classification":
        return self

    def weighted(self, train: Part, weights: Any) -> "Classification":
        if weights == "balanced":
            counts = train.target.bincount(minlength=len(self.labels))
            return replace(self, weights=tuple((len(train) / (len(counts) * counts)).tolist()))
        if not isinstance(weights, Mapping):
            raise InvalidOption(f"class_weight is None, 'balanced' or a dictionary of weights; got {weights!r}.")
        unknown = [label for label in weights if label not in self.labels]
        wrong = [
            weight for weight in weights.values() if not isinstance(weight, Real) or not 0 < float(weight) < np.inf
        ]
        if unknown or wrong:
            what = f"the class {unknown[0]!r}, which is not there" if unknown else f"a weight of {wrong[0]!r}"
            raise InvalidOption(f"class_weight has {what}; give positive numbers for classes of the target.")
        return replace(self, weights=tuple(float(weights.get(label, 1.0)) for label in self.labels))

    def strata(self, part: Part) -> npt.NDArray[Any]:
        return part.target.numpy()

    @property
    def binary(self) -> bool:
        return len(self.labels) == 2

    @property
    def outputs(self) -> int:
        return 1 if self.binary else len(self.labels)

    @property
    def metric_name(self) -> str:
        return "AUROC" if self.binary else "accuracy"

    def loss(self, outputs: Tensor, target: Tensor) -> Tensor:
        weights = torch.tensor(self.weights, dtype=torch.float32).to(outputs.dtype)
        if not self.binary:
            return cross_entropy(outputs, target, weight=weights)
        weight = weights[target]
        each = binary_cross_entropy_with_logits(outputs[:, 0], target.to(outputs.dtype), reduction="none")
        return (weight * each).sum() / weight.sum()

    def metric(self, outputs: Tensor, target: Tensor) -> Tensor:
        if not self.binary:
            right = (outputs.argmax(dim=1) == target) & ~outputs.isnan().any(dim=1)
            return right.double().mean()
        # Ranks, because probabilities of confident models round to one and would count as ties.
        ranks = outputs[:, 0].nan_to_num().unique(return_inverse=True)[1].double()
        return auroc(ranks / ranks.max().clamp_min(1), target)

    def answer(self, outputs: Tensor) -> Tensor:
        """The probability of each class [n, classes]."""
        if not outputs.requires_grad:
            return torch.from_numpy(self.answers.answer(outputs.numpy()))
        logits = outputs.double()
        if self.binary:
            logits = torch.cat([torch.zeros_like(logits), logits.clamp(-LARGEST_LOGIT, LARGEST_LOGIT)], dim=1)
        return torch.softmax(logits, dim=1)

    @property
    def answers(self) -> ClassAnswers:
        return ClassAnswers(self.labels, self.dtype)

    def compare(self, outputs: Tensor, part: Part) -> Comparison:
        answers = self.answer(outputs).numpy()
        trivial = np.broadcast_to(self.shares, answers.shape)
        failed = np.isnan(answers).any(axis=1)
        return Comparison(part.target.numpy(), np.where(failed[:, None], trivial, answers), trivial, failed)

    def judge(self, answers: FloatArray, truth: npt.NDArray[Any]) -> Judge:
        return judge_classes(answers, truth)

    def reliability(self, told: Comparison) -> tuple[Bin, ...]:
        return reliability(told.answers, told.truth)

    def facts(self) -> dict[str, str]:
        pairs = zip(self.labels, self.shares, strict=True)
        return {"classes": listed([f"{label} {share:.1%}" for label, share in pairs])}

    def pictures(self, told: Comparison, part: Part) -> tuple[Picture, ...]:
        return class_pictures([str(label) for label in self.labels], told.answers, told.truth)

    def rows(self, told: Comparison) -> dict[str, npt.NDArray[Any]]:
        """The error is the probability that was not given to the truth."""
        given = np.where(told.failed[:, None], np.nan, told.answers)
        error = 1 - given[np.arange(len(given)), told.truth]
        return {"truth": self.classes[told.truth], "answer": self.best(given), "error": error}

    def best(self, answers: FloatArray) -> npt.NDArray[Any]:
        """The most probable class of each series; where there is no answer, an object array with None."""
        return self.answers.best(answers)

    def columns(self, answers: FloatArray) -> dict[str, npt.NDArray[Any]]:
        return self.answers.columns(answers)

    def nonconformity(self, answers: FloatArray, truth: npt.NDArray[Any]) -> FloatArray:
        """What is missing to certainty of the true class, in its column (the score of the least ambiguous sets)."""
        return np.where(np.arange(answers.shape[1]) == truth[:, None], 1 - answers, np.nan)

    def region(self, answers: FloatArray, limits: FloatArray) -> npt.NDArray[np.bool_]:
        """Whether each class belongs [n, classes]; none may, where all are less likely than truths mostly are."""
        return ~(1 - answers > limits)

    def region_columns(self, region: npt.NDArray[Any]) -> dict[str, npt.NDArray[Any]]:
        """Sets as text, such as {ill, well}."""
        names = [str(label) for label in self.labels]
        told = ["{" + ", ".join(name for name, held in zip(names, row, strict=True) if held) + "}" for row in region]
        return {"set": np.array(told, dtype=object)}

    def held(self, region: npt.NDArray[Any], truth: npt.NDArray[Any]) -> Held:
        """The size of a set is the number of its classes."""
        own = region[np.arange(len(truth)), truth]
        return Held(np.ones(len(truth)), own.astype(np.float64), region.sum(axis=1).astype(np.float64))

    def state(self) -> dict[str, Any]:
        return {
            "labels": list(self.labels),
            "dtype": self.dtype,
            "weights": list(self.weights),
            "shares": list(self.shares),
        }

    @classmethod
    def restore(cls, state: dict[str, Any]) -> "Classification":
        task = cls(
            tuple(state["labels"]),
            str(state["dtype"]),
            tuple(map(float, state["weights"])),
            tuple(map(float, state["shares"])),
        )
        if not len(task.classes) == len(task.weights) == len(task.shares):
            raise ValueError("labels, weights and shares of a classification differ in number")
        return task


def _classes(target: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """The target of a classification: text, Booleans, whole numbers, or any two different numbers; one column."""
    if target.ndim != 1:
        raise InvalidTarget(f"classes have shape {target.shape}; expected one class for each series.")
    if target.dtype.kind == "f" and (target != np.round(target)).any() and len(np.unique(target)) > 2:
        raise InvalidTarget(
            f"Unknown label type: continuous. The first target, {target[0]}, is no class; use a regressor for numbers."
        )
    return target
