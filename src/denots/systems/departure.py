"""What is learnt beyond the best simple forecast of a channel: a ridge and boosted trees, as far as they help."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from denots.shapes import FloatArray

if TYPE_CHECKING:
    from lightgbm import Booster

PENALTIES = tuple(10.0**k for k in range(-4, 2))  # for each row of features
TAILS = (0.005, 0.995)  # beyond these quantiles a feature is cut for the ridge
SHARES = tuple((ridge / 4, forest / 4) for ridge in range(5) for forest in range(5 - ridge))


@dataclass(frozen=True)
class ForestOptions:
    """How trees are grown; they read the first `columns` of the features, the ridge all of them."""

    columns: int
    learning_rate: float
    rounds: int
    leaves: int
    patience: int


@dataclass(frozen=True, slots=True, eq=False)
class Ridge:
    """A linear model of standardised features; a missing one counts as its mean."""

    low: FloatArray
    high: FloatArray
    centre: FloatArray
    weight: FloatArray
    bias: float

    @classmethod
    def fit(cls, features: FloatArray, target: FloatArray, penalty: float) -> "Ridge":
        seen = np.where(np.isnan(features).all(axis=0), 0.0, features)
        low, high = np.nanquantile(seen, TAILS, axis=0)
        kept = np.clip(seen, low, high)
        centre, spread = np.nanmean(kept, axis=0), np.nanstd(kept, axis=0)
        spread = np.where(spread > 0, spread, 1.0)
        table = np.nan_to_num((kept - centre) / spread)
        bias = float(target.mean())
        moments = table.T @ table + penalty * len(table) * np.eye(table.shape[1])
        return cls(low, high, centre, np.linalg.solve(moments, table.T @ (target - bias)) / spread, bias)

    def predict(self, features: FloatArray) -> FloatArray:
        # Column by column: the same sum for a question, however many others there are.
        total = np.full(len(features), self.bias)
        for column, low, high, centre, weight in zip(
            features.T, self.low, self.high, self.centre, self.weight, strict=True
        ):
            total += np.nan_to_num(np.clip(column, low, high) - centre) * weight
        return total

    def as_array(self) -> FloatArray:
        bias = np.full_like(self.low, self.bias)
        return np.stack([self.low, self.high, self.centre, self.weight, bias])

    @classmethod
    def of_array(cls, array: FloatArray) -> "Ridge":
        low, high, centre, weight, bias = array
        return cls(low, high, centre, weight, float(bias[0]))


@dataclass(frozen=True, slots=True, eq=False)
class Departure:
    """The best simple forecast by name, and how far the answer lies from it.

    shares: of the ridge and of the forest in the departure; what is missing to one keeps to the simple forecast.
    penalty, rounds: chosen on the validation questions.
    """

    base: str
    shares: tuple[float, float] = (0.0, 0.0)
    penalty: float = PENALTIES[-1]
    rounds: int = 0
    ridge: Ridge | None = None
    forest: "Booster | None" = None

    def predict(self, features: FloatArray) -> FloatArray:
        total = np.zeros(len(features))
        if self.ridge is not None and self.shares[0]:
            total += self.shares[0] * self.ridge.predict(features)
        if self.forest is not None and self.shares[1] and len(features):
            columns = features[:, : self.forest.num_feature()]
            raw = self.forest.predict(columns, raw_score=True, num_threads=torch.get_num_threads())
            total += self.shares[1] * np.asarray(raw, dtype=np.float64)
        return total

    @property
    def parameters(self) -> int:
        leaves = 0 if self.forest is None else sum(t["num_leaves"] for t in self.forest.dump_model()["tree_info"])
        return leaves + (0 if self.ridge is None else len(self.ridge.weight) + 1)


def learn_departure(
    base: str, train: tuple[FloatArray, FloatArray], val: tuple[FloatArray, FloatArray], options: ForestOptions, seed: int
) -> Departure:
    """Ridge and forest on (features, departures), and the shares of least squared error on the validation questions."""
    features, target = train
    judged, truth = val
    if len(target) < 2 or not len(truth):
        return Departure(base)
    ridges = {penalty: Ridge.fit(features, target, penalty) for penalty in PENALTIES}
    answers = {penalty: ridge.predict(judged) for penalty, ridge in ridges.items()}
    penalty = min(answers, key=lambda each: _error(answers[each], truth))
    forest = _grown(features, target, options, seed, (judged, truth))
    found = Departure(base, (0.0, 1.0), penalty, forest.num_trees(), ridges[penalty], forest)
    trees = found.predict(judged)
    shares = min(SHARES, key=lambda share: _error(share[0] * answers[penalty] + share[1] * trees, truth))
    return replace(found, shares=shares)


def learn_again(found: Departure, data: tuple[FloatArray, FloatArray], options: ForestOptions, seed: int) -> Departure:
    """The same choices, learnt from all questions."""
    if found.shares == (0.0, 0.0):
        return Departure(found.base)
    ridge = Ridge.fit(*data, found.penalty) if found.shares[0] else None
    forest = _grown(*data, replace(options, rounds=found.rounds), seed) if found.shares[1] else None
    return replace(found, ridge=ridge, forest=forest)


def _error(answers: FloatArray, truth: FloatArray) -> float:
    return float(np.mean(np.square(answers - truth)))


def _grown(
    features: FloatArray,
    target: FloatArray,
    options: ForestOptions,
    seed: int,
    val: tuple[FloatArray, FloatArray] | None = None,
) -> "Booster":
    import lightgbm

    settings: dict[str, Any] = {
        "objective": "regression",
        "learning_rate": options.learning_rate,
        "num_leaves": options.leaves,
        "min_data_in_leaf": max(1, min(200, len(target) // 100)),
        "feature_fraction": 0.5,
        "bagging_fraction": 0.7,
        "bagging_freq": 1,
        "lambda_l2": 10.0,
        "seed": seed,
        "deterministic": True,
        "force_row_wise": True,
        "num_threads": torch.get_num_threads(),
        "verbosity": -1,
    }
    data = lightgbm.Dataset(features[:, : options.columns], target)
    stop: list[Any] = [] if val is None else [lightgbm.early_stopping(options.patience, verbose=False)]
    judged = [] if val is None else [data.create_valid(val[0][:, : options.columns], val[1])]
    forest = lightgbm.train(settings, data, options.rounds, valid_sets=judged, callbacks=stop)
    # As text and back: the same forest that a saved model will have, and free of the training data.
    return lightgbm.Booster(model_str=forest.model_to_string(num_iteration=forest.best_iteration))
