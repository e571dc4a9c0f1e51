"""Keep a SeriesSet in a folder: `series.npz` with the arrays, `manifest.json` with what they are.

A folder appears whole or not at all, and it opens unchanged or not at all: the manifest
holds one hash of the file, checked before anything in it is read, and one of the content.
"""

import hashlib
import json
import os
import secrets
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import fields
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from denots.data.series import SeriesSet
from denots.errors import InvalidFolder, InvalidSeries

FORMAT = "denots-series"
FORMAT_VERSION = 1
MANIFEST = "manifest.json"
ARRAYS = "series.npz"
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
            "time_unit": series.time_unit,
            "content_sha256": content_hash(series),
            "file_sha256": _file_hash(draft / ARRAYS),
        }
        write_manifest(draft / MANIFEST, manifest)


def open_series_set(folder: Path) -> SeriesSet:
    """Read what `save_series_set` wrote; raise InvalidFolder when a byte of it changed."""
    manifest = read_manifest(folder / MANIFEST, FORMAT, FORMAT_VERSION)
    arrays = folder / ARRAYS
    if not arrays.is_file():
        raise InvalidFolder(f"{folder} has a manifest but no {ARRAYS}; the data are lost, so write or copy it again.")
    if _file_hash(arrays) != manifest.get("file_sha256"):
        raise InvalidFolder(f"{arrays} was changed or truncated after it was written; write or copy it again.")
    try:
        with np.load(arrays, allow_pickle=False) as archive:
            content: dict[str, Any] = {name: archive[name] for name in archive.files}
    except ValueError as error:
        raise InvalidFolder(f"{arrays} holds something else than plain arrays ({error}); do not trust it.") from error
    content |= {"channels": _names(manifest, "channels"), "static_names": _names(manifest, "static_names")}
    content["time_unit"] = manifest.get("time_unit")
    content = {field.name: content.get(field.name) for field in fields(SeriesSet)}
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


@contextmanager
def written_whole(
    folder: Path, *, replaceable: Callable[[Path], bool], existing: Literal["replace", "keep"] = "replace"
) -> Iterator[Path]:
    """Yield a hidden folder beside `folder` to write into; it takes that name when the block ends well.

    After an error nothing is left behind and an earlier `folder` is untouched. With
    `existing="keep"`, a folder that another process finished meanwhile stays.
    """
    folder = folder.resolve()
    _check_free(folder, replaceable)
    folder.parent.mkdir(parents=True, exist_ok=True)
    draft = _sibling(folder)
    draft.mkdir()
    try:
        yield draft
        _check_free(folder, replaceable)
        try:
            _move_in(draft, folder, existing)
        except OSError:
            if existing == "replace" or not _occupied(folder):
                raise
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def write_manifest(file: Path, manifest: Mapping[str, Any]) -> None:
    file.write_text(json.dumps(manifest, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def read_manifest(file: Path, expected: str, newest: int) -> dict[str, Any]:
    """The manifest, once its format is `expected` and its version at most `newest`."""
    try:
        manifest = json.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise InvalidFolder(
            f"{file.parent} is not a {expected} folder: {file.name} cannot be read ({error})."
        ) from error
    except ValueError as error:
        raise InvalidFolder(f"{file} is damaged ({error}); write or copy the folder again.") from error
    if not isinstance(manifest, dict) or manifest.get("format") != expected:
        raise InvalidFolder(f"{file} does not describe a {expected} folder.")
    found = manifest.get("format_version")
    if not isinstance(found, int) or found < 1:
        raise InvalidFolder(f"{file} has format_version {found!r}; expected 1 to {newest}.")
    if found > newest:
        raise InvalidFolder(
            f"{file.parent} was written by denots {manifest.get('denots_version')} in format {found}; "
            f"this version reads up to format {newest}, so upgrade denots."
        )
    return manifest


def package_version() -> str:
    try:
        return version("denots")
    except PackageNotFoundError:  # run from a source tree
        return "unknown"


def _content(series: SeriesSet) -> dict[str, Any]:
    return {field.name: getattr(series, field.name) for field in fields(series)}


def _content_hash(content: Mapping[str, Any]) -> str:
    digest = hashlib.sha256()
    for name, value in content.items():
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


def _file_hash(file: Path) -> str:
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _is_series_folder(folder: Path) -> bool:
    return holds_only(folder, {MANIFEST, ARRAYS}) and _is_readable(folder / MANIFEST)


def holds_only(folder: Path, names: set[str]) -> bool:
    """Whether nothing but these entries would be lost with the folder."""
    return folder.is_dir() and {entry.name for entry in folder.iterdir()} <= names


def _is_readable(manifest: Path) -> bool:
    try:
        read_manifest(manifest, FORMAT, FORMAT_VERSION)
    except InvalidFolder:
        return False
    return True


def _occupied(folder: Path) -> bool:
    return folder.exists() and not (folder.is_dir() and not any(folder.iterdir()))


def _check_free(folder: Path, replaceable: Callable[[Path], bool]) -> None:
    if _occupied(folder) and not replaceable(folder):
        raise InvalidFolder(
            f"{folder} exists and is not a folder that denots wrote (or holds other files too); "
            "nothing was written. Choose another place, or remove it first."
        )


def _sibling(folder: Path) -> Path:
    return folder.with_name(f".{folder.name}.{secrets.token_hex(6)}")


def _move_in(draft: Path, folder: Path, existing: Literal["replace", "keep"]) -> None:
    if existing == "keep" and _occupied(folder):
        return
    if not folder.exists():
        os.rename(draft, folder)
        return
    earlier = _sibling(folder)
    os.rename(folder, earlier)
    try:
        os.rename(draft, folder)
    except OSError:
        os.rename(earlier, folder)
        raise
    shutil.rmtree(earlier)
