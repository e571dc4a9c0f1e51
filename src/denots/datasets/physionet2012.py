"""PhysioNet 2012: does a patient in intensive care die in hospital? PhysioNet/CinC Challenge 2012, 48 hours a stay.

37 vital signs and laboratory values, each at its own times, in hours since admission. What stands at 00:00
under Age, Gender, Height, Weight and ICUType describes the patient: -1 is unknown, and the kind of intensive
care unit is a category, one column for each. A weight of -1 later on is no measurement. Values are as recorded,
outliers included; of several values of one channel at one time the mean is taken. Patients without any
measurement are left out, because there is nothing to see.

Set a is shuffled and cut 85 / 15 into training and validation, and all others are the test split; where there
are no others, set a is cut 70 / 15 / 15.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from denots.data.series import SeriesSet
from denots.datasets.dataset import DerivedRecipe, Parts, Source, SplitSizes, share_limits, stream
from denots.errors import InvalidFile
from denots.progress import track
from denots.shapes import BoolArray, FloatArray, IntArray

CHANNELS = (
    "ALP", "ALT", "AST", "Albumin", "BUN", "Bilirubin", "Cholesterol", "Creatinine", "DiasABP", "FiO2", "GCS",
    "Glucose", "HCO3", "HCT", "HR", "K", "Lactate", "MAP", "MechVent", "Mg", "NIDiasABP", "NIMAP", "NISysABP", "Na",
    "PaCO2", "PaO2", "Platelets", "RespRate", "SaO2", "SysABP", "Temp", "TroponinI", "TroponinT", "Urine", "WBC",
    "Weight", "pH",
)  # fmt: skip
NUMBERS = ("Age", "Gender", "Height", "Weight")
UNITS = ("coronary", "cardiac surgery", "medical", "surgical")
STATIC = (*NUMBERS, *(f"ICU {unit}" for unit in UNITS))
DESCRIPTORS = ("RecordID", *NUMBERS, "ICUType")
HEADER = b"Time,Parameter,Value"
OUTCOMES = "RecordID,SAPS-I,SOFA,Length_of_stay,Survival,In-hospital_death"
PARTS = ("patients",)
_OUTCOME_FILE = re.compile(r"outcomes-([a-z])\.txt", re.IGNORECASE)
_PATIENT_FILE = re.compile(r"(\d+)\.txt")
_CLOCK = re.compile(r"(\d+):(\d\d)")


@dataclass(frozen=True, slots=True, eq=False)
class Readings:
    """One row for each line of the patients' files."""

    patient: IntArray  # position of the file
    minute: IntArray
    parameter: IntArray  # position in `names`
    value: FloatArray
    names: tuple[str, ...]


def read_challenge(places: Sequence[Path]) -> dict[str, SeriesSet]:
    """All patients of the sets whose outcomes are given, named like `a-132539` after set and record."""
    files = sorted(file for place in places for file in ([place] if place.is_file() else place.rglob("*.txt")))
    outcomes = [file for file in files if _OUTCOME_FILE.fullmatch(file.name)]
    patients = {int(match[1]): file for file in files if (match := _PATIENT_FILE.fullmatch(file.name)) is not None}
    if not outcomes or not patients:
        raise InvalidFile(
            f"{len(patients)} files of patients and {len(outcomes)} of outcomes in {', '.join(map(str, places))}; "
            "give set-a.zip and Outcomes-a.txt, and those of set b to test on."
        )
    fates = {record: fate for file in outcomes for record, fate in _read_outcomes(file).items()}
    _check_same(set(patients), set(fates), ", ".join(file.name for file in outcomes))
    order = sorted(patients, key=lambda record: (fates[record][0], record))
    readings = _read_patients([patients[record] for record in order])
    names = [f"{fates[record][0]}-{record}" for record in order]
    died = np.array([fates[record][1] for record in order])
    return {"patients": _pack(readings, names, died)}


