"""Model folders: JSON for what it is, safetensors for its weights; nothing in them is code."""

import hashlib
import json
import os
import secrets
import shutil
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import SafetensorError
from safetensors.torch import load, save

from denots.errors import DenotsError, InvalidFolder
from denots.estimators.classifier import DeNOTSClassifier
from denots.estimators.estimator import SeriesEstimator
from denots.estimators.forecaster import DeNOTSForecaster
from denots.estimators.regressor import DeNOTSRegressor
from denots.training.model import Model, ModelSpec

FORMAT, VERSION = "denots-model", 1
MODEL_FILES = ("model.json", "weights.safetensors", "curve.csv")
ESTIMATORS: dict[str, type[SeriesEstimator]] = {
    kind.__name__: kind for kind in (DeNOTSClassifier, DeNOTSRegressor, DeNOTSForecaster)
}


def save_estimator(estimator: SeriesEstimator, folder: Path) -> None:
    """Write to a temporary folder beside the target and rename it, so that no half model is left."""
    if folder.exists() and any(folder.iterdir()) and not (folder / "model.json").exists():
        raise InvalidFolder(f"{folder} exists and is not a model folder; choose another name.")
    weights = save({name: tensor.contiguous() for name, tensor in estimator.model_.state_dict().items()})
    description = {
        "format": FORMAT,
        "version": VERSION,
        "estimator": type(estimator).__name__,
        "params": {k: v for k, v in estimator.get_params().items() if k not in ("random_state", "checkpoint_dir")},
        "model": asdict(estimator.model_.spec),
        "learnt": _learnt(estimator),
        "weights_sha256": hashlib.sha256(weights).hexdigest(),
    }
    folder.parent.mkdir(parents=True, exist_ok=True)
    fresh = folder.with_name(f".{folder.name}-{secrets.token_hex(6)}")
    fresh.mkdir()
    try:
        (fresh / "weights.safetensors").write_bytes(weights)
        (fresh / "model.json").write_text(json.dumps(description, indent=1) + "\n")
        history = getattr(estimator, "history_", None)
        if history is not None:
            history.write_csv(fresh / "curve.csv")
        if folder.exists():
            shutil.rmtree(folder)
        os.replace(fresh, folder)
    except BaseException:
        shutil.rmtree(fresh, ignore_errors=True)
        raise


def load_estimator(folder: str | os.PathLike[str]) -> SeriesEstimator:
    """Read a model folder; its predictions are bit for bit those of the saved model."""
    root = Path(folder)
    description = _read_description(root)
    try:
        weights = (root / "weights.safetensors").read_bytes()
    except FileNotFoundError as error:
        raise InvalidFolder(f"{root} has no weights.safetensors; the folder is incomplete, copy it again.") from error
    if hashlib.sha256(weights).hexdigest() != description["weights_sha256"]:
        raise InvalidFolder(
            f"{root}: weights.safetensors is not what model.json describes; it is truncated or from another model."
        )
    try:
        estimator = ESTIMATORS[description["estimator"]](**description["params"])
        model = Model(ModelSpec(**description["model"]))
        model.load_state_dict(load(weights))
        for name, value in description["learnt"].items():
            setattr(estimator, name, _from_json(name, value))
    except (KeyError, TypeError, RuntimeError, SafetensorError, DenotsError) as error:
        raise InvalidFolder(f"{root}: model.json does not describe a model of this package ({error}).") from error
    model.eval()
    estimator.model_ = model
    return estimator


def _read_description(root: Path) -> dict[str, Any]:
    try:
        description = json.loads((root / "model.json").read_text())
    except (FileNotFoundError, NotADirectoryError) as error:
        found = (
            "it has no model.json" if root.is_dir() else "it is a file" if root.exists() else "there is no such folder"
        )
        raise InvalidFolder(f"{root} is not a model folder: {found}.") from error
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise InvalidFolder(
            f"{root}/model.json cannot be read ({error}); the folder is damaged, copy it again."
        ) from error
    if not isinstance(description, dict) or description.get("format") != FORMAT:
        raise InvalidFolder(f"{root}/model.json is not the description of a denots model.")
    if description["version"] > VERSION:
        raise InvalidFolder(
            f"{root} was written by a newer version (format {description['version']}, this one reads {VERSION}); upgrade denots."
        )
    return description


_LEARNT = (
    "channels_",
    "static_names_",
    "time_unit_",
    "n_features_in_",
    "depth_",
    "depth_scores_",
    "validation_score_",
    "validation_size_",
    "classes_",
    "output_ndim_",
)


def _learnt(estimator: SeriesEstimator) -> dict[str, Any]:
    learnt = {}
    for name in _LEARNT:
        value = getattr(estimator, name, None)
        if value is not None:
            learnt[name] = (
                {"dtype": value.dtype.str, "values": value.tolist()} if isinstance(value, np.ndarray) else value
            )
    return learnt


def _from_json(name: str, value: Any) -> Any:
    if name not in _LEARNT:
        raise InvalidFolder(f"unknown entry {name!r} in model.json.")
    if name == "classes_":
        return np.array(value["values"], dtype=np.dtype(value["dtype"]))
    if name in ("channels_", "static_names_"):
        return tuple(value)
    if name == "depth_scores_":
        return {float(depth): score for depth, score in value.items()}
    return value
