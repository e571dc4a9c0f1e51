"""A model folder as something that predicts."""

import os
from pathlib import Path
from typing import Any

from denots.data.ranges import Ranges
from denots.data.schema import TableSchema
from denots.errors import DenotsError, InvalidFolder, NotServed
from denots.folders import expanded, read_json
from denots.inference.answers import ANSWERS, TaskAnswers
from denots.inference.folder import ARRAYS, DESCRIPTION, FORMAT, names, verify
from denots.inference.state import Shape, State
from denots.runtime.model import RuntimeModel
from denots.runtime.served import SERVED, UNSERVED, Stored
from denots.tensors import unpack


def load(folder: str | os.PathLike[str]) -> RuntimeModel:
    """Read a model folder, whole or not at all; its predictions are bit for bit those of `denots.load`.

    A model that needs more than NumPy and the kernels is refused as NotServed, with the reason.
    """
    root = expanded(Path(folder))
    verify(root)
    description = read_json(root / DESCRIPTION, FORMAT)
    try:
        return _restored(description, unpack((root / ARRAYS).read_bytes()), str(root / DESCRIPTION))
    except (InvalidFolder, NotServed):
        raise
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError, DenotsError) as error:
        raise InvalidFolder(
            f"{root}: {DESCRIPTION} does not describe a model of this version of the package; if another wrote it, fit it again ({error})."
        ) from error


def _restored(description: dict[str, Any], arrays: dict[str, Any], place: str) -> RuntimeModel:
    told = description["system"]
    if told["name"] not in SERVED:
        reason = UNSERVED.get(told["name"], "it is no system of this package")
        raise NotServed(f"system {told['name']!r} is not served without torch: {reason}. Load it with denots.load.")
    channels, static = names(description["channels"]), names(description["static"])
    task = _task(description["task"]["name"], description["task"]["state"])
    stored = Stored(told["options"], task, Shape(len(channels), len(static)), State(told["state"], arrays))
    schema, unit = description["schema"], description["learnt"]["time_unit_"]
    plain = TableSchema(id="id", time="time", channels=channels, static=static, time_unit=unit or None)
    return RuntimeModel(
        task=task,
        fitted=SERVED[told["name"]](stored),
        channels=channels,
        static_names=static,
        ranges=Ranges.from_json(description["ranges"], place),
        schema=plain if schema is None else TableSchema.from_json(schema, place),
        expected=int(description["learnt"]["n_features_in_"]),
        state=stored.state,
    )


def _task(name: str, state: dict[str, Any]) -> TaskAnswers:
    if name not in ANSWERS:
        raise NotServed(f"task {name!r} is not served without torch. Load the model with denots.load.")
    return ANSWERS[name](state)