def _read_outcomes(file: Path) -> dict[int, tuple[str, int]]:
    """Set and death of every record."""
    found = _OUTCOME_FILE.fullmatch(file.name)
    letter = found[1].lower() if found else ""
    head, *lines = file.read_text(encoding="utf-8-sig").splitlines()
    if head.strip() != OUTCOMES:
        raise InvalidFile(f"{file}, line 1: the columns are not those of the challenge, {OUTCOMES}.")
    fates = {}
    for number, line in enumerate(lines, start=2):
        if not line.strip():
            continue
        cells = line.strip().split(",")
        if len(cells) != 6 or not cells[0].isdigit() or cells[5] not in ("0", "1"):
            raise InvalidFile(f"{file}, line {number}: {line[:60]!r}; expected six numbers, a death of 0 or 1 last.")
        fates[int(cells[0])] = letter, int(cells[5])
    return fates


def _check_same(patients: set[int], known: set[int], where: str) -> None:
    odd = sorted(patients - known)
    if odd:
        raise InvalidFile(
            f"{len(odd)} patients, {odd[0]} first, are not in {where}; give the outcomes of their set, too."
        )
    odd = sorted(known - patients)
    if odd:
        raise InvalidFile(f"{len(odd)} records of {where}, {odd[0]} first, have no file; give the whole set.")


def _read_patients(files: Sequence[Path]) -> Readings:
    """The lines of all files, parsed as one table."""
    bodies = [_body(file) for file in track(files, f"{len(files)} patients")]
    lengths = np.array([body.count(b"\n") for body in bodies], dtype=np.int64)
    table = _parse(b"".join(bodies))
    if table is None or len(table.value) != lengths.sum():
        for file, body in zip(files, bodies, strict=True):
            if _parse(body) is None:
                raise InvalidFile(f"{file} cannot be parsed; expected lines like 00:07,HR,73.")
        raise InvalidFile(f"the patients from {files[0]} to {files[-1]} cannot be parsed.")
    known = {name: k for k, name in enumerate((*CHANNELS, *DESCRIPTORS))}
    unknown = [k for k, name in enumerate(table.names) if name not in known]
    patient = np.repeat(np.arange(len(files)), lengths)
    if unknown:
        row = int(np.flatnonzero(np.isin(table.parameter, unknown))[0])
        name = table.names[table.parameter[row]]
        raise InvalidFile(
            f"{files[patient[row]]}: unknown parameter {name!r}; the challenge has {len(CHANNELS)} others."
        )
    return Readings(patient, table.minute, table.parameter, table.value, table.names)


def _body(file: Path) -> bytes:
    head, _, body = file.read_bytes().replace(b"\r\n", b"\n").partition(b"\n")
    if head.strip() != HEADER:
        raise InvalidFile(f"{file}, line 1: {head[:40].decode(errors='replace')!r}; expected {HEADER.decode()}.")
    rows = body.rstrip(b"\n")
    if not rows:
        raise InvalidFile(f"{file} has no row after its header; it is truncated, so copy it again.")
    return rows + b"\n"


def _parse(text: bytes) -> Readings | None:
    """Minutes, parameters and values of all lines; None where one of them cannot be read."""
    import pyarrow as pa
    from pyarrow import csv

    words = pa.dictionary(pa.int32(), pa.string())
    try:
        table = csv.read_csv(
            pa.BufferReader(text),
            read_options=csv.ReadOptions(column_names=["time", "parameter", "value"], use_threads=False),
            parse_options=csv.ParseOptions(quote_char=False),
            convert_options=csv.ConvertOptions(
                column_types={"time": words, "parameter": words, "value": pa.float64()}, null_values=[]
            ),
        )
    except pa.ArrowInvalid:
        return None
    table = table.unify_dictionaries().combine_chunks()
    time, parameter = (table[name].chunk(0) for name in ("time", "parameter"))
    clocks = [_CLOCK.fullmatch(text) for text in time.dictionary.to_pylist()]
    if not all(clocks):
        return None
    minutes = np.array([60 * int(clock[1]) + int(clock[2]) for clock in clocks if clock], dtype=np.int64)
    return Readings(
        patient=np.zeros(len(table), dtype=np.int64),
        minute=minutes[time.indices.to_numpy()],
        parameter=parameter.indices.to_numpy().astype(np.int64),
        value=table["value"].to_numpy(),
        names=tuple(parameter.dictionary.to_pylist()),
    )


