"""The card of a model: sections one after the other, each by itself, so that what fails in one stays there."""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np

from denots.card import about, robustness
from denots.card.coverage import coverage_chart
from denots.card.examples import choose, example
from denots.card.judged import Judged
from denots.errors import DenotsError, Rejected
from denots.estimators.estimator import SeriesEstimator
from denots.pages.chart import Chart, Line, gallery
from denots.pages.document import document, table
from denots.progress import track
from denots.tasks import Bin, Scores

MOST_METRICS, MOST_REASONS = 40, 8


@dataclass(frozen=True)
class _Piece:
    """A part of a section that takes its time, under the heading of that section."""

    heading: str
    make: Callable[[], str]


def build_card(
    model: SeriesEstimator, X: Any = None, *, by: Any = None, most: int = 5_000, title: str = "A fitted model"
) -> str:
    """One page of HTML about a fitted model, readable without a network.

    Args:
        X: series with their targets, as `evaluate` takes them; without it the page says what the model alone knows.
        by: also judge groups of series: one value each, or the name of a static feature.
        most: series that are judged; of more, so many are drawn at random.
    """
    pieces = list(_alone(model))
    if X is not None:
        pieces += _beside_truth(Judged.of(model, X, by, most))
    sections: dict[str, str] = {}
    for piece in track(pieces, "card"):
        sections[piece.heading] = sections.get(piece.heading, "") + _made(piece)
    shown = {heading: content for heading, content in sections.items() if content}
    links = "".join(f'<a href="#{_anchor(heading)}">{escape(heading)}</a> ' for heading in shown)
    body = "".join(f'<h2 id="{_anchor(heading)}">{escape(heading)}</h2>{content}' for heading, content in shown.items())
    return document(f"Model card: {title}", f'<nav aria-label="sections">{links}</nav>{body}')


def _made(piece: _Piece) -> str:
    try:
        return piece.make()
    except DenotsError as error:
        return f"<p>Not shown: {escape(str(error))}</p>"


def _anchor(heading: str) -> str:
    return heading.lower().replace(" ", "-")


def _alone(model: SeriesEstimator) -> Iterator[_Piece]:
    yield _Piece("Model", lambda: about.model_facts(model))
    yield _Piece("Training data", lambda: about.data_facts(model))
    yield _Piece("What was tried", lambda: about.board(model))
    yield _Piece("Learning curve", lambda: about.learning_curve(model))


def _beside_truth(judged: Judged) -> Iterator[_Piece]:
    yield _Piece("Judgement", lambda: _judgement(judged))
    yield _Piece("Pictures of the answers", lambda: gallery(judged.task.pictures(judged.told, judged.part)))
    yield _Piece("Calibration", lambda: _calibration(judged))
    yield _Piece("Groups", lambda: _groups(judged.scores, judged.task.metric_name))
    yield from _robustness(judged)
    for words, row in choose(judged).items():
        yield _Piece("Examples", lambda words=words, row=row: example(judged, words, row))  # type: ignore[misc]


def _judgement(judged: Judged) -> str:
    """How many series were judged, and every metric beside the trivial answer."""
    n, told = len(judged.part), []
    told.append(
        f"{judged.given} series in the table, {n} judged"
        + (", drawn at random." if n + len(judged.rejected) < judged.given else ".")
    )
    if judged.told.failed.any():
        told.append(f"{judged.told.failed.sum()} have no answer and are given the trivial one.")
    if judged.unusual.any():
        told.append(f"{judged.unusual.sum()} are unlike the training data.")
    return f"<p>{' '.join(told)}</p>{_reasons(judged.rejected)}{_metrics(judged.scores)}"


def _reasons(rejected: tuple[Rejected, ...]) -> str:
    if not rejected:
        return ""
    items = "".join(f"<li>{escape(str(bad.id))}: {escape(bad.reason)}</li>" for bad in rejected[:MOST_REASONS])
    more = f"<li>and {len(rejected) - MOST_REASONS} more</li>" if len(rejected) > MOST_REASONS else ""
    return f"<p>{len(rejected)} could not be read or judged:</p><ul>{items}{more}</ul>"


def _metrics(scores: Scores) -> str:
    others = list(scores.others)
    rows = []
    for name, score in list(scores.metrics.items())[:MOST_METRICS]:
        beside = (_number(scores.others[other].get(name, math.nan)) for other in others)
        rows.append((name, _number(score.model), _interval(score.low, score.high), _number(score.baseline), *beside))
    left = len(scores.metrics) - len(rows)
    note = f'<p class="soft">{left} more metrics: see `denots evaluate`.</p>' if left else ""
    return table(("metric", "model", "95 %", scores.baseline, *others), rows, "metrics") + note


def _calibration(judged: Judged) -> str:
    """Whether probabilities, and sets or intervals, mean what they say."""
    charts = []
    if judged.scores.reliability:
        charts.append(_reliability(judged.scores.reliability))
    found = coverage_chart(judged)
    if found is not None:
        charts.append(found)
    return gallery(charts) if charts else ""


def _reliability(bins: Sequence[Bin]) -> Chart:
    predicted, observed, low, high = (
        np.array([getattr(one, name) for one in bins]) for name in ("predicted", "observed", "low", "high")
    )
    ends = np.array([0.0, 1.0])
    lines = (Line("as told", ends, ends, "guide"), Line("observed", predicted, observed, "dots", low, high))
    note = "Series with similar probabilities, and how often they came true; whiskers are intervals of 95 %."
    return Chart("Reliability.", "probability told", "share that came true", lines, note, (0.0, 1.0), (0.0, 1.0))


def _groups(scores: Scores, metric: str) -> str:
    if not scores.groups:
        return ""
    rows = [
        (name, str(group.series), _number(found.model), _interval(found.low, found.high), _number(found.baseline))
        for name, group in scores.groups.items()
        for found in (group.metrics[metric],)
    ]
    return table(("group", "series", metric, "95 %", scores.baseline), rows, "groups")


def _robustness(judged: Judged) -> Iterator[_Piece]:
    """The metric when observations are spoilt; one piece for each strength, and the charts when all are known."""
    part = robustness.sample(judged)
    found: dict[tuple[str, float], tuple[float, ...]] = {}

    def intro() -> str:
        few = f"{len(part)} of the judged series are" if len(part) < len(judged.part) else "The judged series are"
        told = f"{few} spoilt at random; the model is as it was. Bands are intervals of 95 % over series."
        return f'<p class="soft">{told}</p>'

    def step(kind: robustness.Disturbance, strength: float) -> str:
        found[kind.title if strength else "", strength] = robustness.measure(judged, part, kind, strength)
        return ""

    def charts() -> str:
        tables = {
            kind: np.array([found[kind.title if strength else "", strength] for strength in kind.strengths])
            for kind in robustness.DISTURBANCES
        }
        if np.isnan(next(iter(tables.values()))).all():
            return f"<p>{escape(judged.task.metric_name)} is not defined on these series.</p>"
        return gallery(robustness.chart(judged, kind, numbers) for kind, numbers in tables.items())

    yield _Piece("Robustness", intro)
    for kind in robustness.DISTURBANCES:
        for strength in kind.strengths:
            if strength or kind is robustness.DISTURBANCES[0]:
                yield _Piece("Robustness", lambda kind=kind, strength=strength: step(kind, strength))  # type: ignore[misc]
    yield _Piece("Robustness", charts)


def _number(value: float) -> str:
    return "-" if math.isnan(value) else f"{value:.4f}"


def _interval(low: float, high: float) -> str:
    return "-" if math.isnan(low) else f"{low:.3f} to {high:.3f}"
