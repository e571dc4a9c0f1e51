"""Records of all experiments in one folder: `results/<experiment>.jsonl`, appended and never edited."""

import hashlib
import json
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path

from filelock import FileLock, Timeout

from denots.training.record import RunRecord, append_record, read_records
from denots.training.spec import RunSpec


class Results:
    """What has been run, by experiment; a run that any of them recorded is not run again."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def records(self, experiment: str) -> list[RunRecord]:
        return read_records(self._file(experiment))

    def add(self, experiment: str, record: RunRecord) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        append_record(record, self._file(experiment))

    def find(self, spec: RunSpec, measures: Collection[str] = ()) -> RunRecord | None:
        """The record of exactly this run with all these measures, whichever experiment made it."""
        for file in sorted(self.folder.glob("*.jsonl")):
            for record in reversed(read_records(file)):
                if record.spec == spec and set(measures) <= set(record.extra):
                    return record
        return None

    @contextmanager
    def claim(self, spec: RunSpec) -> Iterator[Path | None]:
        """A folder for the checkpoints of a run, or None while another process is at it.

        The claim ends with the process, however it ends.
        """
        folder = self.scratch / fingerprint(spec)
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


def fingerprint(spec: RunSpec) -> str:
    """A name for a run that depends on nothing but its spec."""
    return hashlib.sha256(json.dumps(spec.as_dict(), sort_keys=True).encode()).hexdigest()[:16]
