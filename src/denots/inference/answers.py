"""Outputs of a model as a user reads them: probabilities and classes, or numbers in their own unit."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from denots import kernels
from denots.shapes import FloatArray

LARGEST_LOGIT = 1e3


def units(
    centre: tuple[float, ...], spread: tuple[float, ...], learnt: str
) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """By how much an answer changes with its output, and the answer that zero stands for, for numbers that were learnt
    standardised, centred or raw."""
    factor = spread if learnt == "standardised" else (1.0,) * len(spread)
    return factor, (0.0,) * len(centre) if learnt == "raw" else centre


def stretch(outputs: FloatArray, factor: tuple[float, ...], shift: tuple[float, ...]) -> FloatArray:
    """Outputs in the unit of the target."""
    return outputs.astype(np.float64) * np.array(factor) + np.array(shift)


class TaskAnswers(Protocol):
    """What of a task is needed to answer."""

    @property
    def outputs(self) -> int: ...

    def answer(self, outputs: FloatArray) -> FloatArray:
        """Outputs in the terms of the user, NaN where there are none."""

    def columns(self, answers: FloatArray) -> dict[str, npt.NDArray[Any]]:
        """Answers as columns of a table; empty cells where there is none."""


@dataclass(frozen=True)
class ClassAnswers:
    """labels, dtype: the classes as plain values in ascending order, and the type of their array."""

    labels: tuple[Any, ...]
    dtype: str

    @classmethod
    def restore(cls, state: dict[str, Any]) -> "ClassAnswers":
        """What `tasks.Classification` keeps."""
        return cls(tuple(state["labels"]), str(state["dtype"]))

    @property
    def classes(self) -> npt.NDArray[Any]:
        return np.array(self.labels, dtype=self.dtype)

    @property
    def outputs(self) -> int:
        return 1 if len(self.labels) == 2 else len(self.labels)

    def answer(self, outputs: FloatArray) -> FloatArray:
        """The probability of each class [n, classes]."""
        logits = outputs.astype(np.float64)
        if len(self.labels) == 2:
            held = np.clip(logits, -LARGEST_LOGIT, LARGEST_LOGIT)
            logits = np.concatenate([np.zeros_like(held), held], axis=1)
        return kernels.softmax_rows(logits)

    def best(self, answers: FloatArray) -> npt.NDArray[Any]:
        """The most probable class of each series; where there is no answer, an object array with None."""
        lost = np.asarray(np.isnan(answers).any(axis=1))
        best = self.classes[np.where(lost[:, None], 0.0, answers).argmax(axis=1)]
        if lost.any():
            best = best.astype(object)
            best[lost] = None
        return best

    def columns(self, answers: FloatArray) -> dict[str, npt.NDArray[Any]]:
        return {"prediction": self.best(answers)} | {f"p_{name}": answers[:, k] for k, name in enumerate(self.labels)}


@dataclass(frozen=True)
class NumberAnswers:
    """factor, shift: by how much an answer changes with its output, and the answer that zero stands for.

    flat: whether there is one number a series. parts: the names of several.
    """

    factor: tuple[float, ...]
    shift: tuple[float, ...]
    flat: bool
    parts: tuple[str, ...]

    @classmethod
    def restore(cls, state: dict[str, Any]) -> "NumberAnswers":
        """What `tasks.Regression` keeps."""
        scale, names = state["scale"], tuple(map(str, state.get("names", [])))
        centre, spread = (tuple(map(float, scale[name])) for name in ("centre", "spread"))
        flat = bool(state["flat"])
        parts = () if flat else names or tuple(map(str, range(len(centre))))
        if len(centre) != len(spread) or (names and len(names) != len(centre)):
            raise ValueError("scale and names of a regression differ in number")
        return cls(*units(centre, spread, scale.get("units", "standardised")), flat, parts)

    @property
    def outputs(self) -> int:
        return len(self.factor)

    def answer(self, outputs: FloatArray) -> FloatArray:
        return stretch(outputs, self.factor, self.shift)

    def columns(self, answers: FloatArray) -> dict[str, npt.NDArray[Any]]:
        if self.flat:
            return {"prediction": answers[:, 0]}
        return {f"prediction_{part}": answers[:, k] for k, part in enumerate(self.parts)}


@dataclass(frozen=True)
class RowAnswers:
    """The same at every moment of a series."""

    of: ClassAnswers | NumberAnswers

    @classmethod
    def restore(cls, of: type[ClassAnswers] | type[NumberAnswers], state: dict[str, Any]) -> "RowAnswers":
        """What a task of rows keeps."""
        return cls(of.restore(state["of"]))

    @property
    def outputs(self) -> int:
        return self.of.outputs

    def answer(self, outputs: FloatArray) -> FloatArray:
        flat = self.of.answer(outputs.reshape(-1, self.outputs))
        return flat.reshape(*outputs.shape[:-1], flat.shape[1])

    def columns(self, answers: FloatArray) -> dict[str, npt.NDArray[Any]]:
        return self.of.columns(answers.reshape(-1, answers.shape[-1]))


# How the answers of a task are made of what it keeps.
ANSWERS: Mapping[str, Callable[[dict[str, Any]], TaskAnswers]] = {
    "classification": ClassAnswers.restore,
    "regression": NumberAnswers.restore,
    "row-classification": partial(RowAnswers.restore, ClassAnswers),
    "row-regression": partial(RowAnswers.restore, NumberAnswers),
}
