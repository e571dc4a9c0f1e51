"""What a table holds, said before anything is trained: series, times, channels, what is odd, and how to go on."""

import math
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from denots.data.categories import MOST
from denots.data.column import Columns, kind_of, odd_cells
from denots.data.groups import Groups
from denots.data.missing import as_numbers
from denots.data.ranges import guess_units, time_cause
from denots.data.stamps import SECONDS, Stamps, read_stamps
from denots.diagnostics.roles import Roles, guess_roles
from denots.registry import listed
from denots.shapes import BoolArray, FloatArray, IntArray

if TYPE_CHECKING:
    import pandas as pd

SAMPLE = 200_000  # values of a channel from which its quantiles are taken
FAR = 10.0  # robust standard deviations from the median; farther away is an outlier
APART = 20.0  # so many times longer or shorter steps than usual look like another unit of time
BINS = 24
ODD_WORDS = 3  # of a channel that the suggested command reads as missing
NUMBERED = r"\s*[<>~+-]?\s*\d"  # a text such as "71 bpm" or "1,326.0"
COPIES = 4  # of the values that `fit` holds at once, roughly
PROGRAM, FEATURE_COPIES = 400, 4  # megabytes without data; of the features of a ridge, likewise


@dataclass(frozen=True, slots=True, eq=False)
class ChannelFacts:
    """One channel: how much of it was observed, where its values lie, and what is odd about them."""

    name: str
    missing: float  # share of the rows
    series: int  # in which it was observed
    quantiles: tuple[float, ...] = (math.nan,) * 5  # lowest, 1 %, 50 %, 99 %, highest
    outliers: int = 0
    counts: tuple[int, ...] = ()  # a histogram between the 1 % and 99 % quantiles
    categories: int = 0  # different words, where the channel is text
    odd: tuple[str, ...] = ()  # words among the numbers
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class TimeFacts:
    """Spans and steps, in the unit of the table (dates: hours), and rows out of order."""

    unit: str
    spans: tuple[float, ...]  # of series: lowest, median, highest
    steps: tuple[float, ...]  # from row to row within a series, likewise
    moments: int  # rows once those at one time of a series are one
    long_gaps: int  # steps of more than ten times the median one
    unsorted: int
    repeated: int
    remarks: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Inspection:
    """Everything that is known of a table before a model is chosen."""

    table: str
    roles: Roles
    rows: int
    series: int
    lengths: tuple[float, ...]
    empty: int  # series without any observed value
    times: TimeFacts
    channels: tuple[ChannelFacts, ...]
    target: dict[str, int]  # classes and how many series have each; empty for numbers or without a target
    remarks: tuple[str, ...]
    command: str
    megabytes: float
    seconds: float


def inspect_table(
    table: str, frame: Any, roles: Roles, *, na: tuple[str, ...] = (), form: str | None = None
) -> Inspection:
    """Look at a table column by column; `table` is its name, `form` how its dates are written."""
    columns = Columns(frame, na, exact=(roles.id, roles.time, roles.variable))
    roles, groups = guess_roles(columns, roles)
    assert roles.time is not None
    stamps = read_stamps(columns[roles.time], roles.time, groups, form)
    seen = np.zeros(len(groups.codes), dtype=bool)
    channels = []
    for name, column, rows in _channels(columns, roles, len(groups.codes)):
        facts, observed = _examine(name, column, groups, rows)
        seen[rows[observed]] = True
        channels.append(facts)
    lengths = np.bincount(groups.codes)
    empty = int((np.bincount(groups.codes[seen], minlength=len(lengths)) == 0).sum())
    times = _times(stamps, groups, long=roles.variable is not None)
    target, remarks = _target(columns, roles, groups)
    return Inspection(
        table=table,
        roles=roles,
        rows=len(groups.codes),
        series=len(lengths),
        lengths=_spread(lengths),
        empty=empty,
        times=times,
        channels=tuple(channels),
        target=target,
        remarks=(*remarks, *times.remarks, *_channel_remarks(channels)),
        command=_command(table, roles, times, channels, empty, na, form),
        megabytes=fit_megabytes(len(lengths), times.moments, len(channels)),
        seconds=fit_seconds(len(lengths)),
    )


def fit_megabytes(series: int, moments: int, channels: int) -> float:
    """What `denots fit` takes by default, roughly."""
    return PROGRAM + COPIES * 8e-6 * moments * max(channels, 1) + FEATURE_COPIES * 4e-6 * series * most_features(series)


def most_features(series: int) -> int:
    """How many features a series has, which `systems/linear.py` decides; a test compares both."""
    return 10_000 if series <= 4_000 else 4_000


