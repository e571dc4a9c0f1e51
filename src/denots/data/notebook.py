"""How a set shows itself in a notebook."""

from html import escape

import numpy as np

from denots.data.series import SeriesSet
from denots.registry import listed

MOST_CHANNELS, MOST_ROWS = 12, 5


def as_html(series: SeriesSet) -> str:
    """Counts and spans, each channel with its range and the share that is missing, and the first series."""
    return f"<div>{_facts(series)}{_channels(series)}{_first(series)}</div>"


def _facts(series: SeriesSet) -> str:
    lengths, spans, unit = series.lengths, series.spans, f" {series.time_unit}" if series.time_unit else ""
    facts = [
        _count(len(series), "series", "series"),
        _count(len(series.times), "row", "rows"),
        f"{lengths.min()} to {lengths.max()} a series (median {np.median(lengths):g})",
        f"spans {spans.min():.4g} to {spans.max():.4g}{unit} (median {np.median(spans):.4g})",
    ]
    if series.static_names:
        facts.append(f"static: {listed(series.static_names)}")
    if series.target is not None:
        facts.append(
            f"{f'targets {listed(series.target_names)}' if series.target_names else 'target'}: {_target(series.target)}"
        )
    return f"<p><b>SeriesSet</b>: {escape('; '.join(facts))}</p>"


def _channels(series: SeriesSet) -> str:
    rows = []
    for c, name in enumerate(series.channels[:MOST_CHANNELS]):
        column = series.values[:, c]
        seen = column[~np.isnan(column)]
        told = [f"{number:.4g}" for number in (seen.min(), np.median(seen), seen.max())] if len(seen) else [""] * 3
        rows.append([name, f"{1 - len(seen) / len(column):.1%}", *told])
    more = len(series.channels) - len(rows)
    note = f"and {_count(more, 'more channel', 'more channels')}" if more else ""
    return _table(["channel", "missing", "least", "median", "most"], rows, note)


def _first(series: SeriesSet) -> str:
    first, names = series[0], series.channels[:MOST_CHANNELS]
    shown = zip(first.times[:MOST_ROWS], first.values[:MOST_ROWS, :MOST_CHANNELS], strict=True)
    rows = [[f"{time:.6g}", *("" if np.isnan(x) else f"{x:.4g}" for x in values)] for time, values in shown]
    more = len(first.times) - len(rows)
    target = "" if first.target is None else f", target {first.target}"
    note = f"series {first.id!r}{target}" + (f", and {_count(more, 'more row', 'more rows')}" if more else "")
    return _table(["time", *names], rows, note)


def _table(head: list[str], rows: list[list[str]], note: str) -> str:
    top = "".join(f"<th>{escape(name)}</th>" for name in head)
    body = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    return f"<table><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table><p>{escape(note)}</p>"


def _target(target: np.ndarray) -> str:
    if target.ndim == 1 and target.dtype.kind in "bUiO":
        labels, counts = np.unique(target.astype(str), return_counts=True)
        if len(labels) <= MOST_ROWS:
            return ", ".join(f"{label} {count}" for label, count in zip(labels, counts, strict=True))
        return f"{len(labels)} different values"
    return f"{'numbers' if target.ndim == 1 else f'{target.shape[1]} columns'} from {np.nanmin(target):.4g} to {np.nanmax(target):.4g}"


def _count(number: int, one: str, many: str) -> str:
    return f"{number:,} {one if number == 1 else many}"
