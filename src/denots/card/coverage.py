"""Whether sets and intervals hold the truth as often as they promise."""

import warnings

import numpy as np

from denots.card.judged import Judged
from denots.data.reading import Reading
from denots.errors import InvalidOption
from denots.estimators.conformal import limits
from denots.pages.chart import Chart, Line
from denots.tasks.scores import interval, judge_held

LEVELS = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95)
RESAMPLES, CONFIDENCE = 200, 0.95


def coverage_chart(judged: Judged) -> Chart | None:
    """The share of truths that were held, by the share that was asked for; None where the model promises none."""
    if judged.model.calibration_ is None:
        return None
    found = [row for level in LEVELS if (row := _held(judged, level)) is not None]
    if not found:
        return None
    asked, share, low, high = np.array(found).T
    ends = np.array([asked.min(), asked.max()])
    lines = (
        Line("as promised", ends, ends, "guide"),
        Line("held", asked, share, "dots", low, high),
    )
    left = len(LEVELS) - len(found)
    note = "Whiskers are intervals of 95 % over series."
    note += f" {left} further coverages need more held-out answers than the model keeps." if left else ""
    return Chart("Coverage of sets or intervals.", "coverage asked for", "share of truths held", lines, note)


def _held(judged: Judged, level: float) -> tuple[float, float, float, float] | None:
    task, series = judged.task, judged.part.series
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of endless limits: what they hold is counted here
            ends = limits(judged.model, Reading(series, (), series.ids), level, None, judged.at)
    except InvalidOption:  # too few held-out answers for this coverage, which the note counts
        return None
    judge = judge_held(task.held(task.region(task.answer(judged.outputs).numpy(), ends), judged.told.truth))
    rows, rng = np.flatnonzero(~judged.told.failed), np.random.default_rng(4)
    if not len(rows):
        return None
    share = judge(rows)["coverage"]
    again = np.array([judge(rng.choice(rows, len(rows)))["coverage"] for _ in range(RESAMPLES)])
    return (level, share, *interval(share, again, CONFIDENCE))
