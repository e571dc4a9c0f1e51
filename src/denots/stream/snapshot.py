"""The memory of a stream in one file: plain values as JSON, and arrays; whole or not at all."""

import hashlib
import json
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from denots.errors import InvalidFile
from denots.folders import write_file_whole
from denots.inference.state import State
from denots.tensors import pack, unpack

FORMAT = b"denots-stream "
MARK = FORMAT + b"2\n"


class Snapshot(NamedTuple):
    values: dict[str, Any]
    arrays: dict[str, npt.NDArray[Any]]

    def write(self, file: Path) -> None:
        """A line with the format, one with a checksum, one of JSON, then the arrays."""
        body = json.dumps(self.values).encode() + b"\n" + pack(self.arrays)
        write_file_whole(file, MARK + hashlib.sha256(body).hexdigest().encode() + b"\n" + body)

    @classmethod
    def read(cls, file: Path) -> "Snapshot":
        content = file.read_bytes()
        if content.startswith(FORMAT) and not content.startswith(MARK):
            raise InvalidFile(f"{file} was written by another version of this program; start without it.")
        if not content.startswith(MARK):
            raise InvalidFile(f"{file} is no snapshot of a stream; name another file, or start without one.")
        checksum, _, body = content[len(MARK) :].partition(b"\n")
        if hashlib.sha256(body).hexdigest().encode() != checksum:
            raise InvalidFile(f"{file} is truncated or was changed after it was written; start without it.")
        text, _, arrays = body.partition(b"\n")
        try:
            return cls(json.loads(text), unpack(arrays))
        except (ValueError, InvalidFile) as error:
            raise InvalidFile(f"{file} cannot be read ({error}); start without it.") from error


def digest_of(state: State) -> str:
    """What tells a fitted system from any other."""
    found = hashlib.sha256(json.dumps(state.values, sort_keys=True).encode())
    for name, array in sorted(state.arrays.items()):
        found.update(f"{name} {array.dtype.str} {array.shape}".encode())
        found.update(np.ascontiguousarray(array).tobytes())
    return found.hexdigest()
