"""A loaded model that has shown that it answers."""

import hashlib
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from denots.data.join import joined
from denots.data.reading import Reading
from denots.data.series import SeriesSet
from denots.errors import InvalidFolder
from denots.estimators.estimator import SeriesEstimator
from denots.estimators.folder import load_estimator
from denots.folders import expanded
from denots.inference.folder import MANIFEST
from denots.server.asked import Asked
from denots.server.example import example_of, usual_span

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True, eq=False)
class Served:
    """The model of a folder, as it was when it was loaded; `digest` tells it from any other."""

    name: str
    digest: str
    loaded: str
    estimator: SeriesEstimator

    @classmethod
    def load(cls, folder: Path) -> "Served":
        """Read a folder, check every byte of it, and let the model answer once."""
        before = digest_of(folder)
        estimator = load_estimator(folder)
        if digest_of(folder) != before:
            raise InvalidFolder(f"{folder} was replaced while it was read; read it again.")
        served = cls(expanded(folder).name, before, datetime.now(UTC).isoformat(timespec="seconds"), estimator)
        served.answer([served._trial()], Asked(times=(1.0,) if served.asks_times else None))
        return served

    @property
    def takes_times(self) -> bool:
        """Whether a question may say when."""
        return self.estimator.task_.asks_times

    @property
    def asks_times(self) -> bool:
        """Whether it has to; a model of rows answers for each of them."""
        return self.takes_times and not self.estimator.task_.causal

    def asked(self, query: Mapping[str, str]) -> Asked:
        """What the parameters of a request ask of this model."""
        return Asked.read(query, takes_times=self.takes_times, asks_times=self.asks_times)

    def answer(self, readings: Sequence[Reading], asked: Asked) -> "list[pd.DataFrame]":
        """A table of answers for each reading, the same to the last bit as if it were alone."""
        id = self.estimator.table_schema().id
        sizes = [len(reading.ids) for reading in readings]
        firsts = np.cumsum([0, *sizes])
        numbered = [_numbered(reading, int(first)) for reading, first in zip(readings, firsts[:-1], strict=True)]
        together = Reading(
            joined([reading.series for reading in numbered]),
            tuple(bad for reading in numbered for bad in reading.rejected),
            np.arange(firsts[-1]),
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the status of each series tells what they would
            table = self.estimator.predict_table(together, **asked.options())
        numbers = table[id].to_numpy()
        ends = np.searchsorted(numbers, firsts)
        parts = []
        for reading, first, (begin, end) in zip(readings, firsts[:-1], pairwise(ends), strict=True):
            own = table.iloc[begin:end].reset_index(drop=True)
            own[id] = reading.ids[numbers[begin:end] - first]
            parts.append(own)
        return parts

    def describe(self) -> dict[str, Any]:
        """What a client has to know: the columns, the task, and a table to begin with."""
        estimator = self.estimator
        schema = estimator.table_schema()
        return {
            "name": self.name,
            "digest": self.digest,
            "loaded": self.loaded,
            "task": estimator.task_.name,
            "system": estimator.system_.name,
            "takes_times": self.takes_times,
            "asks_times": self.asks_times,
            "knows_coverage": estimator.calibration_ is not None,
            "time_unit": estimator.time_unit_ or None,
            "columns": {
                "id": schema.id,
                "time": schema.time,
                "start": schema.start,
                "static": list(schema.static),
                "channels": list(schema.channels or ()),
                "variable": schema.variable,
                "value": schema.value,
            },
            "example": example_of(estimator).to_csv(index=False),
            "example_at": f"{usual_span(estimator):.4g}" if self.asks_times else None,
        }

    def _trial(self) -> Reading:
        """One series in which every channel is observed twice, halfway between what training saw."""
        estimator = self.estimator
        middle = np.nan_to_num(estimator.ranges_.values[:, 1:3].mean(axis=1))
        static = np.zeros((1, len(estimator.static_names_))) if estimator.static_names_ else None
        series = SeriesSet.from_arrays(
            [[0.0, 1.0]],
            [np.stack([middle, middle])],
            channels=estimator.channels_,
            static=static,
            static_names=estimator.static_names_ or None,
            time_unit=estimator.time_unit_,
        )
        return Reading(series, (), series.ids)


def digest_of(folder: Path) -> str:
    """The checksum of the manifest, which has those of all files."""
    file = expanded(folder) / MANIFEST
    try:
        return hashlib.sha256(file.read_bytes()).hexdigest()
    except OSError as error:
        raise InvalidFolder(f"{folder} is not a model folder: {MANIFEST} cannot be read ({error.strerror}).") from error


def _numbered(reading: Reading, first: int) -> Reading:
    """The same reading with numbers for names, because two requests may name their series alike."""
    number = {name: first + k for k, name in enumerate(reading.ids.tolist())}
    ids = np.array([number[name] for name in reading.series.ids.tolist()], dtype=np.int64)
    rejected = tuple(replace(bad, id=number[bad.id]) for bad in reading.rejected)
    return Reading(replace(reading.series, ids=ids), rejected, np.arange(first, first + len(number)))
