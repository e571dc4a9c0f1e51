"""Arrays by name in one block of bytes, in the safetensors format: a length, a header in JSON, then the numbers."""

import json
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from denots.errors import InvalidFile

_TYPES = {
    "BOOL": "?",
    "U8": "u1",
    "I8": "i1",
    "I16": "<i2",
    "U16": "<u2",
    "F16": "<f2",
    "I32": "<i4",
    "U32": "<u4",
    "F32": "<f4",
    "I64": "<i8",
    "U64": "<u8",
    "F64": "<f8",
}
_NAMES = {np.dtype(kind): name for name, kind in _TYPES.items()}
LARGEST_HEADER = 100_000_000  # bytes, as the format has it
ALIGNED = 8


def pack(arrays: Mapping[str, npt.NDArray[Any]]) -> bytes:
    """The widest numbers first, and then by name, so that each begins at a multiple of its size."""
    parts = {name: np.asarray(array, order="C") for name, array in arrays.items()}
    header: dict[str, Any] = {}
    body, place = [], 0
    for name in sorted(parts, key=lambda own: (-parts[own].dtype.itemsize, own)):
        array = parts[name].astype(parts[name].dtype.newbyteorder("<"), copy=False)
        if array.dtype not in _NAMES:
            raise TypeError(f"array {name!r} holds {array.dtype}, which the format does not know")
        offsets = [place, place + array.nbytes]
        header[name] = {"dtype": _NAMES[array.dtype], "shape": list(array.shape), "data_offsets": offsets}
        body.append(array.tobytes())
        place = offsets[1]
    head = json.dumps(header, separators=(",", ":")).encode()
    head += b" " * (-len(head) % ALIGNED)
    return b"".join([len(head).to_bytes(8, "little"), head, *body])


def unpack(content: bytes) -> dict[str, npt.NDArray[Any]]:
    """What was packed, as arrays of their own; anything else is an InvalidFile."""
    size = int.from_bytes(content[:8], "little")
    if len(content) < 8 or not 2 <= size <= min(LARGEST_HEADER, len(content) - 8):
        raise InvalidFile("the arrays have no header; the file is truncated or no safetensors file.")
    body = memoryview(content)[8 + size :]
    try:
        header = json.loads(content[8 : 8 + size])
        header.pop("__metadata__", None)
        found = {name: _array(body, **facts) for name, facts in header.items()}
        end = max((facts["data_offsets"][1] for facts in header.values()), default=0)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise InvalidFile(f"the arrays do not fit their header ({error}).") from error
    if end != len(body):
        raise InvalidFile(f"the arrays end at byte {end} of {len(body)}; the file is truncated or changed.")
    return found


def _array(body: memoryview, dtype: str, shape: list[int], data_offsets: list[int]) -> npt.NDArray[Any]:
    first, last = data_offsets
    if not 0 <= first <= last <= len(body) or any(size < 0 for size in shape):
        raise ValueError("an array lies outside of the file")
    return np.frombuffer(body[first:last], dtype=_TYPES[dtype]).reshape(shape).copy()
