"""Classify whole series."""

import os
from typing import Any, Self

import numpy as np
import torch
from sklearn.base import ClassifierMixin

from denots.errors import InvalidOption, InvalidTarget, SolverFailure
from denots.estimators.estimator import SeriesEstimator
from denots.estimators.inputs import as_series_set
from denots.estimators.targets import as_classes, read_target


class DeNOTSClassifier(ClassifierMixin, SeriesEstimator):
    """Assign each series to one of two or more classes; options as in `SeriesEstimator`.

    Args:
        class_weight: "balanced" weighs every class alike in the loss, however rare it is.
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
        class_weight: str | None = None,
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

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn from series and their classes; `y` may be left out if X is a SeriesSet with a target."""
        if self.class_weight not in (None, "balanced"):
            raise InvalidOption(f"class_weight is None or 'balanced'; got {self.class_weight!r}.")
        series = as_series_set(X)
        labels = as_classes(read_target(series, y))
        self.classes_, codes, counts = np.unique(labels, return_inverse=True, return_counts=True)
        if len(self.classes_) < 2:
            raise InvalidTarget(
                f"every series has the class {self.classes_[0].item()!r}; a classifier needs at least two classes."
            )
        if counts.min() < 2:
            rare = self.classes_[counts.argmin()].item()
            raise InvalidTarget(
                f"class {rare!r} has one series; each class needs at least two, one to learn from and one to validate with."
            )
        binary = len(self.classes_) == 2
        return self._train(
            series,
            torch.from_numpy(codes.astype(np.int64)),
            task="binary" if binary else "multiclass",
            outputs=1 if binary else len(self.classes_),
            labels=codes,
            balance=self.class_weight == "balanced",
        )

    def predict_proba(self, X: Any) -> np.ndarray:
        """Probability of each class (columns as in `classes_`); NaN for a series that cannot be solved."""
        series = self._read(X)
        return self.model_.readout.answer(self._run(series).outputs).numpy()

    def predict(self, X: Any) -> np.ndarray:
        """The most probable class of each series."""
        series = self._read(X)
        probabilities = self.predict_proba(series)
        lost = np.flatnonzero(np.isnan(probabilities).any(axis=1))
        if len(lost):
            raise SolverFailure(
                f"series {series.id(lost[0])!r} could not be integrated and has no class; predict_proba gives NaN for it and answers for the others."
            )
        return self.classes_[probabilities.argmax(axis=1)]

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Share of right answers."""
        series = self._read(X)
        return float(super().score(series, read_target(series, y), sample_weight))
