"""What has been found, in one folder: `runs.jsonl` has every run, `studies/` what needs none."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from denots.errors import InvalidFolder
from denots.runs.record import RunRecord, append_line, plain, read_lines
from denots.runs.store import RunStore


@dataclass(frozen=True)
class Findings:
    """What an experiment without training found, and how much it was asked to do."""

    options: dict[str, Any]
    findings: dict[str, Any]
    seconds: float
    versions: dict[str, str]


class Results:
    """One store of runs, which experiments ask for theirs: a run that any of them has made is not made again."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.runs = RunStore(folder / "runs.jsonl")

    def records(self, experiment: str) -> list[RunRecord]:
        """The runs that an experiment asked for."""
        return [entry.record for entry in self.runs.entries() if experiment in entry.experiments]

    def findings(self, experiment: str) -> list[Findings]:
        file = self._studies(experiment)
        try:
            return [Findings(**json.loads(line)) for line in read_lines(file)]
        except (ValueError, TypeError) as error:
            raise InvalidFolder(f"{file} holds a line that is no study ({error}); remove it.") from error

    def add_findings(self, experiment: str, found: Findings) -> None:
        file = self._studies(experiment)
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

    def _studies(self, experiment: str) -> Path:
        return self.folder / "studies" / f"{experiment}.jsonl"
