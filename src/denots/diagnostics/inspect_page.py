"""What `denots inspect` found as one page that needs nothing else, with small pictures drawn as SVG."""

import math
from html import escape
from pathlib import Path

from denots.diagnostics.inspect import ChannelFacts, Inspection
from denots.diagnostics.roles import role_words
from denots.folders import write_file_whole
from denots.registry import listed

STYLE = """
body{font:15px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color:#1b2733;background:#fff}
h1{font-size:1.4rem}h2{font-size:1.1rem;margin-top:2rem}.wide{overflow-x:auto}
table{border-collapse:collapse}th,td{padding:.2rem .8rem .2rem 0;text-align:right;border-bottom:1px solid #e3e8ee;white-space:nowrap}
th:first-child,td:first-child{text-align:left}dt{font-weight:600}dd{margin:0 0 .4rem}
pre{background:#f3f6f9;padding:.8rem;white-space:pre-wrap;overflow-wrap:anywhere}svg{display:block}rect{fill:#3b7dd8}
"""


def number(value: float) -> str:
    """Four digits, nothing where there is no number."""
    return "" if math.isnan(value) else f"{value:.4g}"


def facts(found: Inspection) -> dict[str, str]:
    """Names and values of what is known of the table as a whole."""
    unit = f" {found.times.unit}" if found.times.unit else ""
    told = {"table": found.table, **role_words(found.roles)}
    told["rows"] = f"{found.rows} in {found.series} series of {_range(found.lengths)} rows"
    told["spans"] = f"{_range(found.times.spans)}{unit}"
    told["steps"] = f"{_range(found.times.steps)}{unit}; {found.times.long_gaps} are ten times the median or longer"
    told["order"] = f"{found.times.unsorted} rows out of order, {found.times.repeated} at the same time as another"
    told["empty series"] = str(found.empty)
    if found.target:
        total = sum(found.target.values())
        told["classes"] = listed(f"{name}: {count} ({count / total:.1%})" for name, count in found.target.items())
    told["fit takes"] = f"about {found.megabytes + 400:.0f} MB, and {found.seconds:.0f} s unless told otherwise"
    return told


def write_page(found: Inspection, file: Path) -> None:
    """The page, whole or not at all."""
    write_file_whole(file, page(found).encode())


def page(found: Inspection) -> str:
    summary = "".join(f"<dt>{escape(name)}</dt><dd>{escape(text)}</dd>" for name, text in facts(found).items())
    rows = "".join(map(_row, found.channels))
    remarks = "".join(f"<li>{escape(remark)}</li>" for remark in found.remarks) or "<li>nothing</li>"
    classes = f"<h2>Classes</h2>{_bars(list(found.target.values()), 'series in each class')}" if found.target else ""
    title = escape(f"denots inspect {found.table}")
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        f'<meta name="viewport" content="width=device-width,initial-scale=1"><title>{title}</title><style>{STYLE}</style></head>'
        f"<body><h1>{title}</h1><dl>{summary}</dl>{classes}<h2>Worth a look</h2><ul>{remarks}</ul>"
        '<h2>Channels</h2><div class="wide"><table><tr><th>channel</th><th>missing</th><th>series</th><th>lowest</th><th>median</th>'
        f"<th>highest</th><th>outliers</th><th>between 1 % and 99 %</th></tr>{rows}</table></div>"
        f"<h2>To fit it</h2><pre>{escape(found.command)}</pre></body></html>"
    )


def _row(one: ChannelFacts) -> str:
    low, _, middle, _, high = map(number, one.quantiles)
    cells = [escape(one.name), f"{one.missing:.1%}", str(one.series), low, middle, high, str(one.outliers)]
    return f"<tr>{''.join(f'<td>{cell}</td>' for cell in cells)}<td>{_bars(list(one.counts), 'histogram')}</td></tr>"


def _bars(counts: list[int], label: str) -> str:
    """A bar for each count, the highest as high as the picture."""
    if not counts or not max(counts):
        return ""
    width, height = max(160 // len(counts), 4), 32
    bars = "".join(
        f'<rect x="{k * width}" y="{height - height * count / max(counts):.1f}" width="{width - 1}" '
        f'height="{height * count / max(counts):.1f}"/>'
        for k, count in enumerate(counts)
    )
    size = f'width="{width * len(counts)}" height="{height}"'
    return f'<svg role="img" aria-label="{label}: {", ".join(map(str, counts))}" {size}>{bars}</svg>'


def _range(spread: tuple[float, ...]) -> str:
    low, middle, high = map(number, spread)
    return f"{low} to {high} (median {middle})"
