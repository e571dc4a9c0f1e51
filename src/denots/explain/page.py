"""One page about one answer: the observations, the curve through them, what mattered, and the running answer."""

from html import escape

import numpy as np
import torch

from denots.backbones.denots import DeNOTS
from denots.data.series import SeriesSet
from denots.estimators.estimator import SeriesEstimator
from denots.explain.explanation import Cell, Explanation
from denots.explain.running import Running
from denots.pages.document import document, table
from denots.pages.drawing import Axis, dots, polyline
from denots.paths import PATHS
from denots.shapes import FloatArray
from denots.systems.trained import TrainedModel

WIDTH, HEIGHT, LEFT, RIGHT, EDGE = 360.0, 100.0, 52.0, 10.0, 14.0  # of a panel, in units of its drawing
MOST_PANELS, MOST_ROWS, FINE = 12, 15, 400
UP, DOWN = "#b2182b", "#2166ac"


def build_page(model: SeriesEstimator, series: SeriesSet, why: Explanation, running: Running) -> str:
    """The page for one series, readable without a network."""
    return document(f"Why this answer for {why.id}", explanation_part(model, series, why, running, level=2))


def explanation_part(
    model: SeriesEstimator, series: SeriesSet, why: Explanation, running: Running, *, level: int, rows: int = MOST_ROWS
) -> str:
    """What a page says of one answer, under headings of a level."""
    names = [name for name in why.by_name() if name in series.channels][:MOST_PANELS]
    strongest = max(abs(cell.effect) for cell in why.cells) or 1.0
    kind, curve = _curve(model, series)
    panels = "".join(_panel(series, name, curve, why, strongest) for name in names)
    hidden = int((~np.isnan(series.values)).any(axis=0).sum()) - len(names)
    more = f"The {hidden} channels with the smallest effects are not drawn. " if hidden else ""
    told = ", ".join(f"{name} {_number(value)}" for name, value in why.told.items())
    unit = f" ({series.time_unit})" if series.time_unit else ""
    head, quantity = ("what", f"when{unit}", "observations", "effect"), escape(why.quantity)
    return f"""<p>{escape(told)}. The {quantity} is {why.answer:.4g}; without any observation it would be {why.trivial:.4g}
({escape(why.baseline)}). What lies between is shared among the observations below.</p>
<h{level}>What was observed, and what mattered</h{level}>
<p class="soft">Dots are observations, the line is {escape(kind)}. <b style="color:{UP}">Red</b> parts of time raised the
{quantity}, <b style="color:{DOWN}">blue</b> ones lowered it; the stronger the shade, the more. {more}Time{escape(unit)} runs to the right.</p>
<div class="charts">{panels}</div>
<h{level}>The running answer</h{level}>
<p class="soft">The {quantity} if the series had ended at each time; the dashed line is the answer without any observation.</p>
<div class="charts">{_running(running, why.trivial)}</div>
<h{level}>The largest effects</h{level}>
{table(head, map(_row, why.largest(rows)), "the largest effects")}
"""


def _curve(model: SeriesEstimator, series: SeriesSet) -> tuple[str, FloatArray]:
    """What the curve is, and its values [FINE, C] at even times: the path of a DeNOTS model, else straight lines."""
    fitted, name = model.fitted_, "linear"
    if isinstance(fitted, TrainedModel) and isinstance(fitted.model.backbone, DeNOTS):
        name = fitted.model.backbone.config.path
    path = PATHS.resolve(name).fit(series, torch.float64)
    times = torch.linspace(float(series.times[0]), float(series.times[-1]), FINE, dtype=torch.float64)
    values = path.value(times, torch.zeros(FINE, dtype=torch.int64)).numpy()
    return "the path that the model reads" if name != "linear" else "straight from one to the next", values


def _axes(times: FloatArray, values: FloatArray) -> tuple[Axis, Axis]:
    return (
        Axis(float(times[0]), float(times[-1]), LEFT, WIDTH - RIGHT),
        Axis(float(np.nanmin(values)), float(np.nanmax(values)), HEIGHT - EDGE, EDGE),
    )


def _panel(series: SeriesSet, name: str, curve: FloatArray, why: Explanation, strongest: float) -> str:
    """One channel: shades behind, then the curve, then the observations."""
    column = series.values[:, series.channels.index(name)]
    seen = ~np.isnan(column)
    drawn = curve[:, series.channels.index(name)]
    x, y = _axes(series.times, np.concatenate([drawn, column[seen]]))
    shades = "".join(_shade(cell, x, strongest) for cell in why.cells if cell.name == name)
    line = polyline(np.linspace(x.low, x.high, len(drawn)), drawn, x, y)
    points = zip(series.times[seen].tolist(), column[seen].tolist(), strict=True)
    seen_dots = dots(((time, value, f"{time:g}: {value:g}") for time, value in points), x, y)
    title = f"<figcaption><b>{escape(name)}</b> {why.by_name()[name]:+.3g}</figcaption>"
    return f"<figure>{title}{_drawing(name, shades + line + seen_dots, x, y)}</figure>"


def _running(running: Running, trivial: float) -> str:
    """Steps, because the answer stays until something is observed."""
    x, y = _axes(running.times, np.append(running.answers, trivial))
    steps = polyline(np.repeat(running.times, 2)[1:], np.repeat(running.answers, 2)[:-1], x, y)
    level = f'<path d="M{LEFT} {y.at(trivial):.1f}H{WIDTH - RIGHT}" stroke="#5a6572" stroke-dasharray="4 4"/>'
    return _drawing("the running answer", level + steps, x, y)


def _shade(cell: Cell, x: Axis, strongest: float) -> str:
    if cell.begin is None or cell.end is None:
        return ""
    left, width = x.at(cell.begin), max(x.at(cell.end) - x.at(cell.begin), 1.0)
    tint = f'fill="{UP if cell.effect > 0 else DOWN}" fill-opacity="{0.6 * abs(cell.effect) / strongest:.3f}"'
    words = f"<title>{cell.begin:g} to {cell.end:g}: {cell.effect:+.3g}</title>"
    return f'<rect x="{left:.1f}" y="{EDGE}" width="{width:.1f}" height="{HEIGHT - 2 * EDGE}" {tint}>{words}</rect>'


def _drawing(name: str, inside: str, x: Axis, y: Axis) -> str:
    """A frame with the ends of both axes."""
    ends = "".join(
        f'<text x="{LEFT - 6}" y="{y.at(number) + 4:.1f}" text-anchor="end">{number:.4g}</text>'
        for number in dict.fromkeys((y.low, y.high))
    )
    ends += f'<text x="{LEFT}" y="{HEIGHT}">{x.low:.4g}</text>'
    ends += f'<text x="{WIDTH - RIGHT}" y="{HEIGHT}" text-anchor="end">{x.high:.4g}</text>'
    return f'<svg viewBox="0 0 {WIDTH:g} {HEIGHT + 4:g}" role="img" aria-label="{escape(name)}">{inside}{ends}</svg>'


def _row(cell: Cell) -> tuple[str, ...]:
    when = "" if cell.begin is None or cell.end is None else f"{cell.begin:.4g} to {cell.end:.4g}"
    return cell.name, when, str(cell.observations), f"{cell.effect:+.3g}"


def _number(value: object) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)
