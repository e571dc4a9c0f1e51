"""A loaded model that has shown that it answers."""

import hashlib
import warnings
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from denots.data.join import joined
from denots.data.reading import Reading
from denots.data.series import SeriesSet
from denots.errors import InvalidFolder, Rejected
from denots.estimators.estimator import SeriesEstimator
from denots.estimators.folder import load_estimator
from denots.folders import expanded
from denots.inference.folder import MANIFEST
from denots.processors import one_thread
from denots.server.asked import Asked
from denots.server.example import example_of, usual_span
from denots.server.told import Told
from denots.shapes import IntArray

FEW_ROWS = 2000  # of a call that more than one thread would not make quicker


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

    def answer(self, readings: Sequence[Reading], asked: Asked) -> list[Told]:
        """Answers for each reading, the same to the last bit as if it were alone."""
        id = self.estimator.table_schema().id
        together, firsts = _joined(readings)
        small = len(together.series.times) < FEW_ROWS
        with warnings.catch_warnings(), one_thread() if small else nullcontext():
            warnings.simplefilter("ignore")  # the status of each series tells what they would
            table = self.estimator.predict_table(together, **asked.options())
        numbers = table[id].to_numpy()
        columns = {name: table[name].tolist() for name in table.columns if name != id}
        ends = np.searchsorted(numbers, firsts).tolist()
        return [
            Told(
                {id: reading.ids[numbers[begin:end] - first].tolist()}
                | {name: column[begin:end] for name, column in columns.items()}
            )
            for reading, first, (begin, end) in zip(readings, firsts[:-1], pairwise(ends), strict=True)
        ]

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


def _joined(readings: Sequence[Reading]) -> tuple[Reading, IntArray]:
    """All readings as one with numbers for names, because two requests may name their series alike; and the first of each."""
    firsts = np.cumsum([0, *(len(reading.ids) for reading in readings)])
    ids: list[int] = []
    rejected: list[Rejected] = []
    texts: dict[tuple[Any, str], str] = {}
    for reading, first in zip(readings, firsts.tolist(), strict=False):
        number = {name: first + k for k, name in enumerate(reading.ids.tolist())}
        ids += [number[name] for name in reading.series.ids.tolist()]
        rejected += [replace(bad, id=number[bad.id]) for bad in reading.rejected]
        texts |= {(number[name], column): text for (name, column), text in reading.texts.items()}
    series = joined([reading.series for reading in readings], np.array(ids, dtype=np.int64))
    return Reading(series, tuple(rejected), np.arange(firsts[-1]), texts), firsts