def fit_seconds(series: int) -> float:
    """How long `denots fit` tries by default, which `systems/auto.py` decides; a test compares both."""
    return min(300.0, 20.0 + 0.1 * series)


def _channels(columns: Columns, roles: Roles, rows: int) -> Iterator[tuple[str, "pd.Series[Any]", IntArray]]:
    """Each channel with its cells and the rows that they stand in."""
    if roles.variable is None or roles.value is None:
        every = np.arange(rows)
        for name in columns.names:
            if name not in roles.columns:
                yield name, columns.take(name), every
        return
    variable, value = columns[roles.variable].astype(str), columns[roles.value]
    for name in sorted(variable.unique()):
        own = np.flatnonzero((variable == name).to_numpy())
        yield name, value.iloc[own], own


def _examine(name: str, column: "pd.Series[Any]", groups: Groups, rows: IntArray) -> tuple[ChannelFacts, BoolArray]:
    odd = odd_cells(column)
    observed: BoolArray = column.notna().to_numpy()
    if odd is None and kind_of(column) not in ("number", "bool"):
        kinds = int(column.nunique())
        remark = f"holds text, {kinds} different words" if kinds > 1 else "holds text, one word throughout"
        told = column.dropna().astype(str)
        if told.str.match(NUMBERED).mean() > 0.5:
            remark += f", that begin with numbers, such as {told.iloc[0]!r:.40}; write these alone to have them read as numbers"
        else:
            remark += "; named as a channel it is read as categories" if kinds <= MOST else "; leave it out"
        return ChannelFacts(
            name, _share(observed), _owners(groups, rows[observed]), categories=kinds, remarks=(remark,)
        ), observed
    remarks = []
    values = (as_numbers(column) if odd is not None else column).to_numpy(dtype=np.float64, na_value=np.nan)
    words: tuple[str, ...] = ()
    if odd is not None:
        words = tuple(sorted(set(column[odd].astype(str))))
        remarks.append(
            f"has {int(odd.sum())} cell(s) that are no numbers, such as {words[0]!r}; --na reads them as missing"
        )
    infinite: BoolArray = np.isinf(values)
    if infinite.any():
        remarks.append(f"has {int(infinite.sum())} infinite cell(s), which fit refuses; repair or empty them")
    observed = ~np.isnan(values)
    x = values[observed & ~infinite]
    if not len(x):
        return ChannelFacts(name, 1.0, 0, remarks=(*remarks, "was never observed")), observed
    part = x if len(x) <= SAMPLE else np.random.default_rng(0).choice(x, SAMPLE, replace=False)
    low, middle, high = np.quantile(part, (0.01, 0.5, 0.99))
    if x.min() == x.max():
        remarks.append(f"is {x[0]:g} throughout")
    far = _far(x, part, float(middle), float(high - low))
    remarks += _unit_remarks(part, x[far], float(x[~far].min()), float(x[~far].max()))
    counts = np.histogram(part, BINS, (low, high))[0] if high > low else np.zeros(0, dtype=np.int64)
    return ChannelFacts(
        name,
        _share(observed),
        _owners(groups, rows[observed]),
        (float(x.min()), float(low), float(middle), float(high), float(x.max())),
        int(far.sum()),
        tuple(counts.tolist()),
        odd=words,
        remarks=tuple(remarks),
    ), observed


def _far(x: FloatArray, part: FloatArray, middle: float, width: float) -> BoolArray:
    """Which values are outliers: far from the median, counted in medians of the distance from it."""
    spread = 1.4826 * float(np.median(np.abs(part - middle))) or width / 4
    return np.abs(x - middle) > FAR * spread if spread > 0 else np.zeros(len(x), dtype=bool)


def _unit_remarks(part: FloatArray, outliers: FloatArray, low: float, high: float) -> list[str]:
    """Values that fall into two groups, or far outside, where another unit explains the smaller part."""
    grid = np.quantile(part, np.linspace(0, 1, 101))
    cut = int(np.diff(grid).argmax())
    below, above = grid[: cut + 1], grid[cut + 1 :]
    if len(below) > 1 and len(above) > 1 and above[0] - below[-1] > 2 * max(np.ptp(below), np.ptp(above)):
        few, many = sorted((below, above), key=len)
        fitting = guess_units(float(np.median(few)), float(many.min()), float(many.max()))
        if fitting:
            return [
                f"has {len(few)} % of its values around {np.median(few):.4g}, the others around {np.median(many):.4g}: "
                f"another unit ({listed(fitting[:2])})?"
            ]
    if len(outliers):
        usual = float(np.median(outliers))
        apart = max(low - usual, usual - high) >= high - low  # else long tails look like many a unit
        fitting = guess_units(usual, low, high) if apart else []
        if fitting:
            return [f"has {len(outliers)} outlier(s) around {usual:.4g}: another unit ({listed(fitting[:2])})?"]
    return []


