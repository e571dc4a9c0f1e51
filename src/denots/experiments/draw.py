"""Make figures visible: one style, told apart by line and marker as well as by colour."""

import io
import re
from html import escape
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from denots.errors import MissingExtra
from denots.experiments.exhibit import Curve, Panel, Picture
from denots.folders import write_file_whole

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Colour, dashes and marker; the colours differ in lightness, too.
STYLES: dict[str, tuple[str, Any, str]] = {
    "denots": ("#0b3c8c", "-", "o"),
    "sync": ("#d1495b", "--", "s"),
    "none": ("#7a7a7a", ":", "^"),
    "tanh": ("#2e7d32", "-.", "D"),
    "relu": ("#e08e0b", (0, (5, 1, 1, 1, 1, 1)), "v"),
    "gru": ("#8e44ad", (0, (6, 2)), "P"),
    "rnn": ("#b58db6", (0, (2, 2)), "X"),
    "tempformer": ("#00838f", (0, (1, 1)), "<"),
    "roformer": ("#5d4037", (0, (4, 1, 1, 1)), ">"),
    "mamba2": ("#c2185b", (0, (8, 2, 2, 2)), "p"),
    "neural-cde": ("#37474f", (0, (3, 3)), "h"),
    "neural-rde": ("#9e9d24", (0, (7, 3)), "*"),
}
MARKS = dict(zip("os^DvPX<>ph*", "●■▲◆▼✚✖◀▶⬟⬢★", strict=True))
SPARE: tuple[tuple[str, Any, str], ...] = tuple(STYLES.values())
STYLE: Any = {
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#dddddd",
    "grid.linewidth": 0.6,
    "legend.frameon": False,
    "svg.fonttype": "none",
    "svg.hashsalt": "denots",
    "pdf.compression": 9,
}


def style_of(system: str, position: int) -> tuple[str, Any, str]:
    """The same system looks the same in every figure; other lines take their turn."""
    return STYLES.get(system.split()[0], SPARE[position % len(SPARE)])


def check_drawing() -> None:
    """Whether figures can be drawn here: fitting and predicting do without matplotlib."""
    if find_spec("matplotlib") is None:
        raise MissingExtra("figures need matplotlib, which is not installed; run `pip install 'denots[paper]'`.")


def figure_of(picture: Picture) -> "Figure":
    """At most two panels side by side."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    columns = min(2, len(picture.panels))
    rows = -(-len(picture.panels) // columns)
    with rc_context(STYLE):
        figure = Figure(figsize=(4.2 * columns if columns > 1 else 5.6, 3.2 * rows + 0.4), layout="constrained")
        axes = figure.subplots(rows, columns, squeeze=False).flatten()
        for number, (panel, axis) in enumerate(zip(picture.panels, axes, strict=False)):
            _fill(axis, panel, f"{picture.name}~{number}")
        for axis in axes[len(picture.panels) :]:
            axis.remove()
        handles: dict[str, Any] = {}
        for axis in axes[: len(picture.panels)]:
            for handle, label in zip(*axis.get_legend_handles_labels(), strict=True):
                handles.setdefault(label, handle)
        if len(handles) > 1:
            figure.legend(
                handles.values(), handles.keys(), loc="outside lower center", ncols=min(4, len(handles)), handlelength=3
            )
    return figure


def _fill(axis: Any, panel: Panel, name: str) -> None:
    axis.set(title=panel.title, xlabel=panel.x_label, ylabel=panel.y_label)
    if panel.log_x:
        from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

        axis.set_xscale("log")
        axis.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axis.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        axis.xaxis.set_minor_formatter(NullFormatter())
    if panel.log_y:
        axis.set_yscale("log")
    for position, curve in enumerate(panel.curves):
        _trace(axis, curve, style_of(curve.system, position), f"{name}~{curve.system}")


def _trace(axis: Any, curve: Curve, style: tuple[str, Any, str], name: str) -> None:
    colour, dashes, marker = style
    few = len(curve.x) <= 12 and not curve.runs
    if len(curve.x):
        axis.plot(
            curve.x,
            curve.y,
            color=colour,
            linestyle=dashes,
            marker=marker if few else None,
            markersize=5,
            label=curve.system,
            gid=f"{name}~line",
        )
    if curve.band is not None and len(curve.x):
        axis.fill_between(curve.x, *curve.band, color=colour, alpha=0.12, linewidth=0, gid=f"{name}~band")
    for number, (x, y, _) in enumerate(curve.runs):
        label = curve.system if not number and not len(curve.x) else None
        axis.plot(
            [x], [y], marker, color=colour, markersize=5, label=label, gid=f"{name}~run{number}", markeredgewidth=0
        )


def write_picture(picture: Picture, folder: Path) -> list[Path]:
    """The figure as SVG and as PDF, the same bytes every time."""
    from matplotlib import rc_context

    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for kind, metadata in (("svg", {"Date": None}), ("pdf", {"CreationDate": None})):
        content = io.BytesIO()
        with rc_context(STYLE):
            figure_of(picture).savefig(content, format=kind, metadata=metadata)
        written.append(folder / f"{picture.name}.{kind}")
        write_file_whole(written[-1], content.getvalue())
    return written


def panel_svg(picture: Picture, number: int) -> str:
    """One panel as part of a page, without legend: every run says what it is, every line carries its system."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    panel, name = picture.panels[number], f"{picture.name}-{number}"
    content = io.StringIO()
    with rc_context({**STYLE, "svg.hashsalt": name, "font.size": 10}):
        figure = Figure(figsize=(4.6, 3.3), layout="constrained")
        _fill(figure.subplots(), panel, name)
        figure.savefig(content, format="svg", metadata={"Date": None}, transparent=True)
    head, _, body = content.getvalue().partition("<svg ")[2].partition(">")
    body = re.sub(r"<metadata>.*?</metadata>", "", body, flags=re.DOTALL)
    body = body.replace('id="', f'id="{name}.').replace("url(#", f"url(#{name}.").replace('href="#', f'href="#{name}.')
    for curve in panel.curves:
        begin = f'id="{name}.{escape(name)}~{escape(curve.system)}~'
        body = body.replace(begin, f'data-system="{escape(curve.system)}" {begin}')
        for position, (_, _, words) in enumerate(curve.runs):
            mark = f'{begin}run{position}">'
            body = body.replace(mark, f"{mark}<title>{escape(words)}</title>")
    label = escape(f"{picture.title}: {panel.title}", quote=True)
    return f'<svg role="img" aria-label="{label}" viewBox="{_attribute(head, "viewBox")}">{body}'


def swatch(system: str, position: int) -> str:
    """A short piece of a system's line with its marker, for legends."""
    colour, dashes, marker = style_of(system, position)
    pattern = {"-": (), "--": (5, 2), ":": (1.5, 2), "-.": (5, 2, 1.5, 2)}.get(
        dashes, dashes[1] if dashes[0] == 0 else ()
    )
    stroke = f' stroke-dasharray="{" ".join(f"{step:g}" for step in pattern)}"' if pattern else ""
    return (
        f'<svg class="swatch" viewBox="0 0 34 12" aria-hidden="true"><line x1="0" y1="6" x2="34" y2="6" stroke="{colour}" '
        f'stroke-width="2"{stroke}/><text x="17" y="10" text-anchor="middle" font-size="11" fill="{colour}">{MARKS[marker]}</text></svg>'
    )


def _attribute(tag: str, name: str) -> str:
    return tag.split(f'{name}="', 1)[1].split('"', 1)[0]
