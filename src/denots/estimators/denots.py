"""The paper's model with its options spelled out."""

import os
from collections.abc import Mapping
from numbers import Real
from typing import Any

from denots.estimators.classifier import SeriesClassifier
from denots.estimators.estimator import SeriesEstimator
from denots.estimators.forecaster import SeriesForecaster
from denots.estimators.regressor import SeriesRegressor
from denots.fields import VectorField
from denots.inference.denots_config import DeNOTSConfig
from denots.paths import Interpolation
from denots.systems import SYSTEMS, System
from denots.training.config import TrainConfig

OPTIONS = (
    "depth",
    "state_size",
    "field",
    "path",
    "tolerance",
    "learning_rate",
    "batch_size",
    "max_epochs",
    "patience",
    "batches_per_epoch",
)


class _Spelled(SeriesEstimator):
    """DeNOTS: stretch time by a depth, drive a stable neural ODE with the interpolated series.

    Args:
        depth: how far time is stretched; "auto" trains at several depths and keeps the one
            with the best validation metric.
        state_size: size of the hidden state.
        field: slope of the state: "anti" (DeNOTS), "sync" (GRU-ODE), "none", "tanh" or "relu", or a
            VectorField of your own.
        path: interpolation: "natural-cubic", "causal-hermite", "linear" or "rectilinear".
        tolerance: relative and absolute tolerance of the solver in training; predictions are solved more accurately.
        learning_rate, max_epochs: of AdamW; the rate rises and falls, see `TrainConfig`.
        patience: epochs without a better validation metric after which training ends; None waits for all.
        batch_size, batches_per_epoch: None goes by the number of series.
        validation_fraction: share of the series that is held back for early stopping.
        random_state: seed of the split, of the initial weights and of the batches.
        checkpoint_dir: a folder in which the run can be resumed after an interruption.
        verbose: show progress.
    """

    def __init__(
        self,
        *,
        depth: float | str = DeNOTSConfig.depth,
        state_size: int = DeNOTSConfig.state_size,
        field: str | type[VectorField] = DeNOTSConfig.field,
        path: str | type[Interpolation] = DeNOTSConfig.path,
        tolerance: float = DeNOTSConfig.tolerance,
        learning_rate: float = TrainConfig.learning_rate,
        batch_size: int | None = TrainConfig.batch_size,
        max_epochs: int = TrainConfig.max_epochs,
        patience: int | None = TrainConfig.patience,
        batches_per_epoch: int | None = TrainConfig.batches_per_epoch,
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

    def _chosen(self) -> tuple[System, dict[str, Any]]:
        options = {name: getattr(self, name) for name in OPTIONS}
        if isinstance(self.depth, Real) and not isinstance(self.depth, bool):
            options["depth"] = float(self.depth)
        return SYSTEMS["denots"], options


class DeNOTSClassifier(_Spelled, SeriesClassifier):
    __doc__ = f"""Assign each series to one of two or more classes.

    {_Spelled.__doc__}    class_weight: "balanced" weighs every class alike in the loss, however rare it is; a
        dictionary gives the weight of each class, 1 where it names none.
    """

    def __init__(
        self,
        *,
        depth: float | str = DeNOTSConfig.depth,
        state_size: int = DeNOTSConfig.state_size,
        field: str | type[VectorField] = DeNOTSConfig.field,
        path: str | type[Interpolation] = DeNOTSConfig.path,
        tolerance: float = DeNOTSConfig.tolerance,
        learning_rate: float = TrainConfig.learning_rate,
        batch_size: int | None = TrainConfig.batch_size,
        max_epochs: int = TrainConfig.max_epochs,
        patience: int | None = TrainConfig.patience,
        batches_per_epoch: int | None = TrainConfig.batches_per_epoch,
        validation_fraction: float = 0.15,
        class_weight: str | Mapping[Any, float] | None = None,
        random_state: Any = None,
        checkpoint_dir: str | os.PathLike[str] | None = None,
        verbose: bool = False,
    ) -> None:
        super().__init__(
            depth=depth,
            state_size=state_size,
            field=field,
            path=path,
            tolerance=tolerance,
            learning_rate=learning_rate,
            batch_size=batch_size,
            max_epochs=max_epochs,
            patience=patience,
            batches_per_epoch=batches_per_epoch,
            validation_fraction=validation_fraction,
            random_state=random_state,
            checkpoint_dir=checkpoint_dir,
            verbose=verbose,
        )
        self.class_weight = class_weight


class DeNOTSRegressor(_Spelled, SeriesRegressor):
    __doc__ = f"""Predict one or several numbers for each series.

    {_Spelled.__doc__}"""


class DeNOTSForecaster(_Spelled, SeriesForecaster):
    __doc__ = f"""Answer "what is the value of each channel at time t?" for any t.

    {_Spelled.__doc__}"""
