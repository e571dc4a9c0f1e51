"""One page about one answer: the observations, the curve through them, what mattered, and the running answer."""

from html import escape
from typing import NamedTuple

import numpy as np
import torch

from denots.backbones.denots import DeNOTS
from denots.data.series import SeriesSet
from denots.estimators.estimator import SeriesEstimator
from denots.explain.explanation import Cell, Explanation
from denots.explain.running import Running
from denots.paths import PATHS
from denots.shapes import FloatArray
from denots.systems.trained import TrainedModel

WIDTH, HEIGHT, LEFT, RIGHT, EDGE = 720.0, 110.0, 70.0, 10.0, 14.0  # of a panel, in units of its drawing
MOST_PANELS, MOST_ROWS, FINE = 12, 15, 400
UP, DOWN = "#b2182b", "#2166ac"
STYLE = """
body{font:16px/1.5 system-ui,"DejaVu Sans",sans-serif;color:#1b1f24;max-width:50rem;margin:0 auto;padding:1rem}
h1{font-size:1.4rem}h3{font-size:.95rem;margin:.6rem 0 0}h2{font-size:1.1rem;margin:1.6rem 0 .3rem}svg{width:100%;height:auto;display:block}
table{border-collapse:collapse;font-size:.9rem;font-variant-numeric:tabular-nums}
th,td{text-align:left;padding:.2rem 1rem .2rem 0;border-bottom:1px solid #d9dee4}td.number{text-align:right}
text{font-size:11px;fill:#5a6572}.wide{overflow-x:auto}.soft{color:#5a6572;font-size:.9rem}
"""


def build_page(model: SeriesEstimator, series: SeriesSet, why: Explanation, running: Running) -> str:
    """The page for one series, readable without a network."""
    title = f"Why this answer for {why.id}"
    names = [name for name in why.by_name() if name in series.channels][:MOST_PANELS]
    strongest = max(abs(cell.effect) for cell in why.cells) or 1.0
    kind, curve = _curve(model, series)
    panels = "".join(_panel(series, name, curve, why, strongest) for name in names)
    hidden = int((~np.isnan(series.values)).any(axis=0).sum()) - len(names)
    more = f"The {hidden} channels with the smallest effects are not drawn. " if hidden else ""
    told = ", ".join(f"{name} {_number(value)}" for name, value in why.told.items())
    unit = f" ({series.time_unit})" if series.time_unit else ""
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>{escape(title)}</title><style>{STYLE}</style></head><body>
<h1>{escape(title)}</h1>
<p>{escape(told)}. The {escape(why.quantity)} is {why.answer:.4g}; without any observation it would be {why.trivial:.4g}
({escape(why.baseline)}). What lies between is shared among the observations below.</p>
<h2>What was observed, and what mattered</h2>
<p class="soft">Dots are observations, the line is {escape(kind)}. <b style="color:{UP}">Red</b> parts of time raised the
{escape(why.quantity)}, <b style="color:{DOWN}">blue</b> ones lowered it; the stronger the shade, the more. {more}Time{escape(unit)} runs to the right.</p>
{panels}
<h2>The running answer</h2>
<p class="soft">The {escape(why.quantity)} if the series had ended at each time; the dashed line is the answer without any observation.</p>
{_running(running, why.trivial)}
<h2>The largest effects</h2>
<div class="wide"><table><thead><tr><th>what</th><th>when{escape(unit)}</th><th>observations</th><th>effect</th></tr></thead>
<tbody>{"".join(map(_row, why.largest(MOST_ROWS)))}</tbody></table></div>
</body></html>
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


class _Axis(NamedTuple):
    """From the least and the greatest number to the places in a drawing where they stand."""

    low: float
    high: float
    start: float
    end: float

    def at(self, number: float) -> float:
        share = (number - self.low) / (self.high - self.low) if self.high > self.low else 0.5
        return self.start + share * (self.end - self.start)


