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
from denots.metrics import r2
from denots.shapes import FloatArray, IntArray
from denots.tasks.intervals import around, bounds, held_between
from denots.tasks.scale import Scale, check_magnitude
from denots.tasks.scores import NAN, Comparison, Held, Judge
from denots.tasks.task import Part, Task, known_target


@dataclass(frozen=True)
class Regression(Task):
    """Mean squared error; R2, averaged over outputs. The trivial answer is the mean of the first set read.

    flat: whether the target is one number a series, so that answers have no axis for outputs.
    """

    scale: Scale
    mean: tuple[float, ...]
    flat: bool = True

    name = "regression"
    baseline = "mean"
    learns = "numbers"
    fewest = 2  # R2 compares with the mean

    @classmethod
    def suits(cls, target: npt.NDArray[Any] | None) -> str | None:
        if target is None or target.dtype.kind not in "iuf":
            return None
        if target.dtype.kind == "f":
            return "holds decimal numbers"
        return f"holds whole numbers, {len(np.unique(target))} different ones"

    @classmethod
    def read(cls, *sets: SeriesSet) -> "Regression":
        target = known_target(sets[0])
        table = _numbers(target)
        return cls(Scale.unit(table.shape[1]), tuple(table.mean(axis=0).tolist()), flat=target.ndim == 1)

    def pose(self, series: SeriesSet) -> Part:
        return Part(series, torch.from_numpy(_numbers(known_target(series))))

    def check(self, part: Part) -> None:
        table = part.target.numpy()
        constant = np.flatnonzero(np.ptp(table, axis=0) == 0)
        if len(constant):
            raise InvalidTarget(
                f"the regression target is {table[0, constant[0]]} for all series (n_samples={len(table)}); there is nothing to learn from a constant."
            )
        check_magnitude(table, "the regression target")

    def calibrated(self, train: Part) -> "Regression":
        return replace(self, scale=Scale.of(train.target))

    @property
    def outputs(self) -> int:
        return len(self.scale.centre)

    @property
    def metric_name(self) -> str:
        return "R2"

    def loss(self, outputs: Tensor, target: Tensor) -> Tensor:
        return mse_loss(outputs, self.scale.shrink(target, outputs.dtype))

    def metric(self, outputs: Tensor, target: Tensor) -> Tensor:
        return r2(outputs.nan_to_num(), self.scale.shrink(target, outputs.dtype))

    def answer(self, outputs: Tensor) -> Tensor:
        return self.scale.stretch(outputs)

    def compare(self, outputs: Tensor, part: Part) -> Comparison:
        answers = self.answer(outputs).numpy()
        trivial = np.broadcast_to(self.mean, answers.shape)
        failed = np.isnan(answers).any(axis=1)
        return Comparison(part.target.numpy(), np.where(failed[:, None], trivial, answers), trivial, failed)

    def judge(self, answers: FloatArray, truth: npt.NDArray[Any]) -> Judge:
        """R2, mean absolute and root mean squared error."""
        from sklearn.metrics import mean_absolute_error, r2_score, root_mean_squared_error

        def judge(rows: IntArray) -> dict[str, float]:
            pair = truth[rows], answers[rows]
            return {
                "R2": float(r2_score(*pair)) if len(rows) >= self.fewest else NAN,
                "MAE": float(mean_absolute_error(*pair)),
                "RMSE": float(root_mean_squared_error(*pair)),
            }

        return judge

    def rows(self, told: Comparison) -> dict[str, npt.NDArray[Any]]:
        """The error is the answer less the truth."""
        given = np.where(told.failed[:, None], np.nan, told.answers)
        parts = {"truth": told.truth, "answer": given, "error": given - told.truth}
        if self.flat:
            return {name: table[:, 0] for name, table in parts.items()}
        return {f"{name}_{k}": table[:, k] for k in range(self.outputs) for name, table in parts.items()}

    def columns(self, answers: FloatArray) -> dict[str, npt.NDArray[Any]]:
        if self.flat:
            return {"prediction": answers[:, 0]}
        return {f"prediction_{k}": answers[:, k] for k in range(self.outputs)}

    def nonconformity(self, answers: FloatArray, truth: npt.NDArray[Any]) -> FloatArray:
        return np.abs(truth - answers)

    def region(self, answers: FloatArray, limits: FloatArray) -> FloatArray:
        return around(answers, limits)

    def region_columns(self, region: npt.NDArray[Any]) -> dict[str, npt.NDArray[Any]]:
        return bounds(self.columns, region)

    def held(self, region: npt.NDArray[Any], truth: npt.NDArray[Any]) -> Held:
        return held_between(region, truth)

    def state(self) -> dict[str, Any]:
        return {"scale": self.scale.state(), "mean": list(self.mean), "flat": self.flat}

    @classmethod
    def restore(cls, state: dict[str, Any]) -> "Regression":
        return cls(Scale.restore(state["scale"]), tuple(map(float, state["mean"])), bool(state["flat"]))

    def table(self, target: Tensor) -> FloatArray:
        return self.scale.shrink(target, torch.float64).numpy()


def _numbers(target: npt.NDArray[Any]) -> FloatArray:
    """The target as a table [n, outputs] of floats."""
    if target.dtype.kind not in "fiub":
        raise InvalidTarget(
            f"a regression target must be numbers; the first one is {target[0].item()!r}. Use a classifier for classes."
        )
    return target.astype(np.float64).reshape(len(target), -1)
