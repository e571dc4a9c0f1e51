"""Estimators as model folders, which `inference.folder` describes, and back."""

import csv
import hashlib
import io
import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

from denots.data.ranges import Ranges
from denots.data.schema import TableSchema
from denots.errors import DenotsError, InvalidFolder, InvalidOption
from denots.estimators.classifier import SeriesClassifier
from denots.estimators.conformal import Calibration
from denots.estimators.denots import DeNOTSClassifier, DeNOTSForecaster, DeNOTSRegressor
from denots.estimators.estimator import SeriesEstimator
from denots.estimators.forecaster import SeriesForecaster
from denots.estimators.predictor import SeriesPredictor
from denots.estimators.regressor import SeriesRegressor
from denots.estimators.rows import RowPredictor
from denots.fields import FIELDS
from denots.folders import expanded, holds_only, package_version, read_json, written_whole
from denots.inference.folder import (
    ARRAYS,
    CALIBRATION,
    CURVE,
    DESCRIPTION,
    FILES,
    FORMAT,
    MANIFEST,
    VERSION,
    names,
    own_hash,
    verify,
)
from denots.paths import PATHS
from denots.registry import Registry
from denots.systems import SYSTEMS, Shape, State, System
from denots.tasks import TASKS
from denots.tensors import pack, unpack

ESTIMATORS: dict[str, type[SeriesEstimator]] = {
    kind.__name__: kind
    for kind in (
        SeriesClassifier,
        SeriesRegressor,
        SeriesForecaster,
        SeriesPredictor,
        RowPredictor,
        DeNOTSClassifier,
        DeNOTSRegressor,
        DeNOTSForecaster,
    )
}
_PARTS: dict[str, Registry[Any]] = {"field": FIELDS, "path": PATHS, "task": TASKS}  # what may be a class
_TRANSIENT = ("random_state", "checkpoint_dir", "verbose")
_LEARNT = ("time_unit_", "n_features_in_", "validation_score_", "validation_spread_", "validation_size_", "scores_")
_SINCE = {"validation_spread_": float("nan")}  # what folders lack that were written before it was kept


def replaceable(folder: Path) -> bool:
    """Whether a folder holds nothing but what a model is made of."""
    return holds_only(folder, FILES)


def save_estimator(estimator: SeriesEstimator, folder: Path) -> None:
    """Write the folder whole; one that holds anything else than a model is refused."""
    state = estimator.fitted_.state()
    contents = {
        DESCRIPTION: (json.dumps(_description(estimator, state), indent=1) + "\n").encode(),
        ARRAYS: pack(state.arrays),
    }
    if estimator.fitted_.curve:
        contents[CURVE] = _curve(estimator.fitted_.curve)
    if estimator.calibration_ is not None:
        contents[CALIBRATION] = pack(estimator.calibration_.arrays())
    with written_whole(folder, replaceable=replaceable) as draft:
        for name, content in contents.items():
            (draft / name).write_bytes(content)
        files = {name: {"bytes": len(it), "sha256": hashlib.sha256(it).hexdigest()} for name, it in contents.items()}
        head = {"format": FORMAT, "format_version": VERSION, "denots_version": package_version(), "files": files}
        (draft / MANIFEST).write_text(json.dumps({**head, "sha256": own_hash(head)}, indent=1) + "\n")


def load_estimator(folder: str | os.PathLike[str]) -> SeriesEstimator:
    """Read a model folder; its predictions are bit for bit those of the saved model."""
    root = expanded(Path(folder))
    files = verify(root)
    description = read_json(root / DESCRIPTION, FORMAT)
    try:
        estimator = _restored(description, unpack((root / ARRAYS).read_bytes()), root)
        estimator.calibration_ = None  # in folders that were written before it was kept
        if CURVE in files:
            estimator.fitted_ = replace(estimator.fitted_, curve=_read_curve((root / CURVE).read_text()))
        if CALIBRATION in files:
            kept = unpack((root / CALIBRATION).read_bytes())
            estimator.calibration_ = Calibration.restore(kept, estimator.task_.outputs, len(estimator.static_names_))
        return estimator
    except InvalidFolder:
        raise
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError, DenotsError) as error:
        raise InvalidFolder(
            f"{root}: {DESCRIPTION} does not describe a model of this version of the package; if another wrote it, fit it again ({error})."
        ) from error


def _description(estimator: SeriesEstimator, state: State) -> dict[str, Any]:
    system = _nameable(estimator.system_)
    params = {name: value for name, value in estimator.get_params(deep=False).items() if name not in _TRANSIENT}
    if "system" in params:
        params |= {"system": system.name, "options": _spelled(params["options"] or {}) or None}
    return {
        "estimator": type(estimator).__name__,
        "params": _spelled(params),
        "system": {"name": system.name, "options": _spelled(system.options), "state": state.values},
        "task": {"name": TASKS.name_of(type(estimator.task_)), "state": estimator.task_.state()},
        "channels": list(estimator.channels_),
        "static": list(estimator.static_names_),
        "learnt": {name: getattr(estimator, name) for name in _LEARNT},
        "schema": None if estimator.schema_ is None else estimator.schema_.as_json(),
        "ranges": estimator.ranges_.as_json(),
    }


def _restored(description: dict[str, Any], arrays: dict[str, Any], root: Path) -> SeriesEstimator:
    estimator = ESTIMATORS[description["estimator"]](**description["params"])
    task = TASKS.find(description["task"]["name"]).restore(description["task"]["state"])
    if not isinstance(task, estimator.task_type):
        raise ValueError(f"{type(estimator).__name__} does not answer the task {task.name}")
    told = description["system"]
    system = SYSTEMS.find(told["name"]).with_options(**told["options"])
    channels, static = names(description["channels"]), names(description["static"])
    estimator.channels_, estimator.static_names_ = channels, static
    estimator.task_, estimator.system_ = task, system
    estimator.fitted_ = system.restore(task, Shape(len(channels), len(static)), State(told["state"], arrays))
    for name in _LEARNT:
        setattr(estimator, name, (_SINCE | description["learnt"])[name])
    place = str(root / DESCRIPTION)
    schema = description["schema"]
    estimator.schema_ = None if schema is None else TableSchema.from_json(schema, place)
    estimator.ranges_ = Ranges.from_json(description["ranges"], place)
    return estimator


def _nameable(system: System) -> System:
    """The system, once a loaded model could find it again."""
    if system.name not in SYSTEMS.complete():
        raise InvalidOption(
            f"system {system.name!r} is not in SYSTEMS, so a saved model could not find it again; register it first: "
            f"SYSTEMS[{system.name!r}] = {type(system).__name__}(...), or by an entry point denots.systems."
        )
    return system


def _spelled(options: dict[str, Any]) -> dict[str, Any]:
    """Options as plain values: a class that was passed in by the name under which it is registered."""
    return {name: _PARTS[name].name_of(value) if name in _PARTS else value for name, value in options.items()}


def _read_curve(text: str) -> list[dict[str, float]]:
    rows = csv.DictReader(io.StringIO(text, newline=""))
    return [{name: int(cell) if cell.isdigit() else float(cell) for name, cell in row.items()} for row in rows]


def _curve(rows: list[dict[str, float]]) -> bytes:
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, fieldnames=list(rows[0]))
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue().encode()
