"""Learn from time series that are irregular, ragged and full of holes.

    table / arrays -> SeriesSet        data        packed, never padded; NaN = not observed
      -> Path                          paths       values and slopes on each series' own grid
      -> VectorField                   fields      dh/dt = g(x(t), h)
      -> solve() -> Solution           ode         every series with its own steps
      -> Backbone                      backbones   states at the end or at query times
      -> Task                          tasks       target, head, loss, metrics and answers
      -> System.fit() -> Fitted        systems     trained backbones, trees; training is resumable
      -> SeriesClassifier ...          estimators  fit, predict, save

Names are imported when they are first used: `import denots` itself is instant.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from denots import datasets, explain, fields, paths, runtime, systems, tasks
    from denots.data import Series, SeriesSet
    from denots.data.schema import TableSchema
    from denots.data.shards import ShardedSet
    from denots.estimators import (
        DeNOTSClassifier,
        DeNOTSForecaster,
        DeNOTSRegressor,
        RowPredictor,
        SeriesClassifier,
        SeriesForecaster,
        SeriesPredictor,
        SeriesRegressor,
    )
    from denots.estimators import load_estimator as load
    from denots.ode.solution import Solution
    from denots.ode.solve import solve
    from denots.tuning import SeriesSearch

__version__ = "0.1.0"

_HOMES = {
    "Series": "denots.data",
    "SeriesSet": "denots.data",
    "solve": "denots.ode",
    "Solution": "denots.ode",
    "TableSchema": "denots.data.schema",
    "ShardedSet": "denots.data.shards",
    "SeriesClassifier": "denots.estimators",
    "SeriesRegressor": "denots.estimators",
    "SeriesForecaster": "denots.estimators",
    "SeriesPredictor": "denots.estimators",
    "RowPredictor": "denots.estimators",
    "DeNOTSClassifier": "denots.estimators",
    "DeNOTSRegressor": "denots.estimators",
    "DeNOTSForecaster": "denots.estimators",
    "load": "denots.estimators",
    "SeriesSearch": "denots.tuning",
}
_RENAMED = {"load": "load_estimator"}

__all__ = [
    "DeNOTSClassifier",
    "DeNOTSForecaster",
    "DeNOTSRegressor",
    "RowPredictor",
    "Series",
    "SeriesClassifier",
    "SeriesForecaster",
    "SeriesPredictor",
    "SeriesRegressor",
    "SeriesSearch",
    "SeriesSet",
    "ShardedSet",
    "Solution",
    "TableSchema",
    "datasets",
    "explain",
    "fields",
    "load",
    "paths",
    "runtime",
    "solve",
    "systems",
    "tasks",
]
_ROOMS = {"datasets", "explain", "fields", "paths", "runtime", "systems", "tasks"}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(_room(_HOMES[name]), _RENAMED.get(name, name))
    if name in _ROOMS:
        return _room(f"denots.{name}")
    raise AttributeError(f"module 'denots' has no attribute {name!r}")


def _room(module: str) -> Any:
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        if error.name is None or not module.startswith(error.name):
            raise
        raise ModuleNotFoundError(
            f"{error.name} is not installed: the distribution denots-runtime predicts with saved models (denots.runtime.load) and "
            "does nothing else. Uninstall it and install denots for the rest.",
            name=error.name,
        ) from error


def __dir__() -> list[str]:
    return sorted(__all__)
