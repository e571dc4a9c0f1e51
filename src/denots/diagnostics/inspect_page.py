"""What `denots inspect` found as one page that needs nothing else, with small pictures drawn as SVG."""

from html import escape
from pathlib import Path

from denots.diagnostics.inspect import ChannelFacts, Inspection
from denots.diagnostics.roles import role_words
from denots.folders import write_file_whole
from denots.pages import document
from denots.pages.document import number
from denots.pages.drawing import small_bars
from denots.registry import listed

HEAD = ("channel", "missing", "series", "lowest", "median", "highest", "outliers", "between 1 % and 99 %")


def facts(found: Inspection) -> dict[str, str]:
    """Names and values of what is known of the table as a whole."""
    unit = f" {found.times.unit}" if found.times.unit else ""
    told = {"table": found.table, **role_words(found.roles)}
    told["rows"] = f"{found.rows} in {found.series} series of {_range(found.lengths)} rows"
    told["spans"] = f"{_range(found.times.spans)}{unit}"
    steps = f"{_range(found.times.steps)}{unit}; {found.times.long_gaps} are ten times the median or longer"
    told["steps"] = steps if found.times.moments > found.series else "none: every series has one moment"
    told["order"] = f"{found.times.unsorted} rows out of order, {found.times.repeated} at the same time as another"
    told["empty series"] = str(found.empty)
    if found.target:
        total = sum(found.target.values())
        told["classes"] = listed(f"{name}: {count} ({count / total:.1%})" for name, count in found.target.items())
    told["fit takes"] = f"about {found.megabytes:.0f} MB, and {found.seconds:.0f} s unless told otherwise"
    return told


def write_page(found: Inspection, file: Path) -> None:
    """The page, whole or not at all."""
    write_file_whole(file, page(found).encode())


def page(found: Inspection) -> str:
    remarks = "".join(f"<li>{escape(remark)}</li>" for remark in found.remarks) or "<li>nothing</li>"
    classes = _classes(found.target) if found.target else ""
    rows = document.header(HEAD) + f"<tbody>{''.join(map(_row, found.channels))}</tbody>"
    channels = document.scrolled(f"<table>{rows}</table>", "channels")
    return document.document(
        f"denots inspect {found.table}",
        f"{document.facts(facts(found))}{classes}<h2>Worth a look</h2><ul>{remarks}</ul>"
        f"<h2>Channels</h2>{channels}<h2>To fit it</h2><pre>{escape(found.command)}</pre>",
    )


def _classes(counts: dict[str, int]) -> str:
    bars = small_bars(list(counts.values()), "series in each class")
    return f'<h2>Classes</h2>{bars}<p class="soft">From the left: {escape(listed(counts))}.</p>'


def _row(one: ChannelFacts) -> str:
    low, _, middle, _, high = map(number, one.quantiles)
    cells = [escape(one.name), f"{one.missing:.1%}", str(one.series), low, middle, high, str(one.outliers)]
    histogram = small_bars(one.counts, f"histogram of {one.name}")
    return f"<tr>{''.join(f'<td>{cell}</td>' for cell in cells)}<td>{histogram}</td></tr>"


def _range(spread: tuple[float, ...]) -> str:
    low, middle, high = map(number, spread)
    return f"{low} to {high} (median {middle})"
