"""Model folders: JSON for what it is, safetensors for its arrays; nothing in them is code.

`manifest.json` names every file with its size and checksum, and has a checksum of its own, so that a
folder is read whole or not at all. Files that are not in the manifest, such as a note, are left alone.
"""

import hashlib
import json
from pathlib import Path
from typing import Any

from denots.errors import InvalidFolder
from denots.folders import file_hash, read_manifest

FORMAT, VERSION = "denots-model", 2
MANIFEST, DESCRIPTION, ARRAYS, CURVE = "manifest.json", "model.json", "arrays.safetensors", "curve.csv"
CALIBRATION = "calibration.safetensors"
FILES = {MANIFEST, DESCRIPTION, ARRAYS, CURVE, CALIBRATION}


def verify(root: Path) -> set[str]:
    """The files of a folder; one of which any byte was changed or is missing is refused before anything in it is used."""
    if not (root / MANIFEST).exists():
        if (root / "weights.safetensors").exists() and (root / DESCRIPTION).exists():
            raise InvalidFolder(f"{root} was written before model folders had a {MANIFEST} (format 1); fit it again.")
        found = (
            f"it has no {MANIFEST}" if root.is_dir() else "it is a file" if root.exists() else "there is no such folder"
        )
        raise InvalidFolder(f"{root} is not a model folder: {found}.")
    manifest = read_manifest(root / MANIFEST, FORMAT, VERSION)
    files = manifest.get("files")
    if manifest.pop("sha256", None) != own_hash(manifest) or not isinstance(files, dict):
        raise InvalidFolder(f"{root / MANIFEST} was changed after it was written; copy the folder again.")
    if not {DESCRIPTION, ARRAYS} <= set(files) <= FILES:
        raise InvalidFolder(f"{root / MANIFEST} names {', '.join(files)}; a model has {DESCRIPTION} and {ARRAYS}.")
    for name, facts in files.items():
        file = root / name
        if not file.is_file():
            raise InvalidFolder(f"{root} has no {name}; the folder is incomplete, copy it again.")
        if file.stat().st_size != facts["bytes"] or file_hash(file) != facts["sha256"]:
            raise InvalidFolder(
                f"{file} is not what {MANIFEST} describes; it is truncated, changed or from another model. Copy the folder again."
            )
    return set(files)


def own_hash(manifest: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(manifest, sort_keys=True).encode()).hexdigest()


def names(value: Any) -> tuple[str, ...]:
    """Channels or static features, as a description lists them."""
    if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
        raise ValueError("channels and static features are lists of names")
    return tuple(value)
