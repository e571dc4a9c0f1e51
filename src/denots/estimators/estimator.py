"""What all estimators share: options, the validation split, the search for a depth, training."""

import hashlib
import json
import os
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import torch
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted
from torch import Tensor

from denots.data.series import SeriesSet
from denots.data.split import split_rows
from denots.data.store import content_hash
from denots.errors import InvalidFolder, InvalidOption, InvalidSeries, SolverWarning
from denots.estimators.inputs import as_series_set, match_columns
from denots.shapes import IntArray
from denots.training.config import TrainConfig
from denots.training.examples import Examples
from denots.training.model import Model, ModelSpec, Output, build_model, run_model

if TYPE_CHECKING:
    from denots.training.fit import History

DEPTHS = (1.0, 3.0, 10.0, 30.0)


class SeriesEstimator(BaseEstimator):
    """Options and training of the DeNOTS estimators.

    Args:
        depth: how far time is stretched; "auto" trains at several depths and keeps the one
            with the best validation metric.
        state_size: size of the hidden state.
        field: slope of the state: "anti" (DeNOTS), "sync" (GRU-ODE), "none", "tanh" or "relu".
        path: interpolation: "natural-cubic", "causal-hermite", "linear" or "rectilinear".
        tolerance: relative and absolute tolerance of the solver.
        learning_rate, batch_size, max_epochs, patience: Adam with early stopping on the
            metric of a validation split.
        batches_per_epoch: None is one pass over the data, at least 32 batches.
        validation_fraction: share of the series that is held back for early stopping.
        random_state: seed of the split, of the initial weights and of the batches.
        checkpoint_dir: a folder in which the run can be resumed after an interruption.
        verbose: show a progress bar.
    """

    def __init__(
        self,
        *,
        depth: float | str = 10.0,
        state_size: int = 32,
        field: str = "anti",
        path: str = "natural-cubic",
        tolerance: float = 1e-3,
        learning_rate: float = 1e-3,
        batch_size: int = 128,
        max_epochs: int = 100,
        patience: int = 10,
        batches_per_epoch: int | None = None,
        validation_fraction: float = 0.15,
        random_state: Any = None,
        checkpoint_dir: str | os.PathLike[str] | None = None,
        verbose: bool = False,
    ) -> None:
        self.depth = depth
        self.state_size = state_size
        self.field = field
        self.path = path
        self.tolerance = tolerance
        self.learning_rate = learning_rate
        self.batch_size = batch_size
        self.max_epochs = max_epochs
        self.patience = patience
        self.batches_per_epoch = batches_per_epoch
        self.validation_fraction = validation_fraction
        self.random_state = random_state
        self.checkpoint_dir = checkpoint_dir
        self.verbose = verbose

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.three_d_array = True
        return tags

    def save(self, folder: str | os.PathLike[str]) -> None:
        """Write a model folder (JSON and safetensors, no pickle) that `denots.load` reads."""
        from denots.estimators.folder import save_estimator

        check_is_fitted(self)
        save_estimator(self, Path(folder))

    def _backbone_options(self, depth: float) -> dict[str, Any]:
        return {
            "state_size": self.state_size,
            "depth": float(depth),
            "field": self.field,
            "path": self.path,
            "tolerance": self.tolerance,
            "initial": "first",
        }

    def _train(
        self,
        series: SeriesSet,
        target: Tensor,
        *,
        task: str,
        outputs: int,
        at: Tensor | None = None,
        labels: np.ndarray | None = None,
        balance: bool = False,
    ) -> Self:
        """Fit on encoded targets; sets every attribute that prediction needs."""
        seed = int(check_random_state(self.random_state).randint(2**31))
        train_rows, val_rows = self._validation_split(
            len(series), labels, seed, fewest=2 if task == "regression" else 1
        )
        train = series.select(train_rows)
        self.channels_, self.static_names_, self.time_unit_ = series.channels, series.static_names, series.time_unit
        self.n_features_in_ = len(series.channels)
        self.validation_size_ = len(val_rows)
        config = self._train_config(seed)
        specs = {
            depth: ModelSpec(
                backbone="denots",
                options=self._backbone_options(depth),
                task=task,
                channels=len(series.channels),
                static_size=len(series.static_names),
                outputs=outputs,
            )
            for depth in self._depths()
        }
        models = {depth: build_model(spec, seed) for depth, spec in specs.items()}
        self._claim_checkpoints(series, target)
        histories = {}
        for depth, model in models.items():
            model.backbone.calibrate(train)
            model.readout.calibrate(target[torch.from_numpy(train_rows)])
            if balance:
                model.readout.balance(target[torch.from_numpy(train_rows)])
            inputs = model.backbone.prepare(series)
            histories[depth] = self._fit_one(model, Examples(inputs, target, at), train_rows, val_rows, config, depth)
        self.depth_scores_ = {depth: history.best["val_metric"] for depth, history in histories.items()}
        best = [{**history.best, "depth": depth} for depth, history in histories.items()]
        self.depth_ = max(best, key=lambda row: (row["val_metric"], -row["val_loss"]))["depth"]
        self.model_, self.history_ = models[self.depth_], histories[self.depth_]
        self.validation_score_ = self.depth_scores_[self.depth_]
        self._warn_of_failures(len(train_rows))
        return self

    def _warn_of_failures(self, n: int) -> None:
        failures = int(self.history_.best["failures"])
        if failures:
            warnings.warn(
                f"training gave up on {failures} of the {n} series (counted once each time they were drawn) in its best "
                "epoch, because they could not be integrated. Lower depth, or use field 'anti'.",
                SolverWarning,
                stacklevel=4,
            )

    def _fit_one(
        self,
        model: Model,
        examples: Examples,
        train_rows: IntArray,
        val_rows: IntArray,
        config: TrainConfig,
        depth: float,
    ) -> "History":
        from denots.training.fit import fit

        return fit(
            model,
            examples.select(torch.from_numpy(train_rows)),
            examples.select(torch.from_numpy(val_rows)),
            config,
            folder=None if self.checkpoint_dir is None else Path(self.checkpoint_dir) / f"depth-{depth:g}",
            progress=self.verbose,
        )

    def _train_config(self, seed: int) -> TrainConfig:
        return TrainConfig(
            learning_rate=self.learning_rate,
            batch_size=self.batch_size,
            max_epochs=self.max_epochs,
            patience=self.patience,
            batches_per_epoch=self.batches_per_epoch,
            seed=seed,
        )

    def _depths(self) -> tuple[float, ...]:
        if self.depth == "auto":
            return DEPTHS
        if isinstance(self.depth, str):
            raise InvalidOption(f"depth is a positive number or 'auto'; got {self.depth!r}.")
        return (float(self.depth),)

    def _validation_split(self, n: int, labels: np.ndarray | None, seed: int, fewest: int) -> tuple[IntArray, IntArray]:
        """Rows to learn from and rows to validate with, at least `fewest` of those: R2 needs two."""
        if not 0 < self.validation_fraction < 1:
            raise InvalidOption(f"validation_fraction must lie between 0 and 1; got {self.validation_fraction}.")
        if n <= fewest:
            raise InvalidSeries(f"{n} series cannot be split into training and validation; give at least {fewest + 1}.")
        share = self.validation_fraction
        smallest = n if labels is None else int(np.unique(labels, return_counts=True)[1].min())
        # At least one series of each class on either side, however small the set is.
        share = min(max(share, (fewest - 0.5) / smallest + 1e-9), 1 - 0.5 / smallest - 1e-9)
        train, val = split_rows(n, (1 - share, share), seed=seed, labels=labels)
        return train, val

    def _claim_checkpoints(self, series: SeriesSet, target: Tensor) -> None:
        """Tie the checkpoint folder to these data and options, so that no other run is continued."""
        if self.checkpoint_dir is None:
            return
        folder = Path(self.checkpoint_dir)
        folder.mkdir(parents=True, exist_ok=True)
        options = {k: v for k, v in self.get_params().items() if k not in ("checkpoint_dir", "verbose", "max_epochs")}
        claim = json.dumps(
            {
                "class": type(self).__name__,
                "options": repr(options),
                "data": content_hash(series.with_target(None)),
                "target": hashlib.sha256(target.numpy().tobytes()).hexdigest(),
            },
            indent=1,
        )
        file = folder / "run.json"
        if file.exists() and file.read_text() != claim:
            raise InvalidFolder(
                f"{folder} holds the checkpoint of a run with other data or options; delete it, choose another folder, or discard that run (denots fit --restart)."
            )
        fresh = file.with_suffix(".new")
        fresh.write_text(claim)
        os.replace(fresh, file)

    def _run(self, series: SeriesSet, at: Tensor | None = None) -> Output:
        """Outputs of the fitted model; series that cannot be solved get NaN and a warning that names them."""
        output = run_model(self.model_, self.model_.backbone.prepare(series), at)
        failed = (~output.ok).nonzero().flatten().tolist()
        if failed:
            names = ", ".join(repr(series.id(row)) for row in failed[:5]) + (" ..." if len(failed) > 5 else "")
            warnings.warn(
                f"{len(failed)} of {len(series)} series could not be integrated and get NaN: {names}. "
                "Look for extreme values in them, or fit with field='anti' or a smaller depth.",
                SolverWarning,
                stacklevel=3,
            )
        return output

    def _read(self, X: Any) -> SeriesSet:
        check_is_fitted(self)
        return match_columns(as_series_set(X), self.channels_, self.static_names_)