def _times(stamps: Stamps, groups: Groups, *, long: bool) -> TimeFacts:
    unit = "" if stamps.per_second is None else "h"
    scale = 1.0 if stamps.per_second is None else stamps.per_second * SECONDS["h"]
    ticks, rows = stamps.ticks, groups.rows
    before, after = rows[:-1], rows[1:]
    inner = groups.codes[before] == groups.codes[after]
    unsorted = 0 if long else int((inner & (ticks[after] < ticks[before])).sum())
    order = np.lexsort((ticks, groups.codes)) if unsorted or long else rows
    step = (ticks[order[1:]] - ticks[order[:-1]]) / scale
    step = step[groups.codes[order[1:]] == groups.codes[order[:-1]]]
    repeated, step = int((step == 0).sum()), step[step > 0]
    first, last = order[groups.offsets[:-1]], order[groups.offsets[1:] - 1]
    spans = (ticks[last] - ticks[first]) / scale
    usual = float(np.median(step)) if len(step) else math.nan
    return TimeFacts(
        unit,
        _spread(spans),
        _spread(step),
        len(order) - repeated,
        int((step > 10 * usual).sum()),
        unsorted,
        0 if long else repeated,
        _time_remarks(groups, spans),
    )


def _time_remarks(groups: Groups, spans: FloatArray) -> tuple[str, ...]:
    """Series whose clock seems to count in another unit than that of the others."""
    lengths = np.bincount(groups.codes)
    several = np.flatnonzero((lengths > 1) & (spans > 0))
    if len(several) < 3:
        return ()
    pace = spans[several] / (lengths[several] - 1)
    usual = float(np.median(pace))
    odd = np.flatnonzero((pace > APART * usual) | (pace < usual / APART))
    if not len(odd):
        return ()
    name, own = groups.ids[several[odd[0]]].item(), float(pace[odd[0]])
    return (f"{len(odd)} series have steps unlike the others, such as {name!r}: {own:.4g}{time_cause(own, usual)}",)


def _target(columns: Columns, roles: Roles, groups: Groups) -> tuple[dict[str, int], list[str]]:
    """How many series have each class, and what is odd about the target."""
    if roles.target is None:
        return {}, []
    column = columns[roles.target]
    own = column.iloc[groups.first]
    remarks = []
    if own.isna().any():
        remarks.append(f"{int(own.isna().sum())} series have no target")
    counts = own.dropna().value_counts()
    whole = kind_of(own) in ("text", "bool") or len(counts) <= 20
    if whole and len(counts) and counts.min() < 10:
        remarks.append(f"class {counts.idxmin()!s} has {counts.min()} series; few to learn from")
    return ({str(name): int(count) for name, count in counts.items()} if whole else {}), remarks


def _channel_remarks(channels: list[ChannelFacts]) -> list[str]:
    return [f"{facts.name} {remark}" for facts in channels for remark in facts.remarks]


def _command(
    table: str,
    roles: Roles,
    times: TimeFacts,
    channels: list[ChannelFacts],
    empty: int,
    na: tuple[str, ...],
    form: str | None,
) -> str:
    """The command that fits a model to the table as it is."""
    words = ["denots", "fit", table, "--id", str(roles.id), "--time", str(roles.time)]
    words += ["--time-unit", times.unit] if times.unit else []
    words += ["--time-format", form] if form else []
    words += ["--target", roles.target] if roles.target else []
    words += ["--static", ",".join(roles.static)] if roles.static else []
    words += ["--variable", roles.variable] if roles.variable else []
    words += ["--value", roles.value] if roles.value else []
    wordy = [facts for facts in channels if facts.categories]
    if wordy:
        words += ["--channels", ",".join(facts.name for facts in channels if facts.categories <= MOST)]
    odd = dict.fromkeys(word for facts in channels for word in facts.odd[:ODD_WORDS])
    words += [word for spelling in (*na, *odd) for word in ("--na", spelling)]
    words += ["--sort"] if times.unsorted else []
    words += ["--duplicates", "mean"] if times.repeated else []
    words += ["--skip-empty"] if empty else []
    return shlex.join([*words, "-o", "model"])


def _spread(x: Any) -> tuple[float, ...]:
    return tuple(map(float, np.quantile(x, (0, 0.5, 1)))) if len(x) else (math.nan,) * 3


def _share(observed: BoolArray) -> float:
    return 1.0 - float(observed.mean()) if len(observed) else 1.0


def _owners(groups: Groups, rows: IntArray) -> int:
    return int((np.bincount(groups.codes[rows], minlength=len(groups.ids)) > 0).sum())
