"""Tell one or several numbers for each series."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor
from torch.nn.functional import mse_loss

from denots.data.series import SeriesSet
from denots.errors import InvalidTarget
from denots.inference.answers import NumberAnswers
from denots.metrics import r2
from denots.pages.chart import Picture
from denots.registry import listed
from denots.shapes import FloatArray, IntArray
from denots.tasks.intervals import around, bounds, held_between
from denots.tasks.number_pictures import number_pictures
from denots.tasks.scale import Scale, Units, check_magnitude
from denots.tasks.scores import NAN, Comparison, Held, Judge
from denots.tasks.task import Part, Task, known_target

MOST_PICTURED = 6  # of several targets


@dataclass(frozen=True)
class Regression(Task):
    """Mean squared error; R2, averaged over outputs. The trivial answer is the mean of the first set read.

    flat: whether the target is one number a series, so that answers have no axis for outputs.
    names: of several targets; empty where they have none.
    """

    scale: Scale
    mean: tuple[float, ...]
    flat: bool = True
    names: tuple[str, ...] = ()

    name = "regression"
    baseline = "mean"
    learns = "numbers"
    fewest = 2  # R2 compares with the mean

    @classmethod
    def suits(cls, target: npt.NDArray[Any] | None) -> str | None:
        if target is None or target.dtype.kind not in "iuf":
            return None
        if target.ndim == 2:
            return None if any(len(np.unique(column)) < 3 for column in target.T) else "hold numbers"
        if target.dtype.kind == "f":
            return "holds decimal numbers"
        return f"holds whole numbers, {len(np.unique(target))} different ones"

    @classmethod
    def read(cls, *sets: SeriesSet) -> "Regression":
        target = known_target(sets[0])
        table = _numbers(target)
        names = sets[0].target_names
        return cls(Scale.unit(table.shape[1]), tuple(table.mean(axis=0).tolist()), target.ndim == 1, names)

    def pose(self, series: SeriesSet) -> Part:
        table = _numbers(known_target(series))
        if table.shape[1] != self.outputs:
            raise InvalidTarget(f"{table.shape[1]} targets a series, but the model answers with {self.outputs}.")
        named = series.target_names
        if self.names and named and named != self.names:
            if set(named) != set(self.names):
                raise InvalidTarget(
                    f"the targets are {listed(named)}, but the model answers with {listed(self.names)}."
                )
            table = table[:, [named.index(name) for name in self.names]]
        return Part(series, torch.from_numpy(table))

    def check(self, part: Part) -> None:
        table = part.target.numpy()
        constant = np.flatnonzero(np.ptp(table, axis=0) == 0)
        if len(constant):
            which = f" {self.parts[constant[0]]!r}" if self.parts else ""
            raise InvalidTarget(
                f"the regression target{which} is {table[0, constant[0]]} for all series (n_samples={len(table)}); there is nothing to learn from a constant."
            )
        check_magnitude(table, "the regression target")

    def in_units(self, units: Units) -> "Regression":
        return replace(self, scale=replace(self.scale, units=units))

    def calibrated(self, train: Part) -> "Regression":
        return replace(self, scale=Scale.of(train.target, self.scale.units))

    @property
    def outputs(self) -> int:
        return len(self.scale.centre)

    @property
    def parts(self) -> tuple[str, ...]:
        return () if self.flat else self.names or tuple(map(str, range(self.outputs)))

    @property
    def metric_name(self) -> str:
        return "R2"

    def loss(self, outputs: Tensor, target: Tensor) -> Tensor:
        return mse_loss(outputs, self.scale.shrink(target, outputs.dtype))

    def metric(self, outputs: Tensor, target: Tensor) -> Tensor:
        return r2(self.scale.filled(outputs), self.scale.shrink(target, outputs.dtype))

    def answer(self, outputs: Tensor) -> Tensor:
        return self.scale.stretch(outputs)

    @property
    def answers(self) -> NumberAnswers:
        return NumberAnswers(self.scale.factor, self.scale.shift, self.flat, self.parts)

    def compare(self, outputs: Tensor, part: Part) -> Comparison:
        answers = self.answer(outputs).numpy()
        trivial = np.broadcast_to(self.mean, answers.shape)
        failed = np.isnan(answers).any(axis=1)
        return Comparison(part.target.numpy(), np.where(failed[:, None], trivial, answers), trivial, failed)

    def judge(self, answers: FloatArray, truth: npt.NDArray[Any]) -> Judge:
        """R2, mean absolute and root mean squared error; of several targets their mean, then each by itself.

        A mean error has the unit of its target only where all have the same.
        """
        from sklearn.metrics import mean_absolute_error, r2_score, root_mean_squared_error

        def judge(rows: IntArray) -> dict[str, float]:
            apart: dict[str, Any] = {"y_true": truth[rows], "y_pred": answers[rows], "multioutput": "raw_values"}
            each = {
                "R2": r2_score(**apart) if len(rows) >= self.fewest else np.full(self.outputs, NAN),
                "MAE": mean_absolute_error(**apart),
                "RMSE": root_mean_squared_error(**apart),
            }
            told = {name: float(np.mean(found)) for name, found in each.items()}
            for k, part in enumerate(self.parts):
                told |= {f"{name} {part}": float(found[k]) for name, found in each.items()}
            return told

        return judge

    def facts(self) -> dict[str, str]:
        each = zip(self.parts or ("target",), self.mean, self.scale.spread, strict=True)
        return {name: f"mean {mean:.4g}, standard deviation {spread:.4g}" for name, mean, spread in each}

    def pictures(self, told: Comparison, part: Part) -> tuple[Picture, ...]:
        names = (self.parts or ("",))[:MOST_PICTURED]
        each = (number_pictures(name, told.answers[:, k], told.truth[:, k]) for k, name in enumerate(names))
        return tuple(picture for found in each for picture in found)

    def rows(self, told: Comparison) -> dict[str, npt.NDArray[Any]]:
        """The error is the answer less the truth."""
        given = np.where(told.failed[:, None], np.nan, told.answers)
        parts = {"truth": told.truth, "answer": given, "error": given - told.truth}
        if self.flat:
            return {name: table[:, 0] for name, table in parts.items()}
        return {f"{name}_{part}": table[:, k] for k, part in enumerate(self.parts) for name, table in parts.items()}

    def columns(self, answers: FloatArray) -> dict[str, npt.NDArray[Any]]:
        return self.answers.columns(answers)

    def nonconformity(self, answers: FloatArray, truth: npt.NDArray[Any]) -> FloatArray:
        return np.abs(truth - answers)

    def region(self, answers: FloatArray, limits: FloatArray) -> FloatArray:
        return around(answers, limits)

    def region_columns(self, region: npt.NDArray[Any]) -> dict[str, npt.NDArray[Any]]:
        return bounds(self.columns, region)

    def held(self, region: npt.NDArray[Any], truth: npt.NDArray[Any]) -> Held:
        return held_between(region, truth, each=not self.flat)

    def state(self) -> dict[str, Any]:
        return {"scale": self.scale.state(), "mean": list(self.mean), "flat": self.flat, "names": list(self.names)}

    @classmethod
    def restore(cls, state: dict[str, Any]) -> "Regression":
        names = tuple(map(str, state.get("names", [])))  # a model saved before has none
        task = cls(Scale.restore(state["scale"]), tuple(map(float, state["mean"])), bool(state["flat"]), names)
        if not len(task.mean) == task.outputs == (len(names) or task.outputs):
            raise ValueError("scale, mean and names of a regression differ in number")
        return task

    def table(self, target: Tensor) -> FloatArray:
        return self.scale.shrink(target, torch.float64).numpy()


def _numbers(target: npt.NDArray[Any]) -> FloatArray:
    """The target as a table [n, outputs] of floats."""
    if target.dtype.kind not in "fiub":
        raise InvalidTarget(
            f"a regression target must be numbers; the first one is {target[0].item()!r}. Use a classifier for classes."
        )
    return target.astype(np.float64).reshape(len(target), -1)
