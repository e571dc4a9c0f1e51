"""Small data in the formats in which the real data sets are published."""

from pathlib import Path

import numpy as np
import numpy.typing as npt

CHANNELS = [
    "HR", "O2Sat", "Temp", "SBP", "MAP", "DBP", "Resp", "EtCO2", "BaseExcess", "HCO3", "FiO2", "pH", "PaCO2", "SaO2",
    "AST", "BUN", "Alkalinephos", "Calcium", "Chloride", "Creatinine", "Bilirubin_direct", "Glucose", "Lactate",
    "Magnesium", "Phosphate", "Potassium", "Bilirubin_total", "TroponinI", "Hct", "Hgb", "PTT", "WBC", "Fibrinogen",
    "Platelets",
]  # fmt: skip
STATIC = ["Age", "Gender", "Unit1", "Unit2", "HospAdmTime"]
Part = tuple[npt.NDArray[np.float32], npt.NDArray[np.str_]]


def gestures(
    train: int = 20, test: int = 12, *, steps: int = 40, channels: int = 3, classes: int = 4
) -> dict[str, Part]:
    """Random values [n, L, C] and labels for both parts, classes in equal numbers and in order."""
    rng = np.random.default_rng(7)
    return {
        part: (
            rng.normal(size=(n, steps, channels)).astype(np.float32),
            np.sort(np.arange(n) % classes).astype(str),
        )
        for part, n in (("TRAIN", train), ("TEST", test))
    }


def cells(row: npt.NDArray[np.floating]) -> str:
    return ",".join("?" if np.isnan(x) else repr(float(x)) for x in row)


def write_ts(folder: Path, archive: str, data: dict[str, Part]) -> None:
    for part, (values, labels) in data.items():
        lines = [f"@problemName {archive}", "@timeStamps false", f"@dimensions {values.shape[2]}", "@equalLength true"]
        lines += [f"@seriesLength {values.shape[1]}", f"@classLabel true {' '.join(np.unique(labels))}", "@data"]
        for table, label in zip(values, labels, strict=True):
            lines.append(":".join([*(cells(channel) for channel in table.T), label]))
        (folder / f"{archive}_{part}.ts").write_text("\n".join(lines) + "\n")


def write_arff(folder: Path, archive: str, data: dict[str, Part]) -> None:
    for part, (values, labels) in data.items():
        lines = [f"@relation {archive}", "@attribute relationalAtt relational"]
        lines += [f"@attribute att{k} numeric" for k in range(values.shape[1])]
        lines += ["@end relationalAtt", f"@attribute classAttribute {{{','.join(np.unique(labels))}}}", "@data"]
        for table, label in zip(values, labels, strict=True):
            lines.append("'" + "\\n".join(cells(channel) for channel in table.T) + f"',{label}")
        (folder / f"{archive}_{part}.arff").write_text("\n".join(lines) + "\n")


def write_packed(folder: Path, archive: str, data: dict[str, Part]) -> None:
    classes = np.unique(data["TRAIN"][1])
    arrays = {"classes": classes}
    for part, (values, labels) in data.items():
        arrays |= {f"X_{part.lower()}": values, f"y_{part.lower()}": np.searchsorted(classes, labels).astype(np.int16)}
    np.savez(folder / f"{archive}.npz", **arrays)


class Patient:
    """One stay: hourly values with holes, to two decimals as the challenge has them."""

    def __init__(self, number: int, hours: int, first: int = 1, onset: int = -1, silent: bool = False) -> None:
        rng = np.random.default_rng(number)
        self.number, self.first, self.onset, self.hours = number, first, onset, hours
        self.values = np.round(rng.uniform(1, 200, (hours, len(CHANNELS))), 2)
        self.values[rng.uniform(size=self.values.shape) < 0.8] = np.nan
        if silent:
            self.values[:] = np.nan
        unit = float(rng.integers(2))
        self.static = np.array([round(rng.uniform(20, 90), 2), float(rng.integers(2)), unit, 1 - unit, -3.5])
        if number % 3 == 0:
            self.static[2:4] = np.nan

    def text(self) -> str:
        lines = ["|".join([*CHANNELS, *STATIC, "ICULOS", "SepsisLabel"])]
        for hour, row in enumerate(self.values):
            plain = ["NaN" if np.isnan(x) else repr(float(x)) for x in [*row, *self.static]]
            lines.append("|".join([*plain, str(self.first + hour), str(int(0 <= self.onset <= hour))]))
        return "\n".join(lines) + "\n"


def hospitals() -> dict[str, list[Patient]]:
    """Stays of all kinds: long, late, short, silent, and septic before and after the window."""
    a = [Patient(k, 8 + k) for k in range(1, 17)] + [
        Patient(17, 90, onset=80),  # sepsis after the 72 hours that are seen
        Patient(18, 20, first=5, onset=3),
        Patient(19, 10, first=75),  # begins after the window
        Patient(20, 9, first=68),  # four rows inside it
    ]
    b = [Patient(100_000 + k, 10 + k, onset=4 if k % 4 == 0 else -1) for k in range(1, 13)]
    return {"A": a, "B": [*b, Patient(100_013, 12, silent=True)]}


def write_patients(folder: Path, data: dict[str, list[Patient]]) -> None:
    for name, patients in data.items():
        place = folder / f"training_set{name}"
        place.mkdir(parents=True)
        for patient in patients:
            (place / f"p{patient.number:06d}.psv").write_text(patient.text())


def write_packed_patients(folder: Path, data: dict[str, list[Patient]]) -> None:
    for name, patients in data.items():
        np.savez(
            folder / f"set{name}.npz",
            values=np.concatenate([p.values for p in patients]).astype(np.float32),
            lengths=np.array([p.hours for p in patients], dtype=np.int32),
            patient_id=np.array([p.number for p in patients], dtype=np.int32),
            static=np.stack([p.static for p in patients]).astype(np.float32),
            first_iculos=np.array([p.first for p in patients], dtype=np.float32),
            label_onset=np.array([p.onset for p in patients], dtype=np.int32),
            value_names=np.array(CHANNELS),
            static_names=np.array(STATIC),
        )
