"""Bodies of requests and responses: tables as JSON, NDJSON or CSV."""

import json
import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from denots.data.schema import TableSchema
from denots.data.table_file import delimiter_of, parse_text
from denots.server.limits import Limits
from denots.server.problem import Problem
from denots.server.told import Told

if TYPE_CHECKING:
    import pandas as pd

JSON, NDJSON, CSV, TSV = "application/json", "application/x-ndjson", "text/csv", "text/tab-separated-values"
READ = {JSON: "", "application/ndjson": "", NDJSON: "", CSV: ".csv", TSV: ".tsv"}  # with the suffix of text files
PLACE = "the request"
MOST_COLUMNS = 10_000
_PLAIN = {str, int, float, bool, type(None)}


def read_body(content: bytes, media: str, schema: TableSchema, limits: Limits) -> "pd.DataFrame":
    """The table in the body of a request, as a file of this kind would be read."""
    kind = media.partition(";")[0].strip().lower()
    if kind not in READ:
        found = f"is {kind!r}" if kind else "is not told"
        raise Problem(
            "unsupported", f"the content type {found}; send {', '.join(READ)}, for example Content-Type: text/csv."
        )
    if not content.strip():
        raise Problem("malformed", "the request is empty; send a table with the columns of the model.")
    if READ[kind]:
        _check_width(content.partition(b"\n")[0].count(delimiter_of(content, READ[kind]).encode()) + 1)
        table = parse_text(content, PLACE, suffix=READ[kind], id=schema.id, texts=schema.texts)
    else:
        table = _from_json(_parsed(content, lines="ndjson" in kind), limits)
    _check_length(len(table), limits)
    return table


def write_body(told: Told, accepted: str) -> tuple[bytes, str]:
    """Answers in the form that a client accepts, JSON unless it asks for another, and the name of that form."""
    if CSV in accepted:
        return told.frame().to_csv(index=False).encode(), f"{CSV}; charset=utf-8"
    rows = records(told)
    if "ndjson" in accepted:
        return "".join(f"{_dumped(row)}\n" for row in rows).encode(), NDJSON
    return _dumped({"answers": rows}).encode(), JSON


def records(told: Told) -> list[dict[str, Any]]:
    """One dictionary a row; None where there is no number, and for one that is not finite, which JSON does not know."""
    columns = [[_plain(cell) for cell in column] for column in told.columns.values()]
    return [dict(zip(told.columns, row, strict=True)) for row in zip(*columns, strict=True)]


def _plain(cell: Any) -> Any:
    return None if isinstance(cell, float) and not math.isfinite(cell) else cell


def _dumped(content: Any) -> str:
    return json.dumps(content, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def _parsed(content: bytes, lines: bool) -> Any:
    try:
        if not lines:
            return json.loads(content)
        return [json.loads(line) for line in content.splitlines() if line.strip()]
    except (ValueError, RecursionError) as error:
        raise Problem("malformed", f"the request is not {'lines of ' if lines else ''}JSON: {error}.") from error


def _from_json(content: Any, limits: Limits) -> "pd.DataFrame":
    """A table from a list of records, or from an object with a list for each column."""
    import pandas as pd

    if isinstance(content, Mapping):
        _check_columns(content)
        return pd.DataFrame({name: pd.Series(_cells(column, name)) for name, column in content.items()})
    if not isinstance(content, list):
        raise Problem("malformed", f"expected rows or columns, found {content!r:.60}. {_FORMS}")
    _check_length(len(content), limits)
    for number, row in enumerate(content, start=1):
        if not isinstance(row, dict):
            raise Problem("malformed", f"row {number} is {row!r:.60}, expected an object. {_FORMS}")
    names = dict.fromkeys(name for row in content for name in row)
    _check_width(len(names))
    if len(names) * len(content) > limits.bytes:
        raise Problem(
            "too-large", f"{len(content)} rows name {len(names)} columns in all; send those of the model only."
        )
    return pd.DataFrame({name: pd.Series(_cells([row.get(name) for row in content], name)) for name in names})


_FORMS = 'Send [{"id": "ann", "time": 0, ...}, ...] or {"id": ["ann", ...], "time": [0, ...], ...}.'


def _check_columns(columns: Mapping[str, Any]) -> None:
    _check_width(len(columns))
    for name, column in columns.items():
        if not isinstance(column, list):
            raise Problem("malformed", f"column {name!r:.60} is {column!r:.60}, expected a list. {_FORMS}")
    lengths = {len(column) for column in columns.values()}
    if len(lengths) > 1:
        raise Problem("malformed", f"the columns have {min(lengths)} to {max(lengths)} cells; give all as many.")


def _cells(column: list[Any], name: str) -> list[Any]:
    """The cells, each of which is text, a number that fits a float, true, false or null."""
    for row, cell in enumerate(column, start=1):
        if type(cell) not in _PLAIN or (type(cell) is int and abs(cell) >= 2**63):
            raise Problem(
                "malformed",
                f"row {row} has {str(cell)[:60]} in column {name!r:.60}; a cell is text, a number below 2**63, true, false "
                "or null.",
            )
    return column


def _check_length(rows: int, limits: Limits) -> None:
    if rows > limits.rows:
        raise Problem("too-large", f"the table has {rows} rows, more than {limits.rows}; send it in parts, by series.")


def _check_width(columns: int) -> None:
    if columns > MOST_COLUMNS:
        raise Problem(
            "too-large", f"the table has {columns} columns, more than {MOST_COLUMNS}; send those of the model."
        )
