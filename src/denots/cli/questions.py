"""When a forecast is asked for: times on the command line, or a table of ids and times."""

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from denots.errors import InvalidOption
from denots.shapes import FloatArray

if TYPE_CHECKING:
    import pandas as pd

    from denots.data.questions import Questions
    from denots.data.schema import TableSchema
    from denots.data.series import SeriesSet


def read_times(text: str) -> FloatArray:
    """Numbers in a list such as `1.5,2,3`."""
    try:
        times = np.array([float(part) for part in text.split(",") if part.strip()])
    except ValueError as error:
        raise InvalidOption(f"--at takes numbers separated by commas, such as 1.5,2,3; got {text!r}.") from error
    if not len(times):
        raise InvalidOption("--at names no time; give numbers separated by commas, such as 1.5,2,3.")
    return times


def read_questions(file: Path, schema: "TableSchema", frame: "pd.DataFrame", series: "SeriesSet") -> "Questions":
    from denots.data.questions import read_questions
    from denots.data.table_file import read_table

    return read_questions(read_table(file, id=schema.id), schema, frame, series)
