"""Read the patient files of the PhysioNet/CinC Challenge 2019: one `.psv` per patient, one row per hour."""

import os
import re
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from denots.errors import InvalidFile
from denots.progress import track
from denots.shapes import FloatArray, IntArray

CHANNELS = (
    "HR", "O2Sat", "Temp", "SBP", "MAP", "DBP", "Resp", "EtCO2", "BaseExcess", "HCO3", "FiO2", "pH", "PaCO2", "SaO2",
    "AST", "BUN", "Alkalinephos", "Calcium", "Chloride", "Creatinine", "Bilirubin_direct", "Glucose", "Lactate",
    "Magnesium", "Phosphate", "Potassium", "Bilirubin_total", "TroponinI", "Hct", "Hgb", "PTT", "WBC", "Fibrinogen",
    "Platelets",
)  # fmt: skip
STATIC = ("Age", "Gender", "Unit1", "Unit2", "HospAdmTime")
COLUMNS = (*CHANNELS, *STATIC, "ICULOS", "SepsisLabel")
HEADER = "|".join(COLUMNS).encode()
CHUNK = 256  # files parsed together
_PATIENT = re.compile(r"p(\d{6})")


@dataclass(frozen=True, slots=True, eq=False)
class Stays:
    """Hourly rows of many patients, packed in the order of `patients`."""

    patients: IntArray  # [n]
    lengths: IntArray  # [n]
    values: FloatArray  # [N, 34] float32
    static: FloatArray  # [n, 5] float32
    hours: FloatArray  # [N], ICULOS: hours since admission to intensive care
    label: FloatArray  # [N], 1 from six hours before the onset of sepsis


def read_patients(files: Sequence[Path]) -> Stays:
    """Parse all files, in order of patient number, on all processors."""
    numbers = np.array([patient_number(file) for file in files], dtype=np.int64)
    order = np.argsort(numbers, kind="stable")
    ranked = [files[k] for k in order]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        chunks = [pool.submit(_read_chunk, ranked[k : k + CHUNK]) for k in range(0, len(ranked), CHUNK)]
        try:
            parts = [chunk.result() for chunk in track(chunks, f"{len(files)} patients")]
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise
    lengths, values, static, hours, label = (np.concatenate(columns) for columns in zip(*parts, strict=True))
    return Stays(numbers[order], lengths, values, static, hours, label)


def patient_number(file: Path) -> int:
    """From a name like p000123.psv; hospital B begins at 100001."""
    found = _PATIENT.fullmatch(file.stem)
    if found is None:
        raise InvalidFile(f"{file} is not named after a patient, such as p000123.psv; leave other .psv files out.")
    return int(found[1])


def _read_chunk(files: Sequence[Path]) -> tuple[IntArray, FloatArray, FloatArray, FloatArray, FloatArray]:
    """Lengths, values, static features, hours and labels of some patients, parsed as one table."""
    bodies = [_body(file) for file in files]
    lengths = np.array([body.count(b"\n") for body in bodies], dtype=np.int64)
    table = _parse(b"".join(bodies))
    if table is None or len(table) != lengths.sum():
        for file, body, length in zip(files, bodies, lengths, strict=True):
            alone = _parse(body)
            if alone is None or len(alone) != length:
                raise InvalidFile(_first_fault(file, body))
        raise InvalidFile(f"the patients from {files[0]} to {files[-1]} cannot be parsed.")
    first = np.concatenate([[0], np.cumsum(lengths)])[:-1]
    given = table[:, len(CHANNELS) : len(CHANNELS) + len(STATIC)]
    static = given[first]
    known = np.repeat(static, lengths, axis=0)
    varies = (given != known) & ~(np.isnan(given) & np.isnan(known))
    if varies.any():
        row, column = np.argwhere(varies)[0]
        file = files[int(np.searchsorted(first, row, side="right")) - 1]
        raise InvalidFile(f"{file}: {STATIC[column]} changes to {given[row, column]} during the stay; it must not.")
    values = table[:, : len(CHANNELS)].astype(np.float32)
    return lengths, values, static.astype(np.float32), table[:, -2].copy(), table[:, -1].copy()


def _body(file: Path) -> bytes:
    """The rows of a file without its header, each ended by a newline."""
    head, _, body = file.read_bytes().replace(b"\r\n", b"\n").partition(b"\n")
    if head.strip() != HEADER:
        raise InvalidFile(f"{file}, line 1: the columns are not those of the challenge, {HEADER[:24].decode()}...")
    rows = body.rstrip(b"\n")
    if not rows:
        raise InvalidFile(f"{file} has no row after its header; it is truncated, so copy it again.")
    return rows + b"\n"


def _parse(text: bytes) -> FloatArray | None:
    """All rows as numbers [N, 41]; None where one of them cannot be read."""
    import pyarrow as pa
    from pyarrow import csv

    try:
        table = csv.read_csv(
            pa.BufferReader(text),
            read_options=csv.ReadOptions(column_names=list(COLUMNS), use_threads=False),
            parse_options=csv.ParseOptions(delimiter="|", quote_char=False),
            convert_options=csv.ConvertOptions(
                column_types=dict.fromkeys(COLUMNS, pa.float64()), null_values=["NaN", ""]
            ),
        )
    except pa.ArrowInvalid:
        return None
    numbers = np.empty((len(table), len(COLUMNS)))
    for k, column in enumerate(table.columns):
        numbers[:, k] = column.to_numpy()
    return None if np.isnan(numbers[:, -2:]).any() else numbers


def _first_fault(file: Path, body: bytes) -> str:
    for number, line in enumerate(body.decode(errors="replace").splitlines(), start=2):
        cells = line.split("|")
        if len(cells) != len(COLUMNS):
            return f"{file}, line {number}: {len(cells)} cells; expected {len(COLUMNS)}."
        for name, cell in zip(COLUMNS, cells, strict=True):
            if not _is_number(cell, missing=name not in ("ICULOS", "SepsisLabel")):
                return f"{file}, line {number}: {name} is {cell!r}; expected a number."
    return f"{file} cannot be parsed as the challenge's table."


def _is_number(cell: str, missing: bool) -> bool:
    if not cell:
        return missing
    try:
        number = float(cell)
    except ValueError:
        return False
    return missing or not np.isnan(number)
