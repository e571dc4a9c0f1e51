"""Classify whole series."""

import os
from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
from sklearn.base import ClassifierMixin

from denots.data.inputs import row_length
from denots.estimators.estimator import SeriesEstimator
from denots.systems import System
from denots.tasks import Classification
from denots.tasks.task import known_target
from denots.training.progress import Progress


class SeriesClassifier(ClassifierMixin, SeriesEstimator):
    """Assign each series to one of two or more classes, by any system; arguments as in `SeriesEstimator`.

    Args:
        class_weight: "balanced" weighs every class alike in the loss, however rare it is; a dictionary gives the weight
            of each class, 1 where it names none.
    """

    task_type = Classification
    task_: Classification

    def __init__(
        self,
        system: str | System = "auto",
        *,
        options: Mapping[str, Any] | None = None,
        validation_fraction: float = 0.15,
        class_weight: str | Mapping[Any, float] | None = None,
        random_state: Any = None,
        checkpoint_dir: str | os.PathLike[str] | None = None,
        verbose: bool = False,
    ) -> None:
        super().__init__(
            system,
            options=options,
            validation_fraction=validation_fraction,
            random_state=random_state,
            checkpoint_dir=checkpoint_dir,
            verbose=verbose,
        )
        self.class_weight = class_weight

    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        sample_weight: Any = None,
        groups: Any = None,
        validation: Any = None,
        callbacks: Sequence[Progress] = (),
    ) -> Self:
        """Learn from series and their classes; `y` may be left out if X is a SeriesSet with a target.

        Args:
            sample_weight: how much each series counts; not all systems can weigh, and those that cannot say so.
            groups: a label for each series, such as a hospital; no fold or validation split parts a group.
            validation: series to choose by instead of a share of X: a pair (X, y), or a SeriesSet with a target.
            callbacks: told about every epoch, such as `denots.training.loggers.CSVLog("logs")`.
        """
        given = {"sample_weight": sample_weight, "groups": groups, "validation": validation, "callbacks": callbacks}
        self._fit(self._to_learn(X, y), class_weight=self.class_weight, **given)
        self.n_features_in_ = row_length(X) or self.n_features_in_
        return self

    @property
    def classes_(self) -> np.ndarray:
        """The classes in ascending order; absent before `fit`."""
        if not hasattr(self, "task_"):
            raise AttributeError("classes_ is known after fit")
        return self.task_.classes

    def predict_proba(self, X: Any, *, strict: bool = False) -> np.ndarray:
        """Probability of each class (columns as in `classes_`); NaN for a series without an answer."""
        return self._answers(X, strict=strict).values

    def predict_log_proba(self, X: Any, *, strict: bool = False) -> np.ndarray:
        """Logarithms of the probabilities."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X, strict=strict))

    def decision_function(self, X: Any, *, strict: bool = False) -> np.ndarray:
        """Log-odds of the second of two classes [n]; of more, a score for each class [n, classes]. The highest wins."""
        outputs = self._answers(X, strict=strict).outputs.numpy()
        return outputs[:, 0] if self.task_.binary else outputs

    def predict(self, X: Any, *, strict: bool = False) -> np.ndarray:
        """The most probable class of each series.

        A series without an answer is named in a warning and has None, which makes the array one of
        objects; with `strict` it is an error.
        """
        shares = self._answers(X, strict=strict).values
        return self.task_.best(shares)

    def predict_set(
        self, X: Any, coverage: float = 0.9, *, groups: str | None = None, strict: bool = False
    ) -> np.ndarray:
        """Whether each class (columns as in `classes_`) belongs to a set that holds the truth for such a share of series.

        Certain answers have one class, doubtful ones several. A set is empty where every class is less likely than
        true ones are in all but the most doubtful series; ask for a higher coverage to have none of these. A series
        without an answer has all classes. The share is that of all series: truths of a rare class are held less often.
        `denots.estimators.conformal` says what is guaranteed.

        Args:
            groups: a static feature; the coverage then holds in each group of it (by quarters of a number with many
                values). Or the name of the target ("target" if it has none); it then holds in each class.
        """
        reading = self.read(X)
        return self._region(reading, self._answers(reading, strict=strict), coverage, groups)

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Share of right answers; a series without one is given the most common class."""
        from sklearn.metrics import accuracy_score

        series = self.read_known(X, y)
        target = known_target(series)
        shares = self._answers(series).values
        told = np.where(np.isnan(shares), self.task_.shares, shares)
        return float(accuracy_score(target, self.task_.best(told), sample_weight=sample_weight))