def _axes(times: FloatArray, values: FloatArray) -> tuple[_Axis, _Axis]:
    return (
        _Axis(float(times[0]), float(times[-1]), LEFT, WIDTH - RIGHT),
        _Axis(float(np.nanmin(values)), float(np.nanmax(values)), HEIGHT - EDGE, EDGE),
    )


def _panel(series: SeriesSet, name: str, curve: FloatArray, why: Explanation, strongest: float) -> str:
    """One channel: shades behind, then the curve, then the observations."""
    column = series.values[:, series.channels.index(name)]
    seen = ~np.isnan(column)
    drawn = curve[:, series.channels.index(name)]
    x, y = _axes(series.times, np.concatenate([drawn, column[seen]]))
    shades = "".join(_shade(cell, x, strongest) for cell in why.cells if cell.name == name)
    line = _line(np.linspace(x.low, x.high, len(drawn)), drawn, x, y)
    dots = "".join(
        f'<circle cx="{x.at(time):.1f}" cy="{y.at(value):.1f}" r="2.5"><title>{time:g}: {value:g}</title></circle>'
        for time, value in zip(series.times[seen].tolist(), column[seen].tolist(), strict=True)
    )
    return (
        f"<h3>{escape(name)} <small>{why.by_name()[name]:+.3g}</small></h3>{_drawing(name, shades + line + dots, x, y)}"
    )


def _running(running: Running, trivial: float) -> str:
    """Steps, because the answer stays until something is observed."""
    x, y = _axes(running.times, np.append(running.answers, trivial))
    steps = _line(np.repeat(running.times, 2)[1:], np.repeat(running.answers, 2)[:-1], x, y)
    level = f'<path d="M{LEFT} {y.at(trivial):.1f}H{WIDTH - RIGHT}" stroke="#5a6572" stroke-dasharray="4 4"/>'
    return _drawing("the running answer", level + steps, x, y)


def _shade(cell: Cell, x: _Axis, strongest: float) -> str:
    if cell.begin is None or cell.end is None:
        return ""
    left, width = x.at(cell.begin), max(x.at(cell.end) - x.at(cell.begin), 1.0)
    tint = f'fill="{UP if cell.effect > 0 else DOWN}" fill-opacity="{0.6 * abs(cell.effect) / strongest:.3f}"'
    words = f"<title>{cell.begin:g} to {cell.end:g}: {cell.effect:+.3g}</title>"
    return f'<rect x="{left:.1f}" y="{EDGE}" width="{width:.1f}" height="{HEIGHT - 2 * EDGE}" {tint}>{words}</rect>'


def _line(times: FloatArray, values: FloatArray, x: _Axis, y: _Axis) -> str:
    known = np.isfinite(values)
    points = zip(times[known].tolist(), values[known].tolist(), strict=True)
    places = " ".join(f"{x.at(time):.1f},{y.at(value):.1f}" for time, value in points)
    return f'<polyline points="{places}" fill="none" stroke="#1b1f24"/>'


def _drawing(name: str, inside: str, x: _Axis, y: _Axis) -> str:
    """A frame with the ends of both axes."""
    ends = "".join(
        f'<text x="{LEFT - 6}" y="{y.at(number) + 4:.1f}" text-anchor="end">{number:.4g}</text>'
        for number in dict.fromkeys((y.low, y.high))
    )
    ends += f'<text x="{LEFT}" y="{HEIGHT}">{x.low:.4g}</text>'
    ends += f'<text x="{WIDTH - RIGHT}" y="{HEIGHT}" text-anchor="end">{x.high:.4g}</text>'
    return f'<svg viewBox="0 0 {WIDTH:g} {HEIGHT + 4:g}" role="img" aria-label="{escape(name)}">{inside}{ends}</svg>'


def _row(cell: Cell) -> str:
    when = "" if cell.begin is None or cell.end is None else f"{cell.begin:.4g} to {cell.end:.4g}"
    cells = f"<td>{escape(cell.name)}</td><td>{when}</td>"
    return f'<tr>{cells}<td class="number">{cell.observations}</td><td class="number">{cell.effect:+.3g}</td></tr>'


def _number(value: object) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)
