"""Keep a SeriesSet in a folder: `series.npz` with the arrays, `manifest.json` with what they are.

A folder appears whole or not at all, and it opens unchanged or not at all: the manifest
holds one hash of the file, checked before anything in it is read, and one of the content.
"""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from denots.data.series import SeriesSet, content_fields
from denots.errors import InvalidFolder, InvalidSeries
from denots.folders import file_hash, holds_only, package_version, read_manifest, write_manifest, written_whole

FORMAT = "denots-series"
FORMAT_VERSION = 1
MANIFEST = "manifest.json"
ARRAYS = "series.npz"
LATER = {"target_names", "row_target"}  # fields that sets did not always have
_STORABLE = "biufcUSmM"  # dtype kinds that numpy writes without pickle


def save_series_set(series: SeriesSet, folder: Path) -> None:
    """Write the set to `folder`, replacing an earlier set there but nothing else."""
    arrays: dict[str, Any] = {name: value for name, value in _content(series).items() if isinstance(value, np.ndarray)}
    for name, array in arrays.items():
        if array.dtype.kind not in _STORABLE:
            raise InvalidSeries(f"{name} are of type {array.dtype}, which has no file format; use numbers or text.")
    with written_whole(folder, replaceable=_is_series_folder) as draft:
        np.savez(draft / ARRAYS, **arrays)
        manifest = {
            "format": FORMAT,
            "format_version": FORMAT_VERSION,
            "denots_version": package_version(),
            "series": len(series),
            "observations": len(series.times),
            "channels": list(series.channels),
            "static_names": list(series.static_names),
            **({"target_names": list(series.target_names)} if series.target_names else {}),
            "time_unit": series.time_unit,
            "content_sha256": content_hash(series),
            "file_sha256": file_hash(draft / ARRAYS),
        }
        write_manifest(draft / MANIFEST, manifest)


def open_series_set(folder: Path) -> SeriesSet:
    """Read what `save_series_set` wrote; raise InvalidFolder when a byte of it changed."""
    manifest = read_manifest(folder / MANIFEST, FORMAT, FORMAT_VERSION)
    arrays = folder / ARRAYS
    if not arrays.is_file():
        raise InvalidFolder(f"{folder} has a manifest but no {ARRAYS}; the data are lost, so write or copy it again.")
    if file_hash(arrays) != manifest.get("file_sha256"):
        raise InvalidFolder(f"{arrays} was changed or truncated after it was written; write or copy it again.")
    try:
        with np.load(arrays, allow_pickle=False) as archive:
            content: dict[str, Any] = {name: archive[name] for name in archive.files}
    except ValueError as error:
        raise InvalidFolder(f"{arrays} holds something else than plain arrays ({error}); do not trust it.") from error
    content |= {name: _names(manifest, name) for name in ("channels", "static_names", "target_names")}
    content["time_unit"] = manifest.get("time_unit")
    content = {name: content.get(name) for name in content_fields()}
    if _content_hash(content) != manifest.get("content_sha256"):
        raise InvalidFolder(f"{folder / MANIFEST} does not describe {ARRAYS} any more; write or copy the folder again.")
    return SeriesSet(**content)


def content_hash(series: SeriesSet) -> str:
    """A sha256 that identifies the data, whatever file they came from.

    It covers every field and its type. Byte order, the width of text arrays and the
    payload of NaN do not matter.
    """
    return _content_hash(_content(series))


def stored_hash(folder: Path) -> str:
    """The content hash that the manifest names; `open_series_set` checks that the data have it."""
    return str(read_manifest(folder / MANIFEST, FORMAT, FORMAT_VERSION).get("content_sha256"))


def _content(series: SeriesSet) -> dict[str, Any]:
    return {name: getattr(series, name) for name in content_fields()}


def _content_hash(content: Mapping[str, Any]) -> str:
    digest = hashlib.sha256()
    for name, value in content.items():
        if name in LATER and (value is None or not len(value)):
            continue  # sets without it keep the hash that they had before there was such a thing
        if isinstance(value, np.ndarray) and value.dtype.kind != "U":
            plain = _plain(value)
            digest.update(f"{name} {plain.dtype.str} {value.shape}\n".encode())
            digest.update(plain.reshape(-1).view(np.uint8).data)
        else:
            text = value.tolist() if isinstance(value, np.ndarray) else value
            digest.update(f"{name} {json.dumps(text)}\n".encode())
    return digest.hexdigest()


def _names(manifest: Mapping[str, Any], key: str) -> tuple[Any, ...]:
    names = manifest.get(key)
    return tuple(names) if isinstance(names, list) else ()


def _plain(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Contiguous, little-endian, with one kind of NaN: their sign differs between processors."""
    if array.dtype.kind == "f":
        array = np.where(np.isnan(array), array.dtype.type(np.nan), array)
    return np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<"))


def _is_series_folder(folder: Path) -> bool:
    return holds_only(folder, {MANIFEST, ARRAYS}) and _is_readable(folder / MANIFEST)


def _is_readable(manifest: Path) -> bool:
    try:
        read_manifest(manifest, FORMAT, FORMAT_VERSION)
    except InvalidFolder:
        return False
    return True
