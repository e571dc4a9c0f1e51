"""Pictures by which forecasts are judged: how the error grows with the time ahead, and answers beside the truth."""

from collections.abc import Mapping, Sequence

import numpy as np

from denots.pages.chart import Chart, Line, Picture
from denots.shapes import BoolArray, FloatArray
from denots.tasks.number_pictures import number_pictures

MOST_CHANNELS, MOST_BINS, ENOUGH = 3, 8, 20  # a bin of questions has so many at least


def horizon_chart(
    ahead: FloatArray, errors: Mapping[str, FloatArray], asked: BoolArray, time_unit: str
) -> tuple[Picture, ...]:
    """Root mean squared error by the time from the last observation to the question.

    Args:
        ahead: of each question [n, K]; those between the observations are not drawn.
        errors: of several forecasts by name [n, K, C], in units of the training spread.
        asked: where the truth is known [n, K, C].
    """
    beyond = asked & (ahead > 0)[..., None]
    times = np.broadcast_to(ahead[..., None], asked.shape)[beyond]
    if not len(times):
        return ()
    bins = max(1, min(MOST_BINS, len(times) // ENOUGH))
    place = np.searchsorted(np.unique(np.quantile(times, np.arange(1, bins) / bins)), times, side="left")
    counts = np.bincount(place)
    own = counts > 0
    middle = np.bincount(place, times)[own] / counts[own]
    lines = tuple(
        Line(name, middle, np.sqrt(np.bincount(place, np.square(error[beyond]))[own] / counts[own]))
        for name, error in errors.items()
    )
    unit = f" ({time_unit})" if time_unit else ""
    note = f"Over {len(times)} hidden values, all channels together, each in units of its spread in training."
    return (
        Chart(
            "Error by the time ahead.",
            f"time after the last observation{unit}",
            "RMSE",
            lines,
            note,
            up=(0.0, _top(lines)),
        ),
    )


def channel_pictures(channels: Sequence[str], answers: FloatArray, truth: FloatArray) -> tuple[Picture, ...]:
    """Answers beside the truth for the channels that were asked for most."""
    asked = (~np.isnan(truth)).sum(axis=(0, 1))
    most = [int(c) for c in np.argsort(-asked, kind="stable")[:MOST_CHANNELS] if asked[c]]
    pictures = (number_pictures(channels[c], answers[..., c].ravel(), truth[..., c].ravel()) for c in most)
    return tuple(picture for found in pictures for picture in found[:1])


def _top(lines: Sequence[Line]) -> float:
    return 1.05 * max(float(np.nanmax(line.y)) for line in lines) or 1.0
