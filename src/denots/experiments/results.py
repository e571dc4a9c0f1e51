"""Records of all experiments in one folder: `results/<experiment>.jsonl`, appended and never edited."""

import hashlib
import json
import os
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from denots.backbones import BACKBONES
from denots.errors import InvalidFolder
from denots.runs.record import RunRecord, append_line, append_record, plain, read_lines, read_records
from denots.runs.spec import RunSpec


@dataclass(frozen=True)
class Findings:
    """What an experiment without training found, and how much it was asked to do."""

    options: dict[str, Any]
    findings: dict[str, Any]
    seconds: float
    versions: dict[str, str]


class Results:
    """What has been run, by experiment; a run that any of them recorded is not run again."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def records(self, experiment: str) -> list[RunRecord]:
        """One record a run, the latest: another process may have recorded the same run meanwhile."""
        return list({fingerprint(record.spec): record for record in read_records(self._file(experiment))}.values())

    def add(self, experiment: str, record: RunRecord) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        append_record(record, self._file(experiment))

    def find(self, spec: RunSpec, measures: Collection[str] = ()) -> RunRecord | None:
        """The record of exactly this run with all these measures, whichever experiment made it."""
        for file in sorted(self.folder.glob("*.jsonl")):
            for record in reversed(read_records(file)):
                if record.spec == spec and has_measures(record, measures):
                    return record
        return None

    def holds(self, experiment: str, record: RunRecord) -> bool:
        """Whether an experiment has a record of this run that tells as much."""
        return any(
            known.spec == record.spec and has_measures(known, record.extra) for known in self.records(experiment)
        )

    def findings(self, experiment: str) -> list[Findings]:
        file = self._studies(experiment)
        try:
            return [Findings(**json.loads(line)) for line in read_lines(file)]
        except (ValueError, TypeError) as error:
            raise InvalidFolder(f"{file} holds a line that is no study ({error}); remove it.") from error

    def add_findings(self, experiment: str, found: Findings) -> None:
        file = self._studies(experiment)
        file.parent.mkdir(parents=True, exist_ok=True)
        append_line(json.dumps(plain(asdict(found)), allow_nan=False), file)

    @contextmanager
    def claim(self, name: str) -> Iterator[Path | None]:
        """A folder for the checkpoints of a run, or None while another process is at it.

        The claim ends with the process, however it ends.
        """
        folder = self.scratch / name
        folder.mkdir(parents=True, exist_ok=True)
        lock = FileLock(folder.with_suffix(".lock"))
        try:
            lock.acquire(blocking=False)
        except Timeout:
            yield None
            return
        try:
            yield folder
        finally:
            lock.release()

    @cached_property
    def scratch(self) -> Path:
        """Unfinished runs; safe to delete while nothing runs."""
        return self.folder / ".unfinished"

    def _file(self, experiment: str) -> Path:
        return self.folder / f"{experiment}.jsonl"

    def _studies(self, experiment: str) -> Path:
        return self.folder / "studies" / f"{experiment}.jsonl"


def fingerprint(spec: RunSpec) -> str:
    """A name for a run that depends on nothing but its spec."""
    return hashlib.sha256(json.dumps(spec.as_dict(), sort_keys=True).encode()).hexdigest()[:16]


def has_measures(record: RunRecord, measures: Collection[str]) -> bool:
    """Whether a record tells all of this; trees are never measured."""
    return record.spec.backbone.name not in BACKBONES or set(measures) <= set(record.extra)


def write_whole(file: Path, content: bytes) -> None:
    """Write a file that appears whole or not at all."""
    file.parent.mkdir(parents=True, exist_ok=True)
    fresh = file.with_name(f".{file.name}.new")
    fresh.write_bytes(content)
    os.replace(fresh, file)
