"""All runs in one file: every run stands once, with what was measured on it and the experiments that asked for it."""

import json
from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from denots.backbones import BACKBONES
from denots.errors import InvalidFolder
from denots.runs.record import RunRecord, append_line, plain, read_lines
from denots.runs.spec import RunSpec


@dataclass(frozen=True)
class Entry:
    """A run, and the experiments that asked for it."""

    record: RunRecord
    experiments: frozenset[str] = frozenset()


class RunStore:
    """A file of lines that are appended and never edited.

    A line is a record, or something that is added to the latest record of its spec: measures, or
    experiments that ask for it. A later record of the same spec stands for the earlier one, which stays.
    """

    def __init__(self, file: Path) -> None:
        self.file = file
        self._read: tuple[tuple[int, int], dict[str, Entry]] | None = None

    def entries(self) -> list[Entry]:
        return list(self._entries().values())

    def find(self, spec: RunSpec, measures: Collection[str] = ()) -> Entry | None:
        """The run of exactly this spec, if it has all these measures."""
        entry = self._entries().get(spec.fingerprint)
        return entry if entry is not None and has_measures(entry.record, measures) else None

    def add(self, record: RunRecord, experiments: Iterable[str] = ()) -> None:
        """Store a run; if the store has it already, this one stands from now on."""
        line = {**json.loads(record.to_json()), "experiments": sorted(experiments)}
        append_line(json.dumps(line, allow_nan=False), self.file)

    def extend(self, spec: RunSpec, *, experiments: Iterable[str] = (), extra: dict[str, Any] | None = None) -> None:
        """Add measures, or experiments that ask for it, to a run that the store has."""
        line = {"spec": spec.as_dict(), "experiments": sorted(experiments), "extra": plain(extra or {})}
        append_line(json.dumps(line, allow_nan=False), self.file)

    def _entries(self) -> dict[str, Entry]:
        """What the file says now; read again only after it changed."""
        if not self.file.exists():
            return {}
        state = self.file.stat()
        stamp = (state.st_mtime_ns, state.st_size)
        if self._read is None or self._read[0] != stamp:
            self._read = (stamp, self._parsed())
        return self._read[1]

    def _parsed(self) -> dict[str, Entry]:
        found: dict[str, Entry] = {}
        for number, line in enumerate(read_lines(self.file), start=1):
            try:
                _take(json.loads(line), found)
            except (ValueError, KeyError, TypeError) as error:
                raise InvalidFolder(
                    f"{self.file}, line {number} is not a run record ({error}); remove the line."
                ) from error
        return found


def _take(content: dict[str, Any], found: dict[str, Entry]) -> None:
    experiments = frozenset(content.pop("experiments"))
    if "metrics" in content:
        record = RunRecord.from_dict(content)
        earlier = found.get(record.spec.fingerprint, Entry(record))
        found[record.spec.fingerprint] = Entry(record, earlier.experiments | experiments)
    else:
        name = RunSpec.from_dict(content["spec"]).fingerprint
        entry = found[name]
        record = replace(entry.record, extra={**entry.record.extra, **content["extra"]})
        found[name] = Entry(record, entry.experiments | experiments)


def has_measures(record: RunRecord, measures: Collection[str]) -> bool:
    """Whether a record tells all of this; only trained backbones are ever measured."""
    return record.spec.backbone.name not in BACKBONES or set(measures) <= set(record.extra)
