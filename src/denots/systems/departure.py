"""What is learnt beyond the best simple forecast of a channel: a ridge and boosted trees, as far as they help."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import torch

from denots.shapes import FloatArray

if TYPE_CHECKING:
    from lightgbm import Booster

PENALTIES = tuple(10.0**k for k in range(-4, 2))  # for each row of features
TAILS = (0.005, 0.995)  # beyond these quantiles a feature is cut for the ridge
SHARES = tuple((ridge / 4, forest / 4) for ridge in range(5) for forest in range(5 - ridge))


class Lesson(NamedTuple):
    """Features [Q, F] and departures [Q] in a unit [Q] of each question: how much its series varies.

    Squared errors weigh the unit squared, so that the sum is that of the departures themselves; the unit lets what
    is learnt from quiet series hold for restless ones.
    """

    features: FloatArray
    target: FloatArray
    unit: FloatArray

    def joined(self, other: "Lesson") -> "Lesson":
        return Lesson(*(np.concatenate(pair) for pair in zip(self, other, strict=True)))

    def error(self, answers: FloatArray) -> float:
        return float(np.mean(np.square((answers - self.target) * self.unit)))


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
    def fit(cls, lesson: Lesson, penalty: float) -> "Ridge":
        features, target, unit = lesson
        seen = np.where(np.isnan(features).all(axis=0), 0.0, features)
        low, high = np.nanquantile(seen, TAILS, axis=0)
        kept = np.clip(seen, low, high)
        centre, spread = np.nanmean(kept, axis=0), np.nanstd(kept, axis=0)
        spread = np.where(spread > 0, spread, 1.0)
        table = np.nan_to_num((kept - centre) / spread)
        weight = np.square(unit)
        bias = float(np.average(target, weights=weight))
        weighed = (table * weight[:, None]).T
        moments = weighed @ table + penalty * weight.sum() * np.eye(table.shape[1])
        return cls(low, high, centre, np.linalg.solve(moments, weighed @ (target - bias)) / spread, bias)

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


def learn_departure(base: str, train: Lesson, val: Lesson, options: ForestOptions, seed: int) -> Departure:
    """Ridge and forest, and the shares of least squared error on the validation questions."""
    if len(train.target) < 2 or not len(val.target):
        return Departure(base)
    ridges = {penalty: Ridge.fit(train, penalty) for penalty in PENALTIES}
    answers = {penalty: ridge.predict(val.features) for penalty, ridge in ridges.items()}
    penalty = min(answers, key=lambda each: val.error(answers[each]))
    forest = _grown(train, options, seed, val)
    found = Departure(base, (0.0, 1.0), penalty, forest.num_trees(), ridges[penalty], forest)
    trees = found.predict(val.features)
    shares = min(SHARES, key=lambda share: val.error(share[0] * answers[penalty] + share[1] * trees))
    return replace(found, shares=shares)


def learn_again(found: Departure, lesson: Lesson, options: ForestOptions, seed: int) -> Departure:
    """The same choices, learnt from all questions."""
    ridge = Ridge.fit(lesson, found.penalty) if found.shares[0] else None
    forest = _grown(lesson, replace(options, rounds=found.rounds), seed) if found.shares[1] else None
    return replace(found, ridge=ridge, forest=forest)


def _grown(lesson: Lesson, options: ForestOptions, seed: int, val: Lesson | None = None) -> "Booster":
    import lightgbm

    settings: dict[str, Any] = {
        "objective": "regression",
        "learning_rate": options.learning_rate,
        "num_leaves": options.leaves,
        "min_data_in_leaf": max(1, min(200, len(lesson.target) // 100)),
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
    k = options.columns
    data = lightgbm.Dataset(lesson.features[:, :k], lesson.target, weight=np.square(lesson.unit))
    judged: list[Any] = []
    stop: list[Any] = []
    if val is not None:
        judged = [data.create_valid(val.features[:, :k], val.target, weight=np.square(val.unit))]
        stop = [lightgbm.early_stopping(options.patience, verbose=False)]
    forest = lightgbm.train(settings, data, options.rounds, valid_sets=judged, callbacks=stop)
    # As text and back: the same forest that a saved model will have, and free of the training data.
    return lightgbm.Booster(model_str=forest.model_to_string(num_iteration=forest.best_iteration))
