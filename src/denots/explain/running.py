"""The running answer: what a model says of a series while its observations come in."""

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import torch

from denots.estimators.estimator import SeriesEstimator
from denots.explain.quantity import Quantity
from denots.explain.subject import one_series
from denots.shapes import FloatArray

MOST = 200  # times at which the model is asked


class Running(NamedTuple):
    """Times, and the answer after everything observed up to each; NaN where the model gives none."""

    times: FloatArray
    answers: FloatArray


def running_answer(model: SeriesEstimator, X: Any, id: Any = None, *, of: Any = None) -> Running:
    """The answer for one series cut after each of its times, or after as many of them as can be drawn.

    Args:
        of: the class, or the number of the output; by default the class that is told in the end.
    """
    series = one_series(model, X, id)
    seen = np.flatnonzero((~np.isnan(series.values)).any(axis=1).cumsum() > 0)
    last = seen[np.unique(np.linspace(0, len(seen) - 1, MOST).round().astype(np.int64))]
    rows = np.nonzero(np.arange(len(series.times)) <= last[:, None])[1]
    cut = replace(
        series,
        times=series.times[rows],
        values=series.values[rows],
        offsets=np.concatenate([[0], np.cumsum(last + 1)]),
        start=np.repeat(series.start, len(last)),
        ids=np.arange(len(last)),
        static=None if series.static is None else np.repeat(series.static, len(last), axis=0),
        target=None,
    )
    outputs = model.fitted_.outputs(cut).outputs
    quantity = Quantity.of(model.task_, outputs[-1:], of)
    with torch.inference_mode():
        return Running(series.times[last], quantity.read(outputs).numpy())
