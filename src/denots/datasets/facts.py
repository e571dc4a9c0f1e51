"""What is known about the published data, to be compared with what was imported."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from denots.data.series import SeriesSet
from denots.datasets.archive import PREFIX, PUBLISHED
from denots.datasets.dataset import DerivedRecipe, Parts, SplitSizes
from denots.datasets.imports import open_import
from denots.datasets.psv import CHANNELS
from denots.datasets.sepsis import LABEL
from denots.errors import InvalidOption
from denots.protocol import Protocol


@dataclass(frozen=True, slots=True)
class Finding:
    """A fact as published and as found in the imported data, both to the published precision."""

    fact: str
    expected: str
    found: str

    @property
    def ok(self) -> bool:
        return self.expected == self.found


@dataclass(frozen=True, slots=True)
class Fact:
    """Something published about the data as they are, or with a protocol, about the splits made of them."""

    name: str
    expected: str
    measure: Callable[[Parts], str]
    protocol: Protocol | None = None


def check_facts(recipe: DerivedRecipe) -> list[Finding]:
    """Compare the imported data, and the splits made of them with seed 0, with what was published."""
    parts = open_import(recipe.source)
    facts = facts_of(recipe.name)
    if recipe.name in FACTS:
        facts = [*facts, Fact("train / val / test", " / ".join(map(str, recipe.sizes)), _sizes, "fair")]
    findings = []
    for protocol in (None, *recipe.derive):
        wanted = [fact for fact in facts if fact.protocol == protocol]
        if wanted:
            measured = parts if protocol is None else recipe.derive[protocol](parts, 0)
            findings += [Finding(fact.name, fact.expected, fact.measure(measured)) for fact in wanted]
    return findings


def facts_of(name: str) -> list[Fact]:
    """What was published about a data set; of the archive's sets, only some are known here."""
    if name in FACTS:
        return FACTS[name]
    known = PUBLISHED.get(name.removeprefix(PREFIX))
    if known is None:
        raise InvalidOption(
            f"nothing is known here about {name!r}, so it cannot be checked; it can be used all the same."
        )
    return _archive(known.train, known.test, known.channels, known.steps, known.classes)


def _whole(measure: Callable[[list[SeriesSet]], str]) -> Callable[[Parts], str]:
    return lambda parts: measure(list(parts.values()))


def _series(part: str) -> Callable[[Parts], str]:
    return lambda parts: str(len(parts[part]))


def _lengths(sets: list[SeriesSet]) -> str:
    lengths = np.concatenate([series.lengths for series in sets])
    least, most = int(lengths.min()), int(lengths.max())
    return str(least) if least == most else f"{least} to {most}"


def _missing(sets: list[SeriesSet]) -> str:
    absent = sum(int(np.isnan(series.values).sum()) for series in sets)
    return f"{100 * absent / sum(series.values.size for series in sets):.1f} %"


def _classes(sets: list[SeriesSet]) -> str:
    return str(len(np.unique(np.concatenate([_target(series) for series in sets]))))


def _per_class(part: str) -> Callable[[Parts], str]:
    def measure(parts: Parts) -> str:
        counts = np.unique(_target(parts[part]), return_counts=True)[1]
        least, most = counts.min(), counts.max()
        return str(least) if least == most else f"{least} to {most}"

    return measure


def _target(series: SeriesSet) -> npt.NDArray[Any]:
    return np.array([]) if series.target is None else series.target


def _archive(train: int, test: int, channels: int, length: str, classes: int) -> list[Fact]:
    return [
        Fact("training series", str(train), _series("train")),
        Fact("test series", str(test), _series("test")),
        Fact("channels", str(channels), lambda parts: str(len(parts["train"].channels))),
        Fact("time steps", length, _whole(_lengths)),
        Fact("classes", str(classes), _whole(_classes)),
    ]


_COMPLETE = Fact("missing before removal", "0.0 %", lambda parts: _missing(list(parts.values())))


def _septic(sets: list[SeriesSet]) -> str:
    return str(sum(int(_target(series).sum()) for series in sets))


def _septic_share(sets: list[SeriesSet]) -> str:
    return f"{100 * int(_septic(sets)) / sum(map(len, sets)):.2f} %"


def _channel_missing(sets: list[SeriesSet], channels: tuple[str, ...] = CHANNELS) -> str:
    columns = [CHANNELS.index(channel) for channel in channels]
    absent = np.concatenate([np.isnan(series.values[:, columns]).sum(axis=1) for series in sets])
    return f"{100 * absent.sum() / (len(absent) * len(columns)):.1f} %"


