"""What a run found, and what made it, as one line of JSON."""

import json
import math
import os
import platform
from dataclasses import asdict, dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any, Literal

from filelock import FileLock

import denots
from denots.errors import InvalidFolder
from denots.runs.origin import Origin
from denots.runs.spec import RunSpec

FILE = "record.jsonl"
Status = Literal["ok", "some-failed", "all-failed"]


@dataclass(frozen=True)
class RunRecord:
    """Everything that tables and figures are made of.

    metrics: split -> metric -> value; failed series count as wrong, None is not defined.
    evaluations: field calls per test series, mean and max; None for backbones that solve nothing.
    failed: test series that could not be solved, which decides the status.
    seconds: of training, over all parts of a resumed run.
    origin: which code made it, with which solver, for which profile.
    extra: what was measured on the trained model, by name of the measure.
    """

    spec: RunSpec
    status: Status
    metrics: dict[str, dict[str, float | None]]
    curve: list[dict[str, float | None]]
    parameters: int
    evaluations: dict[str, float] | None
    failed: int
    seconds: float
    test_seconds: float
    versions: dict[str, str]
    origin: Origin = field(default_factory=Origin)
    extra: dict[str, Any] = field(default_factory=dict)

    def to_json(self) -> str:
        return json.dumps(plain({**asdict(self), "spec": self.spec.as_dict()}), allow_nan=False)

    @classmethod
    def from_json(cls, line: str) -> "RunRecord":
        return cls.from_dict(json.loads(line))

    @classmethod
    def from_dict(cls, content: dict[str, Any]) -> "RunRecord":
        """The record of these plain values; what those of earlier versions do not say is unknown."""
        parts = {"spec": RunSpec.from_dict(content["spec"]), "origin": Origin(**content.get("origin", {}))}
        return cls(**{**content, **parts})


def append_record(record: RunRecord, file: Path) -> None:
    append_line(record.to_json(), file)


def append_line(line: str, file: Path) -> None:
    """Add a line to the file; many processes may do so at once, and one killed meanwhile harms no line."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(file.with_name(f".{file.name}.lock")), file.open("ab+") as stream:
        stream.seek(0)
        whole = stream.read().rpartition(b"\n")[0]
        stream.truncate(len(whole) + 1 if whole else 0)  # a line that was being written when its process died
        stream.write(f"{line}\n".encode())
        stream.flush()
        os.fsync(stream.fileno())


def read_records(file: Path) -> list[RunRecord]:
    """All records of a file; none where there is no file. An unfinished last line is no record."""
    records = []
    for number, line in enumerate(read_lines(file), start=1):
        try:
            records.append(RunRecord.from_json(line))
        except (ValueError, KeyError, TypeError) as error:
            raise InvalidFolder(f"{file}, line {number} is not a run record ({error}); remove the line.") from error
    return records


def read_lines(file: Path) -> list[str]:
    """The finished lines of a file; none where there is no file."""
    return file.read_text(encoding="utf-8").split("\n")[:-1] if file.exists() else []


def find_record(file: Path, spec: RunSpec) -> RunRecord | None:
    """The latest record of exactly this run."""
    return next((record for record in reversed(read_records(file)) if record.spec == spec), None)


def versions() -> dict[str, str]:
    """What a result may depend on besides its spec."""
    libraries = {name: version(name) for name in ("torch", "numpy")}
    return {
        "denots": denots.__version__,
        "python": platform.python_version(),
        **libraries,
        "platform": f"{platform.system()}-{platform.machine()}",
        "processor": f"{os.cpu_count()} x {_processor()}",
    }


def _processor() -> str:
    """The model of the processor, where the system tells it."""
    cpuinfo = Path("/proc/cpuinfo")
    lines = cpuinfo.read_text().splitlines() if cpuinfo.exists() else []
    models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return models[0] if models else platform.processor() or "unknown"


def plain(value: Any) -> Any:
    """The same content with None for numbers that JSON does not have."""
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