def _pack(readings: Readings, names: Sequence[str], died: IntArray) -> SeriesSet:
    position = {name: k for k, name in enumerate(CHANNELS)}
    describes = np.isin(readings.parameter, [k for k, name in enumerate(readings.names) if name in DESCRIPTORS])
    describes &= readings.minute == 0
    weight = np.array([name == "Weight" for name in readings.names])[readings.parameter]
    channel = np.array([position.get(name, -1) for name in readings.names])[readings.parameter]
    measured = ~describes & (channel >= 0) & ~(weight & (readings.value < 0))
    static = _descriptors(readings, describes, len(names))
    stamp = readings.patient[measured] * (1 << 20) + readings.minute[measured]  # increases with patient and time
    rows, row = np.unique(stamp, return_inverse=True)
    cell = row * len(CHANNELS) + channel[measured]
    size = len(rows) * len(CHANNELS)
    count = np.bincount(cell, minlength=size)
    total = np.bincount(cell, weights=readings.value[measured], minlength=size)
    values = np.where(count > 0, total / np.maximum(count, 1), np.nan).reshape(len(rows), len(CHANNELS))
    lengths = np.bincount(rows >> 20, minlength=len(names))
    seen = lengths > 0
    return SeriesSet(
        times=(rows & ((1 << 20) - 1)) / 60.0,
        values=values.astype(np.float32),
        offsets=np.concatenate([[0], np.cumsum(lengths[seen])]),
        start=np.zeros(int(seen.sum())),
        ids=np.array(names)[seen],
        channels=CHANNELS,
        static=static[seen],
        static_names=STATIC,
        target=died[seen].astype(np.int64),
        time_unit="h",
    )


def _descriptors(readings: Readings, describes: BoolArray, n: int) -> FloatArray:
    """What is known of each patient at admission [n, S]; NaN is unknown."""
    static = np.full((n, len(STATIC)), np.nan, dtype=np.float32)
    for k, name in enumerate(readings.names):
        rows = describes & (readings.parameter == k) & (readings.value >= 0)
        patient, value = readings.patient[rows], readings.value[rows]
        if name in NUMBERS:
            static[patient, NUMBERS.index(name)] = value
        elif name == "ICUType":
            odd = ~np.isin(value, range(1, len(UNITS) + 1))
            if odd.any():
                raise InvalidFile(f"an ICUType is {value[odd][0]:g}; the challenge has 1 to {len(UNITS)}.")
            static[patient, len(NUMBERS) :] = value[:, None] == np.arange(1, len(UNITS) + 1)
    return static


def in_set_a(series: SeriesSet) -> BoolArray:
    """Which patients belong to set a, by their names."""
    return np.char.startswith(series.ids, "a-")


def derive(parts: Parts, seed: int) -> dict[str, SeriesSet]:
    """Set a to learn from, the others to test on; set a alone is cut in three."""
    whole = parts["patients"]
    first = in_set_a(whole)
    sizes = split_sizes(count_usable(parts))
    a = stream(seed, "physionet-2012", "a").permutation(np.flatnonzero(first))
    others = stream(seed, "physionet-2012", "test").permutation(np.flatnonzero(~first))
    train, rest = a[: sizes.train], a[sizes.train :]
    return {
        "train": whole.select(train),
        "val": whole.select(rest[: sizes.val]),
        "test": whole.select(others if len(others) else rest[sizes.val :]),
    }


def count_usable(parts: Parts) -> dict[str, int]:
    first = in_set_a(parts["patients"])
    return {"patients": len(first), "a": int(first.sum())}


def split_sizes(usable: Mapping[str, int]) -> SplitSizes:
    n, others = usable["a"], usable["patients"] - usable["a"]
    if others:
        (cut,) = share_limits(n, 0.85)
        return SplitSizes(cut, n - cut, others)
    first, second = share_limits(n, 0.7, 0.15)
    return SplitSizes(first, second - first, n - second)


PHYSIONET_2012 = DerivedRecipe(
    name="physionet-2012",
    task="classification",
    metric="auroc",
    description="Death in intensive care, from the first 48 hours",
    sizes=SplitSizes(3397, 600, 3993),
    source=Source(
        name="physionet-2012",
        title="the sets a and b of the PhysioNet/CinC Challenge 2012 with their outcomes",
        page="https://physionet.org/content/challenge-2012/1.0.0/",
        url="https://physionet.org/content/challenge-2012/get-zip/1.0.0/",
        parts=PARTS,
        read=read_challenge,
        usable=count_usable,
        endings=frozenset({".txt"}),
    ),
    derive={"fair": derive, "paper": derive},
    split_sizes=split_sizes,
)
