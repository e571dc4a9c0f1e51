"""What an experiment shows: tables of numbers beside the published ones, and figures."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Cell:
    """A mean and its spread over runs; `published` is what the paper says of the same.

    assumed: the paper prints no spread; the one here is ours, and is not shown.
    reduced: from runs that were cut down; marked so, and not held against the published value.
    other_rules: from runs under other rules than the published ones, so not held against its value either.
    known_error: the standard error of a value that is no mean over runs: of a correlation; zero for a limit.
    """

    values: tuple[float, ...] = ()
    published: tuple[float, float] | None = None
    assumed: bool = False
    reduced: bool = False
    other_rules: bool = False
    known_error: float | None = None

    @property
    def mean(self) -> float:
        return float(np.mean(self.values)) if self.values else math.nan

    @property
    def spread(self) -> float:
        """Sample standard deviation; zero for a single run."""
        return float(np.std(self.values, ddof=1)) if len(self.values) > 1 else 0.0

    @property
    def error(self) -> float:
        """Standard error of the mean; infinite where nothing is known of the spread."""
        if self.known_error is not None:
            return self.known_error
        return self.spread / math.sqrt(len(self.values)) if len(self.values) > 1 else math.inf

    @property
    def freedom(self) -> float:
        """Degrees of freedom of the standard error."""
        return len(self.values) - 1 if self.known_error is None else math.inf

    @property
    def difference(self) -> float:
        return self.mean - self.published[0] if self.published is not None else math.nan

    @property
    def agrees(self) -> bool | None:
        """Whether ours lies within the joint spread of the published; None where the two do not compare."""
        if not self.values or self.published is None or self.reduced or self.other_rules:
            return None
        return abs(self.difference) <= math.hypot(self.spread, self.published[1])


@dataclass(frozen=True)
class Table:
    """Rows and columns of cells, or of text."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, tuple[Cell | str, ...]], ...]
    note: str = ""
    digits: int = 3


@dataclass(frozen=True)
class Curve:
    """A line of one system, a band around it, and the single runs behind it with what to say of each."""

    system: str
    x: Sequence[float] = ()
    y: Sequence[float] = ()
    band: tuple[Sequence[float], Sequence[float]] | None = None
    runs: tuple[tuple[float, float, str], ...] = ()


@dataclass(frozen=True)
class Panel:
    title: str
    x_label: str
    y_label: str
    curves: tuple[Curve, ...]
    log_x: bool = False
    log_y: bool = False


@dataclass(frozen=True)
class Picture:
    """A figure as data: `draw.py` makes it visible. `name` is the stem of its file."""

    title: str
    name: str
    panels: tuple[Panel, ...]
    note: str = ""

    @property
    def empty(self) -> bool:
        return not any(len(curve.x) or curve.runs for panel in self.panels for curve in panel.curves)


Exhibit = Table | Picture


def agreement(exhibits: Sequence[Exhibit]) -> tuple[int, int]:
    """Cells that agree with the paper, and cells that can be compared with it."""
    judged = [
        cell.agrees
        for exhibit in exhibits
        if isinstance(exhibit, Table)
        for _, cells in exhibit.rows
        for cell in cells
        if isinstance(cell, Cell) and cell.agrees is not None
    ]
    return sum(judged), len(judged)


def format_number(value: float, digits: int) -> str:
    if not math.isfinite(value):
        return "-"
    if abs(value) >= 1e6 and digits:
        return f"{value:.1e}"
    return f"{round(value, digits) + 0.0:.{digits}f}"  # adding zero takes the sign off a rounded -0.000


def format_cell(cell: Cell | str, digits: int) -> str:
    """`0.790 ± 0.020 (paper 0.79 ± 0.02)`, with a mark where the two lie outside their joint spread."""
    if isinstance(cell, str):
        return cell
    theirs = format_published(cell, digits)
    return format_ours(cell, digits) + (f"{' ≠' if cell.agrees is False else ''} (paper {theirs})" if theirs else "")


def format_ours(cell: Cell, digits: int) -> str:
    if 10 <= abs(cell.mean) < 1e6:  # a count of evaluations needs fewer decimals than a metric
        digits = 0 if cell.mean.is_integer() else max(0, digits - int(math.log10(abs(cell.mean))))
    ours = format_number(cell.mean, digits)
    if len(cell.values) > 1:
        ours += f" ± {format_number(cell.spread, digits)}"
    return ours + " (quick)" if cell.reduced else ours


def format_published(cell: Cell, digits: int) -> str:
    """As the paper prints it; empty where it says nothing."""
    if cell.published is None:
        return ""
    mean, spread = cell.published
    theirs = f"{mean:g}" if digits else f"{mean:.0f}"
    return theirs if not spread or cell.assumed else f"{theirs} ± {spread:g}"


def to_markdown(table: Table) -> str:
    lines = [
        f"**{table.title}**",
        "",
        "| | " + " | ".join(table.columns) + " |",
        "|---|" + "---|" * len(table.columns),
        *(
            f"| {name} | " + " | ".join(format_cell(c, table.digits) for c in cells) + " |"
            for name, cells in table.rows
        ),
    ]
    return "\n".join([*lines, *(["", table.note] if table.note else [])]) + "\n"


def to_latex(table: Table) -> str:
    """A booktabs table."""
    body = [
        " & ".join([_escape(name), *(_escape(format_cell(c, table.digits)) for c in cells)]) + r" \\"
        for name, cells in table.rows
    ]
    head = " & ".join(["", *map(_escape, table.columns)]) + r" \\"
    return "\n".join(
        [
            r"\begin{table}",
            rf"\caption{{{_escape(table.title)}}}",
            r"\begin{tabular}{l" + "c" * len(table.columns) + "}",
            r"\toprule",
            head,
            r"\midrule",
            *body,
            r"\bottomrule",
            r"\end{tabular}",
            *([_escape(table.note)] if table.note else []),
            r"\end{table}",
            "",
        ]
    )


def _escape(text: str) -> str:
    for plain, written in (("\\", r"\textbackslash "), ("&", r"\&"), ("%", r"\%"), ("_", r"\_"), ("#", r"\#")):
        text = text.replace(plain, written)
    for plain, written in (("±", r"$\pm$"), ("≠", r"$\neq$"), ("²", r"$^2$")):
        text = text.replace(plain, written)
    return text
