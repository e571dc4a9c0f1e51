"""A folder of checkpoints belongs to one run: the same data, options and kind of model."""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from denots.data.store import content_hash
from denots.errors import InvalidFolder
from denots.folders import write_file_whole
from denots.tasks import Part

FILE = "run.json"


def claim(folder: Path, kind: str, options: Mapping[str, Any], part: Part, validation: Part | None = None) -> None:
    """Tie the folder to a run, so that no other one is continued there."""
    folder.mkdir(parents=True, exist_ok=True)
    content = json.dumps(
        {
            "class": kind,
            "options": repr(options),
            "data": content_hash(part.series.with_target(None)),
            "target": _hash(part.target.numpy()),
            **({} if part.weight is None else {"weight": _hash(part.weight.numpy())}),
            **({} if part.groups is None else {"groups": _hash(part.groups)}),
            **({} if validation is None else {"validation": content_hash(validation.series)}),
        },
        indent=1,
    )
    file = folder / FILE
    if file.exists() and file.read_text(encoding="utf-8") != content:
        raise InvalidFolder(
            f"{folder} holds the checkpoint of a run with other data or options; delete it, choose another folder, or discard that run (denots fit --restart)."
        )
    write_file_whole(file, content.encode())


def _hash(array: np.ndarray) -> str:
    return hashlib.sha256(array.tobytes()).hexdigest()
