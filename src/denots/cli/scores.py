"""How good a model is, beside what one would get without it."""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from denots.data.hide import Hidden
from denots.errors import InvalidTarget
from denots.shapes import FloatArray


class Score(NamedTuple):
    """A metric of the model and of the trivial answer; NaN where it is not defined."""

    model: float
    baseline: float


class Scores(NamedTuple):
    baseline: str  # the trivial answer in words
    failed: int  # series without an answer; they are given the trivial one
    metrics: dict[str, Score]


def score_classes(labels: npt.NDArray[Any], shares: FloatArray, classes: npt.NDArray[Any], prior: FloatArray) -> Scores:
    """Accuracy, AUROC for two classes, and log loss, against the class shares of the fitted table."""
    known = set(classes.tolist())
    strange = [label for label in labels.tolist() if label not in known]
    if strange:
        raise InvalidTarget(
            f"the target holds the class {strange[0]!r}, which the model does not know; "
            f"its classes are {', '.join(map(repr, classes.tolist()))}."
        )
    codes = np.searchsorted(classes, labels)
    trivial = np.broadcast_to(prior, shares.shape)
    lost = np.isnan(shares).any(axis=1, keepdims=True)
    told = np.where(lost, trivial, shares)
    metrics = {"accuracy": Score(_accuracy(codes, told), _accuracy(codes, trivial))}
    if len(classes) == 2:
        metrics["AUROC"] = Score(_auroc(codes, told), _auroc(codes, trivial))
    metrics["log loss"] = Score(_log_loss(codes, told), _log_loss(codes, trivial))
    return Scores("class shares", int(lost.sum()), metrics)


def score_numbers(target: FloatArray, answers: FloatArray, mean: float) -> Scores:
    """R2, mean absolute and root mean squared error, against the mean of the fitted table."""
    trivial = np.full_like(answers, mean)
    lost = np.isnan(answers)
    return Scores("mean", int(lost.sum()), _errors(target, np.where(lost, trivial, answers), trivial))


def score_forecast(hidden: Hidden, answers: FloatArray, centre: FloatArray, spread: FloatArray) -> Scores:
    """R2 at the hidden rows, in total, between and beyond the observations, against the last value seen.

    Channels are put on the scale of the fitted table first, so that each weighs alike. Before its
    first observation a channel has no last value; there the baseline is the mean of the fitted table.
    """
    trivial = (np.where(np.isnan(last := last_values(hidden)), centre, last) - centre) / spread
    truth = (hidden.answers - centre) / spread
    lost = np.isnan(answers)
    told = np.where(lost, trivial, (answers - centre) / spread)
    asked = ~np.isnan(truth)
    beyond = np.broadcast_to(hidden.beyond[..., None], asked.shape)
    metrics = {}
    for name, rows in (("R2", asked), ("R2 between", asked & ~beyond), ("R2 beyond", asked & beyond)):
        metrics[name] = Score(_r2(truth[rows], told[rows]), _r2(truth[rows], trivial[rows]))
    return Scores("last value", int(lost.any(axis=(1, 2)).sum()), metrics)


def last_values(hidden: Hidden) -> FloatArray:
    """The latest visible value of each channel at each question, NaN before its first one."""
    found = np.full_like(hidden.answers, np.nan)
    for row, one in enumerate(hidden.visible):
        for channel in range(len(hidden.visible.channels)):
            seen = ~np.isnan(one.values[:, channel])
            position = np.searchsorted(one.times[seen], hidden.at[row], side="right") - 1
            known = position >= 0
            found[row, known, channel] = one.values[seen, channel][position[known]]
    return found


def _errors(target: FloatArray, answers: FloatArray, trivial: FloatArray) -> dict[str, Score]:
    from sklearn.metrics import mean_absolute_error, root_mean_squared_error

    metrics = {"R2": _r2, "MAE": mean_absolute_error, "RMSE": root_mean_squared_error}
    return {name: Score(float(of(target, answers)), float(of(target, trivial))) for name, of in metrics.items()}


def _accuracy(codes: npt.NDArray[np.int64], shares: FloatArray) -> float:
    return float((shares.argmax(axis=1) == codes).mean())


def _auroc(codes: npt.NDArray[np.int64], shares: FloatArray) -> float:
    from sklearn.metrics import roc_auc_score

    return float(roc_auc_score(codes, shares[:, 1])) if len(np.unique(codes)) == 2 else float("nan")


def _log_loss(codes: npt.NDArray[np.int64], shares: FloatArray) -> float:
    from sklearn.metrics import log_loss

    return float(log_loss(codes, shares, labels=np.arange(shares.shape[1])))


def _r2(target: FloatArray, answers: FloatArray) -> float:
    from sklearn.metrics import r2_score

    return float(r2_score(target, answers)) if len(target) > 1 else float("nan")
