"""Answers that are written once: a snapshot knows how many lines were read, and how long the answers were by then."""

import hashlib
import os
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import BinaryIO

from denots.errors import InvalidFile, InvalidOption
from denots.stream.lines import Lines, encoded
from denots.stream.snapshot import Snapshot
from denots.stream.stream import Stream

SHARE = 0.1  # of the time that snapshots may take


class Journal:
    """Reads lines and writes answers, and after any end goes on from its snapshot, given the same lines again.

    In a file, what was written after the snapshot is cut off and written again, so that it holds every answer once. What has
    gone into a pipe cannot be taken back: there answers come again, with the same numbers and the same bytes.

    Args:
        out: file for the answers; None is standard output.
        kept: file of the snapshot; None keeps none.
        every: lines after which it is written, unless that would take more than a SHARE of the time.
    """

    def __init__(self, stream: Stream, *, out: Path | None, kept: Path | None, every: int) -> None:
        self.stream, self.kept, self.every = stream, kept, every
        self.lines, self.size = Lines(stream), None if out is None else 0
        self._read, self._expected = hashlib.sha256(), ""
        self._due, self._pause, self._ended = 0, 0.0, time.monotonic()
        found = 0 if out is None or not out.exists() else out.stat().st_size
        if kept is not None and kept.exists():
            self._resume(Snapshot.read(kept))
        elif kept is not None and found:
            raise InvalidOption(f"{out} has answers already, but there is no snapshot {kept}; name another file.")
        if found < (self.size or 0):
            raise InvalidFile(
                f"{out} has {found} bytes, and {kept} knows of {self.size}; it was changed. Start without them."
            )
        self.out: AbstractContextManager[BinaryIO] = (
            nullcontext(sys.stdout.buffer) if out is None else _cut(out, self.size or 0)
        )

    def run(self, source: Iterable[list[bytes | None]]) -> None:
        """Answer all lines. An end between two reads leaves a snapshot; one amid an answer leaves the one before."""
        with self.out as out:
            self._run(source, out)

    def _run(self, source: Iterable[list[bytes | None]], out: BinaryIO) -> None:
        left, whole = self.lines.events, not self.lines.events
        if whole:
            self._keep(out)  # before the first answer, so that one in the file is known to be ours
        try:
            for lines in source:
                whole = False
                over, lines = lines[:left], lines[left:]
                left -= len(over)
                self._pass(over, left)
                if lines:
                    self._answer(lines, out)
                whole = not left
                if whole and self.lines.events >= self._due and time.monotonic() >= self._ended + self._pause:
                    self._keep(out)
        finally:
            if whole:
                self._keep(out)
        if left:
            raise InvalidFile(
                f"the input ended {left} lines before the end of what {self.kept} has seen; give the same input again, or start "
                "without it."
            )

    def _pass(self, lines: list[bytes | None], left: int) -> None:
        """Pass over lines that the snapshot has seen."""
        self._hash(lines)
        if lines and not left and self._read.hexdigest() != self._expected:
            raise InvalidFile(
                f"the first {self.lines.events} lines of the input are not those that {self.kept} has seen; give the same input "
                "again, or start without it."
            )

    def _answer(self, lines: list[bytes | None], out: BinaryIO) -> None:
        self._hash(lines)
        text = encoded(self.lines.answered(lines))
        out.write(text)
        out.flush()
        if self.size is not None:
            self.size += len(text)

    def _hash(self, lines: list[bytes | None]) -> None:
        for line in lines:
            self._read.update(b"too long\n" if line is None else line + b"\n")

    def _keep(self, out: BinaryIO) -> None:
        """Write the snapshot, and before it to the disk all answers that it knows of."""
        if self.kept is None:
            return
        started = time.monotonic()
        if self.size is not None:
            os.fsync(out.fileno())
        taken = self.stream.snapshot()
        journal = {
            "lines": self.lines.events,
            "answers": self.lines.answers,
            "bytes": self.size,
            "input": self._read.hexdigest(),
        }
        taken._replace(values=taken.values | {"journal": journal}).write(self.kept)
        self._ended = time.monotonic()
        self._due, self._pause = self.lines.events + self.every, (self._ended - started) / SHARE

    def _resume(self, snapshot: Snapshot) -> None:
        journal = snapshot.values.get("journal")
        if journal is None:
            raise InvalidFile(f"{self.kept} was not written by `denots stream`; start without it.")
        if (journal["bytes"] is None) != (self.size is None):
            where = "standard output" if journal["bytes"] is None else "a file"
            raise InvalidOption(f"the answers that {self.kept} knows of went to {where}; send the others there, too.")
        self.stream.restore(snapshot)
        self.lines = Lines(self.stream, journal["lines"], journal["answers"])
        self.size, self._expected = journal["bytes"], journal["input"]


@contextmanager
def _cut(out: Path, size: int) -> Iterator[BinaryIO]:
    """The file, cut to so many bytes and ready for more."""
    out.parent.mkdir(parents=True, exist_ok=True)
    with out.open("r+b" if out.exists() else "w+b") as file:
        file.truncate(size)
        file.seek(size)
        yield file
