"""Comma-separated numbers as the time series archives write them: `?` stands for a missing value."""

import numpy as np

from denots.errors import InvalidFile
from denots.shapes import FloatArray


def read_cells(text: str, place: str) -> FloatArray:
    """The numbers in a piece of a line; `place` (file and line) opens the error for anything else."""
    cells = text.split(",")
    try:
        return np.array([float(cell) for cell in cells])
    except ValueError:
        return np.array([_read_cell(cell.strip(), k, place) for k, cell in enumerate(cells, start=1)])


def _read_cell(cell: str, number: int, place: str) -> float:
    if cell == "?":
        return np.nan
    try:
        return float(cell)
    except ValueError as error:
        raise InvalidFile(
            f"{place}: value {number} is {cell!r}; expected a number, or ? where it is missing."
        ) from error


def stack_channels(channels: list[FloatArray], place: str) -> FloatArray:
    """Channels of one series side by side [L, C]; they share their time steps."""
    lengths = [len(channel) for channel in channels]
    if len(set(lengths)) > 1:
        raise InvalidFile(
            f"{place}: the channels have {', '.join(map(str, lengths))} values; "
            "without time stamps all channels of a series need the same number."
        )
    return np.stack(channels, axis=1)
