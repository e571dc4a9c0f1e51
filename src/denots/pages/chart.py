"""Charts and grids as values: whoever knows what is to be seen says so, and here it becomes a part of a page."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from typing import Literal

import numpy as np

from denots.pages.document import header, number, scrolled
from denots.pages.drawing import Axis, dots, polyline
from denots.shapes import FloatArray

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 360.0, 250.0, 52.0, 12.0, 22.0, 38.0  # in units of the drawing
AIR = 0.04  # above and below what is drawn, as a share of it; nothing below zero
NARROW = 3  # columns of a grid that stands beside charts; a wider one has a row for itself
MOST_POINTS = 400  # of one line; more cannot be told apart
# Told apart by lightness and dashes, too.
STROKES = ("#0b3c8c", "#c2410c", "#2e7d32", "#8e44ad", "#5d4037", "#00838f", "#b00058", "#6b7280")
DASHES = ("", "6 3", "2 2", "8 3 2 3", "", "6 3", "2 2", "8 3 2 3")


@dataclass(frozen=True, slots=True, eq=False)
class Line:
    """Points under one name.

    kind: "line"; "guide", which is thin, grey and dashed; "dots"; "rings"; or "bars" that stand on zero.
    low, high: ends of a band around a line, or of a whisker at each dot.
    """

    name: str
    x: FloatArray
    y: FloatArray
    kind: Literal["line", "guide", "dots", "rings", "bars"] = "line"
    low: FloatArray | None = None
    high: FloatArray | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Chart:
    """Lines over two axes.

    note: what there is to know beside the picture.
    across, up: the ends of an axis where the lines do not decide them.
    """

    title: str
    x_label: str
    y_label: str
    lines: tuple[Line, ...]
    note: str = ""
    across: tuple[float, float] | None = None
    up: tuple[float, float] | None = None

    def html(self) -> str:
        drawn = _inside(self)
        words = _words(self)
        picture = f'<svg viewBox="0 0 {WIDTH:g} {HEIGHT:g}" role="img" aria-label="{escape(words)}">{drawn}</svg>'
        return f"<figure><figcaption><b>{escape(self.title)}</b> {escape(self.note)}</figcaption>{picture}{_legend(self)}</figure>"


@dataclass(frozen=True, slots=True, eq=False)
class Grid:
    """Counts by a row and a column, shaded by their share of the row."""

    title: str
    corner: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, tuple[int, ...]], ...]
    note: str = ""

    def html(self) -> str:
        body = "".join(
            f'<tr><th scope="row">{escape(name)}</th>{"".join(_cell(count, sum(counts)) for count in counts)}</tr>'
            for name, counts in self.rows
        )
        head = header((self.corner, *self.columns))
        content = f'<table class="grid">{head}<tbody>{body}</tbody></table>'
        caption = f"<figcaption><b>{escape(self.title)}</b> {escape(self.note)}</figcaption>"
        room = ' class="row"' if len(self.columns) > NARROW else ""
        return f"<figure{room}>{caption}{scrolled(content, self.title)}</figure>"


Picture = Chart | Grid


def thinned(*columns: FloatArray) -> tuple[FloatArray, ...]:
    """Evenly chosen entries of columns of one length, as many as can be told apart; the first and the last are among them."""
    n = len(columns[0])
    rows = np.unique(np.linspace(0, n - 1, min(n, MOST_POINTS)).round().astype(np.int64))
    return tuple(column[rows] for column in columns)


def gallery(pictures: Iterable[Picture]) -> str:
    """Pictures side by side, as many as the width allows."""
    return f'<div class="charts">{"".join(picture.html() for picture in pictures)}</div>'


def _cell(count: int, total: int) -> str:
    share = count / total if total else 0.0
    return f'<td style="background:rgba(47,111,196,{0.55 * share:.2f})">{count} <small>({share:.0%})</small></td>'


def _axes(chart: Chart) -> tuple[Axis, Axis]:
    x = np.concatenate([line.x for line in chart.lines])
    ends = [end for line in chart.lines for end in (line.y, line.low, line.high) if end is not None]
    y = np.concatenate([*ends, *(np.zeros(1) for line in chart.lines if line.kind == "bars")])
    across, up = Axis.of(x, LEFT, WIDTH - RIGHT), Axis.of(y, HEIGHT - BOTTOM, TOP)
    space = AIR * (up.high - up.low)
    up = up._replace(low=up.low - space * (up.low != 0), high=up.high + space)
    if chart.across is not None:
        across = across._replace(low=chart.across[0], high=chart.across[1])
    if chart.up is not None:
        up = up._replace(low=chart.up[0], high=chart.up[1])
    return across, up


def _inside(chart: Chart) -> str:
    across, up = _axes(chart)
    strokes = _strokes(chart.lines)
    parts = [_scales(chart, across, up)]
    parts += [_band(line, across, up, stroke[0]) for line, stroke in zip(chart.lines, strokes, strict=True)]
    parts += [_marks(line, across, up, *stroke) for line, stroke in zip(chart.lines, strokes, strict=True)]
    return "".join(parts)


def _strokes(lines: Sequence[Line]) -> list[tuple[str, str]]:
    """Colour and dashes of each line; guides do not count."""
    found, own = [], 0
    for line in lines:
        if line.kind == "guide":
            found.append(("#6b7280", "3 3"))
        else:
            found.append((STROKES[own % len(STROKES)], DASHES[own % len(DASHES)]))
            own += 1
    return found


def _scales(chart: Chart, across: Axis, up: Axis) -> str:
    """Numbers and thin lines at round places, and the names of the axes."""
    right, bottom = WIDTH - RIGHT, HEIGHT - BOTTOM
    parts = [f'<path d="M{LEFT:g} {TOP:g}V{bottom:g}H{right:g}" fill="none" stroke="#8a94a0"/>']
    for tick in up.ticks(5):
        y = up.at(tick)
        parts.append(f'<path d="M{LEFT:g} {y:.1f}H{right:g}" stroke="#e3e8ee"/>')
        parts.append(f'<text x="{LEFT - 5:g}" y="{y + 4:.1f}" text-anchor="end">{tick:.4g}</text>')
    for tick in across.ticks(6):
        x = min(across.at(tick), right - 4)
        parts.append(f'<text x="{x:.1f}" y="{bottom + 14:g}" text-anchor="middle">{tick:.4g}</text>')
    middle = (LEFT + right) / 2
    parts.append(f'<text x="{middle:g}" y="{HEIGHT - 6:g}" text-anchor="middle">{escape(chart.x_label)}</text>')
    parts.append(f'<text x="4" y="12">{escape(chart.y_label)}</text>')
    return "".join(parts)


def _band(line: Line, across: Axis, up: Axis, stroke: str) -> str:
    if line.low is None or line.high is None or line.kind not in ("line", "guide"):
        return ""
    known = np.isfinite(line.x) & np.isfinite(line.low) & np.isfinite(line.high)
    there = zip(line.x[known].tolist(), line.high[known].tolist(), strict=True)
    back = zip(line.x[known][::-1].tolist(), line.low[known][::-1].tolist(), strict=True)
    places = " ".join(f"{across.at(a):.1f},{up.at(b):.1f}" for a, b in (*there, *back))
    return f'<polygon points="{places}" fill="{stroke}" fill-opacity="0.15"/>'


def _marks(line: Line, across: Axis, up: Axis, stroke: str, dashes: str) -> str:
    if line.kind in ("line", "guide"):
        return polyline(line.x, line.y, across, up, stroke, dashes)
    if line.kind == "bars":
        return _bars(line, across, up, stroke)
    known = np.isfinite(line.x) & np.isfinite(line.y)
    paint = f'fill="{stroke}" fill-opacity="0.6"' if line.kind == "dots" else f'fill="none" stroke="{stroke}"'
    pairs = zip(line.x[known].tolist(), line.y[known].tolist(), strict=True)
    return _whiskers(line, across, up, stroke) + dots(
        ((a, b, f"{line.name}: {a:.4g}, {b:.4g}") for a, b in pairs), across, up, 2.5, paint
    )


def _whiskers(line: Line, across: Axis, up: Axis, stroke: str) -> str:
    if line.low is None or line.high is None:
        return ""
    ends = zip(line.x.tolist(), line.low.tolist(), line.high.tolist(), strict=True)
    return "".join(
        f'<path d="M{across.at(x):.1f} {up.at(low):.1f}V{up.at(high):.1f}" stroke="{stroke}"/>'
        for x, low, high in ends
        if np.isfinite(low) and np.isfinite(high)
    )


def _bars(line: Line, across: Axis, up: Axis, stroke: str) -> str:
    """A bar at each x, as wide as the distance to the next one."""
    places = [across.at(x) for x in line.x.tolist()]
    width = min(np.diff(places), default=20.0)
    return "".join(
        f'<rect x="{x - width / 2 + 0.5:.1f}" y="{up.at(y):.1f}" width="{max(width - 1, 1):.1f}" '
        f'height="{max(up.at(0.0) - up.at(y), 0):.1f}" fill="{stroke}"><title>{at:.4g}: {y:.4g}</title></rect>'
        for x, y, at in zip(places, line.y.tolist(), line.x.tolist(), strict=True)
    )


def _legend(chart: Chart) -> str:
    """Names beside a piece of their line; a single line is what the title says."""
    if len(chart.lines) < 2:
        return ""
    items = []
    for line, (stroke, dashes) in zip(chart.lines, _strokes(chart.lines), strict=True):
        if line.kind in ("line", "guide"):
            dashed = f' stroke-dasharray="{dashes}"' if dashes else ""
            mark = f'<path d="M0 5H24" stroke="{stroke}" stroke-width="2"{dashed}/>'
        else:
            paint = f'fill="none" stroke="{stroke}"' if line.kind == "rings" else f'fill="{stroke}"'
            mark = f'<circle cx="12" cy="5" r="4" {paint}/>'
        items.append(f'<li><svg viewBox="0 0 24 10" aria-hidden="true">{mark}</svg>{escape(line.name)}</li>')
    return f'<ul class="legend">{"".join(items)}</ul>'


def _words(chart: Chart) -> str:
    """The chart for someone who cannot see it: what is drawn over what, and where each line begins, ends and lies."""
    told = []
    for line in chart.lines:
        known = np.isfinite(line.x) & np.isfinite(line.y)
        if known.any():
            x, y = line.x[known], line.y[known]
            places = f"{len(y)} points, {chart.y_label} {number(y.min())} to {number(y.max())}"
            told.append(f"{line.name}: {places}, at {chart.x_label} {number(x.min())} to {number(x.max())}")
    return ". ".join((f"{chart.title}: {chart.y_label} over {chart.x_label}", *told)) + "."
