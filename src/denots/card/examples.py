"""A few series with their answers: why the model says what it says, or how its forecast goes on."""

import warnings
from html import escape

import numpy as np

from denots.card.judged import Judged
from denots.data.reading import Reading
from denots.data.series import SeriesSet
from denots.errors import DenotsError, InvalidOption
from denots.estimators.answers import Answers
from denots.explain import explain, running_answer
from denots.explain.page import explanation_part
from denots.pages.chart import Chart, Line, gallery
from denots.shapes import FloatArray

PARTS, PAIRS, EFFECTS = 6, 2, 5  # of an explanation; `denots explain` takes more time for one series
FINE, MOST_CHANNELS, COVERAGE = 80, 3, 0.9


def choose(judged: Judged) -> dict[str, int]:
    """The series that were answered best, as well as usual and worst, of those that are nothing unusual."""
    rows = judged.ranked()
    if not len(rows):
        return {}
    chosen = {"answered best": rows[0], "answered as well as usual": rows[len(rows) // 2], "answered worst": rows[-1]}
    return {words: int(row) for words, row in chosen.items()}


def example(judged: Judged, words: str, row: int) -> str:
    """One series under its own heading; a reason where there is nothing to show."""
    heading = f"<h3>Series {escape(str(judged.part.series.id(row)))}, {words}</h3>"
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the same model has said it of the whole table
            if judged.task.causal:
                return heading + _every_row(judged, row)
            return heading + (_forecast(judged, row) if judged.task.asks_times else _explained(judged, row))
    except DenotsError as error:
        return f"{heading}<p>Not shown: {escape(str(error))}</p>"


def _explained(judged: Judged, row: int) -> str:
    series, model = judged.part.series.select([row]), judged.model
    truth = ", ".join(
        f"{name.removeprefix('truth').removeprefix('_')} {_spelled(column[row])}".strip()
        for name, column in judged.task.rows(judged.told).items()
        if name.startswith("truth")
    )
    why = explain(model, series, parts=PARTS, pairs=PAIRS)
    part = explanation_part(model, series, why, running_answer(model, series), level=4, rows=EFFECTS)
    return f"<p>The truth: {escape(truth)}.</p>{part}"


def _spelled(value: object) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _every_row(judged: Judged, row: int) -> str:
    """What was told of each row beside the truth: a number, the probability of the second of two classes, or a class."""
    series, answers = judged.part.series.select([row]), judged.told.answers[row]
    rows, count = slice(len(series.times)), answers.shape[1]
    told = answers.argmax(axis=1).astype(np.float64) if count > 2 else answers[:, -1]
    lines = (
        Line("told", series.times, told[rows], "line"),
        Line("truth", series.times, judged.told.truth[row, rows], "rings"),
    )
    unit = series.time_unit
    return gallery([Chart("Every row.", f"time ({unit})" if unit else "time", "answer", lines)])


def _forecast(judged: Judged, row: int) -> str:
    """What was seen, what was hidden, and the forecast with its interval, for the channels that were asked for most."""
    series, at, truth = judged.part.series.select([row]), judged.at, judged.told.truth[row]
    assert at is not None
    asked, hidden = at[row], truth[:, :-1]
    known = (~np.isnan(hidden)).sum(axis=0)
    channels = [int(c) for c in np.argsort(-known, kind="stable")[:MOST_CHANNELS] if known[c]]
    grid = np.linspace(series.times[0], max(asked.max(), series.ends[0]), FINE)
    reading = Reading(series, (), series.ids)
    answers = judged.model._answers(reading, grid[None])
    region = _region(judged, reading, answers, grid)
    return gallery(
        _fan(series, c, grid, answers.values[0, :, c], None if region is None else region[:, c], asked, hidden[:, c])
        for c in channels
    )


def _region(judged: Judged, reading: Reading, answers: Answers, grid: FloatArray) -> FloatArray | None:
    """Both ends of the interval [K, C, 2]; None where the model keeps too few held-out answers for one."""
    try:
        found: FloatArray = judged.model._region(reading, answers, COVERAGE, None, grid[None])[0]
    except InvalidOption:
        return None
    return found


def _fan(
    series: SeriesSet,
    channel: int,
    grid: FloatArray,
    answer: FloatArray,
    region: FloatArray | None,
    asked: FloatArray,
    hidden: FloatArray,
) -> Chart:
    low, high = (None, None) if region is None else (region[:, 0], region[:, 1])
    name = series.channels[channel]
    lines = (
        Line("forecast" + ("" if region is None else f", interval of {COVERAGE:.0%}"), grid, answer, "line", low, high),
        Line("seen", series.times, series.values[:, channel].astype(np.float64), "dots"),
        Line("hidden", asked, hidden, "rings"),
    )
    unit = series.time_unit
    return Chart(f"{name}.", f"time ({unit})" if unit else "time", name, lines)
