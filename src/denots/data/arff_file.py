r"""Read `.arff` files as the UEA and UCR time series archives write them.

A univariate series is a line of numbers with the class last; the attributes before the class
are its time steps. A multivariate one has a single relational attribute: a quoted text with
one channel after the other, separated by `\n` (a backslash and an n), then the class.
"""

import csv
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from denots.data.cells import read_cells, stack_channels
from denots.data.series import SeriesSet
from denots.errors import InvalidFile, InvalidSeries


@dataclass(frozen=True, slots=True)
class Attributes:
    """What the header declares: how many steps, whether channels are nested, and the classes."""

    steps: int
    nested: bool
    classes: tuple[str, ...]


def read_arff(file: Path, advance: Callable[[int], object] = int) -> SeriesSet:
    """All series of a file; times are 0, 1, 2 ...

    Args:
        advance: called with the length of every line that was read, to show progress.
    """
    values, labels = [], []
    with file.open(encoding="utf-8-sig", errors="replace") as stream:
        lines = enumerate(stream, start=1)
        header = _read_header(file, lines)
        for number, line in lines:
            advance(len(line))
            text = line.strip()
            if not text or text.startswith("%"):
                continue
            place = f"{file}, line {number}"
            channels, label = _split_line(text, header, place)
            table = stack_channels([read_cells(channel, place) for channel in channels], place)
            if len(table) != header.steps:
                raise InvalidFile(f"{place}: {len(table)} time steps; the header declares {header.steps}.")
            if label not in header.classes:
                raise InvalidFile(
                    f"{place}: class {label!r} is not among those of the header: {', '.join(header.classes)}."
                )
            values.append(table)
            labels.append(label)
    if not values:
        raise InvalidFile(f"{file} holds no series after @data; it is truncated, so copy it again.")
    try:
        return SeriesSet.from_arrays([np.arange(header.steps)] * len(values), values, target=np.array(labels))
    except InvalidSeries as error:
        raise InvalidFile(f"{file}: {error}") from error


def _read_header(file: Path, lines: Iterator[tuple[int, str]]) -> Attributes:
    steps, nested, classes = 0, False, None
    for number, line in lines:
        text = line.strip()
        tag = text.split(maxsplit=1)[0].lower() if text else ""
        if tag == "@data":
            if classes is None or not steps:
                raise InvalidFile(f"{file}, line {number}: the header declares no time steps, or no class attribute.")
            return Attributes(steps, nested, classes)
        if tag == "@attribute":
            kind = text.rsplit(maxsplit=1)[-1].lower()
            if text.endswith("}"):
                classes = _classes(text)
            elif kind == "relational":
                nested = True
            elif kind in ("numeric", "real", "integer"):
                steps += 1
            else:
                raise InvalidFile(
                    f"{file}, line {number}: attribute of kind {kind!r}; expected numeric, relational or {{classes}}."
                )
        elif tag and not tag.startswith("%") and tag not in ("@relation", "@end"):
            raise InvalidFile(
                f"{file}, line {number}: {text[:40]!r} stands in the header; expected @attribute or @data."
            )
    raise InvalidFile(f"{file} has no line @data; it is no .arff file, or truncated.")


def _classes(text: str) -> tuple[str, ...]:
    inner = text[text.index("{") + 1 : -1]
    return tuple(_bare(name) for name in next(csv.reader([inner], quotechar="'", skipinitialspace=True), []))


def _split_line(text: str, header: Attributes, place: str) -> tuple[list[str], str]:
    """The channels of a line as text, and its class."""
    if not header.nested:
        steps, _, label = text.rpartition(",")
        return [steps], _bare(label)
    quote, end = text[0], text.find(text[0], 1)
    if quote not in "'\"" or end < 0:
        raise InvalidFile(f"{place}: {text[:40]!r}; expected a quoted series, a comma and the class.")
    return text[1:end].split("\\n"), _bare(text[end + 1 :].lstrip(", "))


def _bare(name: str) -> str:
    return name.strip().strip("'\"")
