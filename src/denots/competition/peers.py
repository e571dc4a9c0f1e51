"""Peers of the systems: what people use today, with the settings of its authors.

The convolutions and intervals of aeon need an even grid, so values are interpolated linearly to one. A peer
has to be installed: `pip install 'denots[bench]'`.
"""

from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np

from denots.competition.contender import Contender, House, Teller
from denots.competition.contest import Grid
from denots.competition.judge import Told
from denots.data.series import SeriesSet
from denots.data.summary import STATISTICS, summarise
from denots.errors import InvalidOption
from denots.shapes import FloatArray
from denots.tasks import Task

FEWEST_POINTS = 10  # shorter series are refused by the convolutions


@dataclass(frozen=True)
class Peer(Contender):
    """A classifier and a regressor of aeon.

    shares: whether the classifier has probabilities. Where it has none and the order of two classes is
        asked for, the regressor learns -1/2 and 1/2, which is the same ridge.
    """

    name: str
    description: str
    module: str
    classifier: str
    regressor: str
    shares: bool

    def check(self) -> None:
        self._make(classes=True, seed=0)

    def warm_up(self, train: SeriesSet, task: type[Task], metric: str, grid: Grid) -> None:
        """Compile the kernels of one or of many channels, on a few series of each class."""
        kind = self.name, task.learns, len(train.channels) > 1
        if kind not in _WARM:
            _WARM.add(kind)
            target = np.asarray(train.target)
            labels = target if task.learns == "classes" else np.zeros(len(train))
            few = np.concatenate([np.flatnonzero(labels == label)[:4] for label in np.unique(labels)])
            self.fit(train.select(few), task, metric, grid, 0)(train.select(few))

    def fit(self, train: SeriesSet, task: type[Task], metric: str, grid: Grid, seed: int) -> Teller:
        fill, target = channel_means(train), np.asarray(train.target)
        classes = np.unique(target) if task.learns == "classes" else None
        ordered = classes is not None and len(classes) == 2 and metric == "AUROC" and not self.shares
        model = self._make(classes=classes is not None and not ordered, seed=seed)
        learnt = (target == classes[1]) - 0.5 if classes is not None and ordered else target
        model.fit(on_grid(train, grid, fill), learnt)

        def tell(series: SeriesSet) -> Told:
            x = on_grid(series, grid, fill)
            if classes is None:
                return Told(np.asarray(model.predict(x), dtype=np.float64))
            if ordered:
                order = np.asarray(model.predict(x), dtype=np.float64)
                return Told(classes[(order > 0).astype(np.int64)], classes, order=order)
            if self.shares:
                return Told.of_shares(model.predict_proba(x), classes)
            return Told(np.asarray(model.predict(x)), classes)

        return tell

    def _make(self, *, classes: bool, seed: int) -> Any:
        try:
            found = import_module(f"aeon.{'classification' if classes else 'regression'}.{self.module}")
        except ImportError as error:
            raise InvalidOption(
                f"{self.name!r} needs aeon, which cannot be imported ({error}); run `pip install 'denots[bench]'`, "
                "or name the systems that shall compete with --systems."
            ) from error
        return getattr(found, self.classifier if classes else self.regressor)(random_state=seed)


@dataclass(frozen=True)
class Logistic(Contender):
    """Logistic regression of scikit-learn, its penalty chosen by five folds, or fewer where a class is rare."""

    name: str
    description: str
    statistics: tuple[str, ...]

    def check(self) -> None:
        """Nothing has to be installed."""

    def warm_up(self, train: SeriesSet, task: type[Task], metric: str, grid: Grid) -> None:
        """Nothing has to be compiled."""

    def fit(self, train: SeriesSet, task: type[Task], metric: str, grid: Grid, seed: int) -> Teller:
        from sklearn.impute import SimpleImputer
        from sklearn.linear_model import LogisticRegressionCV
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import StandardScaler

        if task.learns != "classes":
            raise InvalidOption(f"{self.name!r} tells classes and cannot learn numbers.")
        target = np.asarray(train.target)
        folds = min(5, int(np.unique(target, return_counts=True)[1].min()))
        model = make_pipeline(
            SimpleImputer(strategy="median", keep_empty_features=True),
            StandardScaler(),
            LogisticRegressionCV(
                Cs=8,
                l1_ratios=(0.0,),
                cv=max(2, folds),
                scoring="neg_log_loss",
                max_iter=2000,
                use_legacy_attributes=False,
            ),
        )
        model.fit(self._table(train), target)
        return lambda series: Told.of_shares(model.predict_proba(self._table(series)), model.classes_)

    def _table(self, series: SeriesSet) -> FloatArray:
        whole = summarise(series)
        own = whole.shape[1] - len(series.channels) * len(STATISTICS)
        kept = [STATISTICS.index(name) for name in self.statistics]
        of_channels = whole[:, own:].reshape(len(series), -1, len(STATISTICS))[:, :, kept]
        return np.concatenate([whole[:, :own], of_channels.reshape(len(series), -1)], axis=1)


_WARM: set[tuple[str, str, bool]] = set()  # what is compiled in this process

PEERS: dict[str, Contender] = {
    peer.name: peer
    for peer in (
        Peer(
            "minirocket",
            "MiniRocket and a ridge, after linear interpolation to an even grid (aeon).",
            "convolution_based",
            "MiniRocketClassifier",
            "MiniRocketRegressor",
            shares=False,
        ),
        Peer(
            "multirocket-hydra",
            "MultiROCKET, Hydra and a ridge, after linear interpolation to an even grid (aeon).",
            "convolution_based",
            "MultiRocketHydraClassifier",
            "MultiRocketHydraRegressor",
            shares=False,
        ),
        Peer(
            "quant",
            "QUANT and extremely randomised trees, after linear interpolation to an even grid (aeon).",
            "interval_based",
            "QUANTClassifier",
            "QUANTRegressor",
            shares=True,
        ),
        Logistic(
            "logistic",
            "Logistic regression on mean, lowest, highest, last and count of each channel (scikit-learn).",
            ("mean", "lowest", "highest", "last", "count"),
        ),
        House(
            "gru-mask",
            "A gated recurrent unit that is told what is missing, and the time since the row before.",
            "gru",
            {"presence": True, "time_differences": True},
        ),
    )
}


def find_contender(name: str) -> Contender:
    """A peer, or a system of the registry, by its name."""
    return PEERS[name] if name in PEERS else House.of(name)


def on_grid(series: SeriesSet, grid: Grid, fill: FloatArray) -> FloatArray:
    """Values [n, C, points] by linear interpolation, held before the first and after the last observation.

    `fill` stands for a channel that was never observed in a series.
    """
    points = max(grid.points, FEWEST_POINTS)
    values = np.empty((len(series), len(series.channels), points))
    for row, one in enumerate(series):
        begin, end = grid.span or (one.times[0], one.times[-1])
        at = np.linspace(begin, end, points)
        for channel, column in enumerate(one.values.T):
            seen = ~np.isnan(column)
            known = seen.any()
            values[row, channel] = np.interp(at, one.times[seen], column[seen]) if known else fill[channel]
    return values.astype(np.float32)


def channel_means(series: SeriesSet) -> FloatArray:
    """The mean of what was observed of each channel; zero where nothing was."""
    seen = ~np.isnan(series.values)
    return np.where(seen, series.values, 0.0).sum(axis=0) / np.maximum(seen.sum(axis=0), 1)
