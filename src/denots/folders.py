"""Folders that appear whole or not at all, with a manifest that says what they are.

Every folder that the package writes goes through `written_whole`: it is made under a hidden name and
renamed when it is complete, it replaces only a folder of its own kind, and nothing that the package did
not write is ever removed.
"""

import hashlib
import json
import os
import secrets
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

from denots.errors import InvalidFolder

LARGEST_JSON = 64 * 2**20  # bytes; no manifest of ours comes near, and a damaged one must not fill the memory
SHOWN = 8  # entries that a message lists


@contextmanager
def written_whole(
    folder: Path, *, replaceable: Callable[[Path], bool], existing: Literal["replace", "keep"] = "replace"
) -> Iterator[Path]:
    """Yield a hidden folder beside `folder` to write into; it takes that name when the block ends well.

    `~` is the home folder, and a link stands for the folder that it leads to. After an error nothing is
    left behind and an earlier `folder` is untouched. With `existing="keep"`, a folder that another
    process finished meanwhile stays.
    """
    folder = expanded(folder)
    check_free(folder, replaceable)
    folder.parent.mkdir(parents=True, exist_ok=True)
    draft = _sibling(folder)
    draft.mkdir()
    try:
        yield draft
        check_free(folder, replaceable)
        try:
            _move_in(draft, folder, existing, replaceable)
        except OSError:
            if existing == "replace" or not _occupied(folder):
                raise
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def write_file_whole(file: Path, content: bytes) -> None:
    """Write a file that appears whole or not at all, replacing an earlier one."""
    file.parent.mkdir(parents=True, exist_ok=True)
    draft = _sibling(file)
    try:
        with draft.open("wb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
        os.replace(draft, file)
    finally:
        draft.unlink(missing_ok=True)


def expanded(folder: Path) -> Path:
    """The place that a path means: `~` and links followed, and no dots in it."""
    return folder.expanduser().resolve()


def write_manifest(file: Path, manifest: Mapping[str, Any]) -> None:
    file.write_text(json.dumps(manifest, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def read_manifest(file: Path, expected: str, newest: int) -> dict[str, Any]:
    """The manifest, once its format is `expected` and its version at most `newest`."""
    manifest = read_json(file, expected)
    if not isinstance(manifest, dict) or manifest.get("format") != expected:
        raise InvalidFolder(f"{file} does not describe a {expected} folder.")
    found = manifest.get("format_version")
    if not isinstance(found, int) or isinstance(found, bool) or found < 1:
        raise InvalidFolder(f"{file} has format_version {found!r}; expected 1 to {newest}.")
    if found > newest:
        raise InvalidFolder(
            f"{file.parent} was written by denots {manifest.get('denots_version')} in format {found}; "
            f"this version reads up to format {newest}, so upgrade denots."
        )
    return manifest


def read_json(file: Path, kind: str) -> Any:
    """The content of a JSON file of a folder of some kind; anything unreadable is an InvalidFolder."""
    try:
        size = file.stat().st_size
        if size > LARGEST_JSON:
            raise InvalidFolder(f"{file} has {size / 2**20:.0f} MiB; none of ours has more than 64, so it is foreign.")
        return json.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise InvalidFolder(f"{file.parent} is not a {kind} folder: {file.name} cannot be read ({error}).") from error
    except (ValueError, RecursionError) as error:
        raise InvalidFolder(f"{file} is damaged ({error}); write or copy the folder again.") from error


def file_hash(file: Path) -> str:
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def package_version() -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("denots")
    except PackageNotFoundError:  # run from a source tree
        return "unknown"


def holds_only(folder: Path, names: set[str]) -> bool:
    """Whether nothing but these entries would be lost with the folder."""
    return folder.is_dir() and {entry.name for entry in folder.iterdir()} <= names


def _occupied(folder: Path) -> bool:
    return folder.exists() and not (folder.is_dir() and not any(folder.iterdir()))


def check_free(folder: Path, replaceable: Callable[[Path], bool]) -> None:
    """Refuse a place that holds anything else than what may be replaced, naming what lies there."""
    if _occupied(folder) and not replaceable(folder):
        raise InvalidFolder(
            f"{folder} exists and is not a folder that denots wrote, or holds other files too ({_listed(folder)}); "
            "nothing was written. Choose another place, or move those files away."
        )


def _listed(folder: Path) -> str:
    if not folder.is_dir():
        return "it is a file"
    names = sorted(entry.name for entry in folder.iterdir())
    return ", ".join(names[:SHOWN]) + (f" and {len(names) - SHOWN} more" if len(names) > SHOWN else "")


def _sibling(folder: Path) -> Path:
    return folder.with_name(f".{folder.name}.{secrets.token_hex(6)}")


def _move_in(
    draft: Path, folder: Path, existing: Literal["replace", "keep"], replaceable: Callable[[Path], bool]
) -> None:
    if existing == "keep" and _occupied(folder):
        return
    if not folder.exists():
        os.rename(draft, folder)
        return
    earlier = _sibling(folder)
    os.rename(folder, earlier)
    # Only now can nobody add a file to it by its name any more.
    if _occupied(earlier) and not replaceable(earlier):
        os.rename(earlier, folder)
        check_free(folder, replaceable)
    try:
        os.rename(draft, folder)
    except OSError:
        os.rename(earlier, folder)
        raise
    shutil.rmtree(earlier)
