"""Gradient-boosted trees on summary features: the strong baseline that knows no time series."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor

from denots.data.series import SeriesSet
from denots.data.summary import summarise
from denots.paths import Linear
from denots.readout import Readout
from denots.shapes import FloatArray

if TYPE_CHECKING:
    from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor


@dataclass(frozen=True)
class BoostedTreesConfig:
    """The settings of scikit-learn's histogram boosting that matter; early stopping ends it sooner."""

    learning_rate: float = 0.1
    max_iter: int = 300


class BoostedTrees:
    """One table in, the raw outputs of a readout out: scaled values, log odds or log probabilities.

    A forecast has one row per question: the summary of what is visible, the time asked for, and
    the values there by linear interpolation.
    """

    Config = BoostedTreesConfig

    def __init__(self, config: BoostedTreesConfig, readout: Readout, task: str, seed: int) -> None:
        self.config, self.readout, self.task, self.seed = config, readout, task, seed
        self.trees: list[HistGradientBoostingClassifier | HistGradientBoostingRegressor] = []

    def fit(self, series: SeriesSet, target: Tensor, at: Tensor | None) -> "BoostedTrees":
        features = _features(series, at)
        if self.task in ("binary", "multiclass"):
            self.trees = [self._grown("Classifier", features, target.numpy())]
            return self
        answers = target[..., :-1] if self.task == "forecast" else target
        scaled = self.readout.scaled(answers, torch.zeros((), dtype=torch.float64))  # type: ignore[operator]
        columns = scaled.reshape(-1, scaled.shape[-1]).T.numpy()
        self.trees = [self._grown("Regressor", features[~np.isnan(y)], y[~np.isnan(y)]) for y in columns]
        return self

    def outputs(self, series: SeriesSet, at: Tensor | None) -> Tensor:
        features = _features(series, at)
        if self.task in ("binary", "multiclass"):
            classifier: Any = self.trees[0]
            logs = np.full((len(features), max(2, self.readout.outputs)), -np.inf)
            logs[:, classifier.classes_] = np.log(np.maximum(classifier.predict_proba(features), 1e-300))
            table = torch.from_numpy(logs)
            return table[:, 1:] - table[:, :1] if self.task == "binary" else table
        columns = [torch.from_numpy(tree.predict(features)) for tree in self.trees]
        table = torch.stack(columns, dim=1)
        return table if at is None else table.reshape(*at.shape, -1)

    @property
    def leaves(self) -> int:
        """Numbers that were learnt: one value a leaf."""
        found = [tree for model in self.trees for stage in model._predictors for tree in stage]
        return sum(int(tree.get_n_leaf_nodes()) for tree in found)

    def _grown(self, kind: str, features: FloatArray, target: FloatArray) -> Any:
        from sklearn import ensemble

        grow = getattr(ensemble, f"HistGradientBoosting{kind}")
        stop = len(target) >= 200  # fewer leave no share to stop on
        return grow(
            learning_rate=self.config.learning_rate,
            max_iter=self.config.max_iter,
            early_stopping=stop,
            random_state=self.seed,
        ).fit(features, target)


def _features(series: SeriesSet, at: Tensor | None) -> FloatArray:
    summary = summarise(series)
    if at is None:
        return summary
    path = Linear.fit(series, torch.float64)
    values = torch.stack([path.value(column) for column in at.double().T], dim=1).numpy()
    asked = (at - torch.from_numpy(series.start)[:, None]).numpy()[..., None]
    repeated = np.repeat(summary[:, None], at.shape[1], axis=1)
    return np.concatenate([repeated, asked, values], axis=2).reshape(at.numel(), -1)
