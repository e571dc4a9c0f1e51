"""Sepsis: does a patient in intensive care develop sepsis? PhysioNet/CinC Challenge 2019, two hospitals.

34 vital signs and laboratory values an hour, most of them missing, and 5 static features. As
published: only rows with ICULOS < 72 are seen, but the label is positive if any row of the whole
stay is, even a later one; time is ICULOS minus the first ICULOS, in hours; kept are patients with
5 to 1000 rows whose last time is 0.1 to 10 times the median one. Patients without a single value
are left out, because there is nothing to see.

`sepsis` splits the patients of both hospitals 70 / 15 / 15; `sepsis-shift` trains on hospital A
(85 / 15) and tests on hospital B.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from denots.data.join import joined
from denots.data.series import SeriesSet
from denots.datasets.dataset import DerivedRecipe, Parts, Source, SplitSizes, share_limits, stream
from denots.datasets.packed import read_packed
from denots.datasets.psv import CHANNELS, STATIC, Stays, read_patients
from denots.errors import InvalidFile
from denots.shapes import BoolArray, FloatArray, IntArray

PARTS = ("A", "B")
FIRST_OF_B = 100_000  # patient numbers of hospital B lie above
LABEL = "SepsisLabel"  # kept as a channel of the imported data, so that the onset is not lost
WINDOW = 72.0  # hours
ROWS = (5, 1000)
SPANS = (0.1, 10.0)  # in medians
PACKED = {"values", "lengths", "patient_id", "static", "first_iculos", "label_onset", "value_names", "static_names"}


def read_challenge(places: Sequence[Path]) -> dict[str, SeriesSet]:
    """Both hospitals, from folders of `.psv` files, or where there are none, from packed `.npz` files."""
    files = sorted(file for place in places for file in ([place] if place.is_file() else place.rglob("*")))
    patients = [file for file in files if file.suffix == ".psv"]
    packed = [file for file in files if file.suffix == ".npz"]
    if not patients and not packed:
        raise InvalidFile(
            f"neither .psv nor .npz files in {', '.join(map(str, places))}; "
            "give the folder that holds training_setA and training_setB, both folders, or the zip archive."
        )
    stays = [_pack(read_patients(patients))] if patients else [_pack(read_packed_stays(file)) for file in packed]
    whole = joined(stays) if len(stays) > 1 else stays[0]
    in_b = np.char.lstrip(whole.ids, "p").astype(np.int64) > FIRST_OF_B
    if in_b.all() or not in_b.any():
        raise InvalidFile(
            f"all {len(whole)} patients are of hospital {'B' if in_b.any() else 'A'}; give training_setA and training_setB."
        )
    return {"A": whole.select(~in_b), "B": whole.select(in_b)}


def read_packed_stays(file: Path) -> Stays:
    """A numpy archive with the rows of all patients: see `Stays`; hours count up from `first_iculos`."""
    content = read_packed(file, PACKED)
    lengths, values, n = content["lengths"].astype(np.int64), content["values"], len(content["lengths"])
    for name, expected in (("value_names", CHANNELS), ("static_names", STATIC)):
        if tuple(content[name].tolist()) != expected:
            raise InvalidFile(f"{file}: {name} are not those of the challenge, in its order.")
    for name in ("patient_id", "static", "first_iculos", "label_onset"):
        if len(content[name]) != n:
            raise InvalidFile(f"{file}: {len(content[name])} entries in {name} for {n} patients.")
    if values.shape != (lengths.sum(), len(CHANNELS)) or content["static"].shape != (n, len(STATIC)):
        raise InvalidFile(f"{file}: values {values.shape} or static {content['static'].shape} do not fit the lengths.")
    hour = np.arange(len(values)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    onset = np.repeat(content["label_onset"], lengths)
    return Stays(
        patients=content["patient_id"].astype(np.int64),
        lengths=lengths,
        values=values.astype(np.float32),
        static=content["static"].astype(np.float32),
        hours=hour.astype(np.float64) + np.repeat(content["first_iculos"], lengths),
        label=((onset >= 0) & (hour >= onset)).astype(np.float64),
    )


def _pack(stays: Stays) -> SeriesSet:
    offsets = np.concatenate([[0], np.cumsum(stays.lengths)])
    return SeriesSet(
        times=stays.hours,
        values=np.concatenate([stays.values, stays.label[:, None].astype(np.float32)], axis=1),
        offsets=offsets,
        start=stays.hours[offsets[:-1]],
        ids=np.array([f"p{number:06d}" for number in stays.patients.tolist()]),
        channels=(*CHANNELS, LABEL),
        static=stays.static,
        static_names=STATIC,
        target=(np.maximum.reduceat(stays.label, offsets[:-1]) > 0).astype(np.int64),
        time_unit="h",
    )


def kept_patients(parts: Parts) -> dict[str, BoolArray]:
    """Which patients of each hospital belong to the data set; the median is taken over both hospitals."""
    spans = {part: _spans(series) for part, series in parts.items()}
    median = float(np.median(np.concatenate([span[rows > 0] for rows, span in spans.values()])))
    kept = {}
    for part, series in parts.items():
        rows, span = spans[part]
        speaks = ~np.isnan(series.values[:, : len(CHANNELS)]).all(axis=1) & (series.times < WINDOW)
        kept[part] = (rows >= ROWS[0]) & (rows <= ROWS[1]) & (span >= SPANS[0] * median) & (span <= SPANS[1] * median)
        kept[part] &= np.logical_or.reduceat(speaks, series.offsets[:-1])
    return kept


def _spans(series: SeriesSet) -> tuple[IntArray, FloatArray]:
    """Rows inside the window of each patient, and the hours from the first to the last of them."""
    rows = np.add.reduceat(series.times < WINDOW, series.offsets[:-1], dtype=np.int64)
    last = series.times[series.offsets[:-1] + np.maximum(rows, 1) - 1]
    return rows, last - series.start


def first_days(series: SeriesSet, kept: BoolArray) -> SeriesSet:
    """The first 72 hours of the patients that are kept, on a clock that starts with their first row."""
    rows = (series.times < WINDOW) & np.repeat(kept, series.lengths)
    lengths = np.add.reduceat(rows, series.offsets[:-1], dtype=np.int64)[kept]
    return replace(
        series,
        times=(series.times - np.repeat(series.start, series.lengths))[rows],
        values=series.values[rows, : len(CHANNELS)],
        offsets=np.concatenate([[0], np.cumsum(lengths)]),
        start=np.zeros(len(lengths)),
        ids=series.ids[kept],
        channels=CHANNELS,
        static=None if series.static is None else series.static[kept],
        target=None if series.target is None else series.target[kept],
    )


def _both(parts: Parts) -> dict[str, SeriesSet]:
    kept = kept_patients(parts)
    return {part: first_days(series, kept[part]) for part, series in parts.items()}


def derive(parts: Parts, seed: int) -> dict[str, SeriesSet]:
    """Patients of both hospitals, shuffled and cut 70 / 15 / 15."""
    seen = _both(parts)
    whole = joined([seen[part] for part in PARTS])
    order = stream(seed, "sepsis", "order").permutation(len(whole))
    first, second = share_limits(len(whole), 0.7, 0.15)
    rows = {"train": order[:first], "val": order[first:second], "test": order[second:]}
    return {part: whole.select(chosen) for part, chosen in rows.items()}


def split_sizes(usable: Mapping[str, int]) -> SplitSizes:
    n = sum(usable.values())
    first, second = share_limits(n, 0.7, 0.15)
    return SplitSizes(first, second - first, n - second)


def derive_shift(parts: Parts, seed: int) -> dict[str, SeriesSet]:
    """Train and validate on hospital A, test on hospital B."""
    seen = _both(parts)
    order = {part: stream(seed, "sepsis-shift", part).permutation(len(seen[part])) for part in PARTS}
    (cut,) = share_limits(len(seen["A"]), 0.85)
    return {
        "train": seen["A"].select(order["A"][:cut]),
        "val": seen["A"].select(order["A"][cut:]),
        "test": seen["B"].select(order["B"]),
    }


def split_sizes_shift(usable: Mapping[str, int]) -> SplitSizes:
    (cut,) = share_limits(usable["A"], 0.85)
    return SplitSizes(cut, usable["A"] - cut, usable["B"])


CHALLENGE = Source(
    name="sepsis",
    title="the training sets A and B of the PhysioNet/CinC Challenge 2019",
    page="https://physionet.org/content/challenge-2019/1.0.0/",
    url="https://physionet.org/content/challenge-2019/get-zip/1.0.0/",
    parts=PARTS,
    read=read_challenge,
    usable=lambda parts: {part: int(kept.sum()) for part, kept in kept_patients(parts).items()},
)

SEPSIS = DerivedRecipe(
    name="sepsis",
    task="classification",
    metric="auroc",
    description="Sepsis in intensive care, from the first 72 hours",
    sizes=SplitSizes(28231, 6050, 6050),
    source=CHALLENGE,
    derive={"fair": derive, "paper": derive},
    split_sizes=split_sizes,
)

SEPSIS_SHIFT = DerivedRecipe(
    name="sepsis-shift",
    task="classification",
    metric="auroc",
    description="Sepsis: learn in one hospital, predict in another",
    sizes=SplitSizes(17283, 3050, 19998),
    source=CHALLENGE,
    derive={"fair": derive_shift, "paper": derive_shift},
    split_sizes=split_sizes_shift,
)
