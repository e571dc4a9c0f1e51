"""Read `.ts` files of the UEA and UCR time series archives.

A header of `@` lines, then one series a line: channels separated by colons, values by commas,
the class last. Lengths may differ, `?` is a missing value, and with `@timeStamps true` each
value is written `(time,value)`, so that channels may be observed at different times.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from denots.data.cells import read_cells, stack_channels
from denots.data.series import SeriesSet
from denots.errors import InvalidFile, InvalidSeries
from denots.shapes import FloatArray

_SWITCHES = {"timestamps", "missing", "univariate", "equallength"}
_COUNTS = {"dimensions": "dimensions", "dimension": "dimensions", "serieslength": "serieslength"}
_STAMPED = re.compile(r"\(([^(),]+),([^(),]+)\)")


@dataclass(frozen=True, slots=True)
class Header:
    """What the `@` lines promise; None where they are silent."""

    stamped: bool = False
    may_miss: bool | None = None
    channels: int | None = None
    length: int | None = None
    classes: tuple[str, ...] | None = None  # None: the target is a number


def read_ts(file: Path, advance: Callable[[int], object] = int) -> SeriesSet:
    """All series of a file; without time stamps, times are 0, 1, 2 ...

    Args:
        advance: called with the length of every line that was read, to show progress.
    """
    with file.open(encoding="utf-8-sig", errors="replace") as stream:
        lines = enumerate(stream, start=1)
        header = _read_header(file, lines)
        times: list[FloatArray] = []
        values: list[FloatArray] = []
        targets: list[str | float] = []
        for number, line in lines:
            advance(len(line))
            text = line.strip()
            if not text or text.startswith("#"):
                continue
            place = f"{file}, line {number}"
            *channels, label = text.split(":")
            table, stamps = _read_series(channels, header, place)
            if values and table.shape[1] != values[0].shape[1]:
                raise InvalidFile(f"{place}: {table.shape[1]} channels, but {values[0].shape[1]} in the lines before.")
            times.append(stamps)
            values.append(table)
            targets.append(_read_target(label.strip(), header, place))
    if not values:
        raise InvalidFile(f"{file} holds no series after @data; it is truncated, so copy it again.")
    try:
        return SeriesSet.from_arrays(times, values, target=np.array(targets))
    except InvalidSeries as error:
        raise InvalidFile(f"{file}: {error}") from error


def _read_header(file: Path, lines: Iterator[tuple[int, str]]) -> Header:
    switches: dict[str, bool] = {}
    counts: dict[str, int] = {}
    classes: tuple[str, ...] | None = ()
    for number, line in lines:
        text = line.strip()
        if not text or text.startswith("#"):
            continue
        place = f"{file}, line {number}"
        if not text.startswith("@"):
            raise InvalidFile(f"{place}: {text[:40]!r} stands before @data; expected a line that begins with @ or #.")
        tag, *words = text[1:].split()
        tag = tag.lower()
        if tag == "data":
            if classes == ():
                raise InvalidFile(f"{place}: the header has neither @classLabel nor @targetLabel true.")
            return _header(switches, counts, classes, place)
        if tag in _SWITCHES:
            switches[tag] = _switch(tag, words, place)
        elif tag in _COUNTS:
            counts[_COUNTS[tag]] = _count(tag, words, place)
        elif tag == "classlabel":
            classes = tuple(words[1:]) if _switch(tag, words, place) else classes
        elif tag == "targetlabel":
            classes = None if _switch(tag, words, place) else classes
        elif tag != "problemname":
            raise InvalidFile(f"{place}: unknown header line @{tag}.")
    raise InvalidFile(f"{file} has no line @data; it is no .ts file, or truncated.")


def _header(switches: dict[str, bool], counts: dict[str, int], classes: tuple[str, ...] | None, place: str) -> Header:
    channels = counts.get("dimensions")
    if switches.get("univariate"):
        if channels not in (None, 1):
            raise InvalidFile(f"{place}: the header says @univariate true and @dimensions {channels}; only one can be.")
        channels = 1
    return Header(
        stamped=switches.get("timestamps", False),
        may_miss=switches.get("missing"),
        channels=channels,
        length=counts.get("serieslength") if switches.get("equallength", True) else None,
        classes=classes,
    )


def _switch(tag: str, words: Sequence[str], place: str) -> bool:
    if not words or words[0].lower() not in ("true", "false"):
        raise InvalidFile(f"{place}: @{tag} {' '.join(words)!r}; expected true or false.")
    return words[0].lower() == "true"


def _count(tag: str, words: Sequence[str], place: str) -> int:
    if len(words) != 1 or not words[0].isdigit() or int(words[0]) < 1:
        raise InvalidFile(f"{place}: @{tag} {' '.join(words)!r}; expected one whole number from 1.")
    return int(words[0])


def _read_series(channels: list[str], header: Header, place: str) -> tuple[FloatArray, FloatArray]:
    """Values [L, C] and times [L] of one line."""
    if not channels or (header.channels is not None and len(channels) != header.channels):
        raise InvalidFile(f"{place}: {len(channels)} channels before the class; the header promises {header.channels}.")
    if header.stamped:
        table, times = _merge([_read_stamped(channel, place) for channel in channels])
    else:
        table = stack_channels([read_cells(channel, place) for channel in channels], place)
        times = np.arange(len(table), dtype=np.float64)
    if header.length is not None and len(table) != header.length:
        raise InvalidFile(f"{place}: {len(table)} time steps; the header promises {header.length}.")
    if header.may_miss is False and any("?" in channel for channel in channels):
        raise InvalidFile(f"{place}: a value is missing, but the header says @missing false.")
    return table, times


def _read_stamped(channel: str, place: str) -> tuple[FloatArray, FloatArray]:
    pairs = _STAMPED.findall(channel)
    rest = _STAMPED.sub("", channel).replace(",", "").strip()
    if rest or not pairs:
        raise InvalidFile(f"{place}: {(rest or channel)[:40]!r}; expected (time,value) pairs, separated by commas.")
    times = read_cells(",".join(time for time, _ in pairs), f"{place}, time stamps")
    return times, read_cells(",".join(value for _, value in pairs), place)


def _merge(channels: list[tuple[FloatArray, FloatArray]]) -> tuple[FloatArray, FloatArray]:
    """One row for every time at which any channel has a value; NaN in the others."""
    if all(np.array_equal(times, channels[0][0]) for times, _ in channels):
        return np.stack([values for _, values in channels], axis=1), channels[0][0]
    union = np.unique(np.concatenate([times for times, _ in channels]))
    table = np.full((len(union), len(channels)), np.nan)
    for c, (times, values) in enumerate(channels):
        table[np.searchsorted(union, times), c] = values
    return table, union


def _read_target(label: str, header: Header, place: str) -> str | float:
    if header.classes is None:
        return float(read_cells(label, f"{place}, target")[0])
    if header.classes and label not in header.classes:
        raise InvalidFile(f"{place}: class {label!r} is not among those of the header: {', '.join(header.classes)}.")
    return label