def _hospital(part: str, patients: int, rows: int, septic: int, mean: str, missing: str) -> list[Fact]:
    return [
        Fact(f"hospital {part}: patients", str(patients), _series(part)),
        Fact(f"hospital {part}: rows", str(rows), lambda parts: str(len(parts[part].times))),
        Fact(f"hospital {part}: septic", str(septic), lambda parts: _septic([parts[part]])),
        Fact(f"hospital {part}: mean hours", mean, lambda parts: f"{parts[part].lengths.mean():.1f}"),
        Fact(f"hospital {part}: missing", missing, lambda parts: _channel_missing([parts[part]])),
    ]


def _sizes(splits: Parts) -> str:
    return " / ".join(str(len(splits[part])) for part in SplitSizes._fields)


def _median(measure: Callable[[SeriesSet], npt.NDArray[Any]]) -> Callable[[Parts], str]:
    return lambda splits: f"{np.median(np.concatenate([measure(series) for series in splits.values()])):g}"


def _intensive(part: str, patients: int, deaths: int, rows: int, values: int) -> list[Fact]:
    """Deaths are published; the other numbers follow from our rules and were counted line by line in the text files."""

    def own(parts: Parts) -> SeriesSet:
        every = parts["patients"]
        return every.select(np.char.startswith(every.ids, f"{part}-"))

    return [
        Fact(f"set {part}: patients with a measurement", str(patients), lambda parts: str(len(own(parts)))),
        Fact(f"set {part}: deaths", str(deaths), lambda parts: str(int(_target(own(parts)).sum()))),
        Fact(f"set {part}: different times", str(rows), lambda parts: str(len(own(parts).times))),
        Fact(f"set {part}: values", str(values), lambda parts: str(int((~np.isnan(own(parts).values)).sum()))),
    ]


_CHALLENGE = [
    *_hospital("A", 20336, 790215, 1790, "38.9", "79.4 %"),
    Fact("hospital A: EtCO2 missing", "100.0 %", lambda parts: _channel_missing([parts["A"]], ("EtCO2",))),
    *_hospital("B", 20000, 761995, 1142, "38.1", "80.9 %"),
    Fact("patients", "40336", _whole(lambda sets: str(sum(map(len, sets))))),
    Fact("rows", "1552210", _whole(lambda sets: str(sum(len(series.times) for series in sets)))),
    Fact("septic", "2932", _whole(_septic)),
    Fact("septic share", "7.27 %", _whole(_septic_share)),
    Fact("hours per patient", "8 to 336", _whole(_lengths)),
    Fact("channels", "34", lambda parts: str(len([name for name in parts["A"].channels if name != LABEL]))),
    Fact("static features", "5", lambda parts: str(len(parts["A"].static_names))),
    Fact("rows seen", "8 to 71", _whole(_lengths), "fair"),
    Fact("rows seen, median", "38", _median(lambda series: series.lengths), "fair"),
    Fact("hours seen, median", "37", _median(lambda series: series.spans), "fair"),
]

FACTS: Mapping[str, list[Fact]] = {
    "uwgl": [
        *_archive(120, 320, 3, "315", 8),
        _COMPLETE,
        Fact("training series per class", "15", _per_class("train")),
        Fact("test series per class", "40", _per_class("test")),
        Fact("removed, protocol fair", "29.8 %", _whole(_missing), "fair"),
        Fact("removed, protocol paper", "25.8 %", _whole(_missing), "paper"),
    ],
    "insect-sound": [
        *_archive(25000, 25000, 1, "600", 10),
        _COMPLETE,
        Fact("removed, protocol fair", "30.0 %", _whole(_missing), "fair"),
        Fact("removed, protocol paper", "25.9 %", _whole(_missing), "paper"),
    ],
    "sepsis": _CHALLENGE,
    "sepsis-shift": _CHALLENGE,
    "physionet-2012": [
        *_intensive("a", 3997, 554, 295354, 1730236),
        *_intensive("b", 3993, 568, 295167, 1734574),
        Fact("hours", "0 to 48", _whole(lambda sets: f"{sets[0].start.min():g} to {sets[0].ends.max():g}")),
        Fact("channels", "37", lambda parts: str(len(parts["patients"].channels))),
        Fact("static features", "8", lambda parts: str(len(parts["patients"].static_names))),
    ],
}
