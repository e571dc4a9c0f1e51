"""Push rows of many series as they come, and ask what is known now: the answers of `predict` on the same rows."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
import torch

from denots.data.series import SeriesSet
from denots.errors import InvalidEvent, InvalidOption
from denots.registry import lookup
from denots.shapes import FloatArray
from denots.stream.snapshot import Snapshot
from denots.stream.track import Track
from denots.systems import Fitted

NOTHING_YET, NOT_SOLVED = "nothing observed yet", "not solved"


class Answer(NamedTuple):
    """What is said of a series at a time, as columns by name; none, and the reason, where there is no answer."""

    id: str | int
    time: float
    columns: dict[str, Any]
    status: str = "ok"


@dataclass(frozen=True)
class Rules:
    """What a stream keeps.

    lag: how late a row may be, compared with the latest one of its series.
    rows: kept of a series, the latest ones; answers are then those for these rows.
    expire: a series is forgotten so long after its latest row; never by default.
    """

    lag: float = 0.0
    rows: int = 10_000
    expire: float = math.inf

    def __post_init__(self) -> None:
        if not self.lag >= 0 or not self.rows >= 1 or not self.expire > 0:
            raise InvalidOption(
                f"a stream allows a lag from 0 on, keeps at least one row and forgets after a positive time; got lag={self.lag}, "
                f"rows={self.rows}, expire={self.expire}."
            )


class Stream:
    """The rows of many series, and a model that answers about them at any time.

    Every answer is computed from the rows that are kept, for all series that are asked about together, so that it has the bits
    of `predict`; its cost grows with these rows.
    """

    def __init__(
        self, fitted: Fitted, channels: tuple[str, ...], static_names: tuple[str, ...] = (), rules: Rules | None = None
    ) -> None:
        self.fitted, self.channels, self.static_names = fitted, channels, static_names
        self.rules = rules or Rules()
        self.pushed = 0  # rows, over the whole life of the stream
        self._tracks: dict[str | int, Track] = {}
        self._places = {name: k for k, name in enumerate(channels)}

    def __len__(self) -> int:
        return len(self._tracks)

    def push(
        self,
        id: str | int,
        time: float,
        values: Mapping[str, float | None],
        *,
        static: Mapping[str, float | None] | None = None,
        start: float | None = None,
    ) -> None:
        """Take in one row; channels that are not named, None or NaN were not observed.

        Args:
            time: on the clock of the series.
            static, start: of a series that is new; ignored later. Without a start, the clock begins with the first row.
        """
        if not isinstance(id, str | int) or isinstance(id, bool):
            raise InvalidEvent(f"an id is text or a whole number; got {id!r:.60}.")
        moment = _number(time, f"series {id!r}: the time")
        row = self._row(id, values)
        track = self._tracks.get(id)
        if track is None:
            begun = moment if start is None else _number(start, f"series {id!r}: the start")
            track = Track(id, begun, self._static(id, static or {}))
        track.add(moment, row, self.rules.lag, self.rules.rows)
        self._tracks[id] = track
        self.pushed += 1

    def now(self, time: float, ids: Iterable[str | int] | None = None) -> list[Answer]:
        """What is known at a time, of all series or of those named, in the order in which they began.

        Later rows do not count, and series without any row so far are left out. Those that have expired are forgotten.
        """
        moment = _number(time, "the time")
        self.forget(moment)
        asked = list(self._tracks) if ids is None else list(ids)
        begun = [id for id in asked if self._known(id).until(moment)]
        return self.ask([(id, moment) for id in begun])

    def ask(self, questions: Sequence[tuple[str | int, float]]) -> list[Answer]:
        """What is known of each series at a time of its own."""
        asked = [(self._known(id), _number(time, f"series {id!r}: the time")) for id, time in questions]
        seen = [k for k, (track, time) in enumerate(asked) if track.observed(time)]
        told = dict(zip(seen, self._answered([asked[k] for k in seen]), strict=True)) if seen else {}
        return [told.get(k, Answer(track.id, time, {}, NOTHING_YET)) for k, (track, time) in enumerate(asked)]

    def forget(self, time: float) -> list[str | int]:
        """Leave out the series that have expired by now, and name them."""
        gone = [id for id, track in self._tracks.items() if time - track.latest > self.rules.expire]
        for id in gone:
            del self._tracks[id]
        return gone

    def snapshot(self) -> Snapshot:
        """Everything that the stream knows, as plain values and arrays."""
        tracks = list(self._tracks.values())
        values = {
            "channels": list(self.channels),
            "static_names": list(self.static_names),
            "rules": {name: None if value == math.inf else value for name, value in asdict(self.rules).items()},
            "pushed": self.pushed,
            "ids": [track.id for track in tracks],
        }
        arrays = {
            "times": np.array([time for track in tracks for time in track.times], dtype=np.float64),
            "values": np.array([row for track in tracks for row in track.rows]).reshape(-1, len(self.channels)),
            "lengths": np.array([len(track.times) for track in tracks], dtype=np.int64),
            "start": np.array([track.start for track in tracks], dtype=np.float64),
            "latest": np.array([track.latest for track in tracks], dtype=np.float64),
            "static": np.array([track.static for track in tracks]).reshape(len(tracks), len(self.static_names)),
        }
        return Snapshot(values, arrays)

    def restore(self, snapshot: Snapshot) -> None:
        """Become the stream that a snapshot was taken of, by the same model."""
        values, arrays = snapshot.values, snapshot.arrays
        if (tuple(values["channels"]), tuple(values["static_names"])) != (self.channels, self.static_names):
            raise InvalidOption("the snapshot is of a model with other channels or static features; start without it.")
        ends = np.cumsum(arrays["lengths"]).tolist()
        tracks = {}
        for k, (id, end) in enumerate(zip(values["ids"], ends, strict=True)):
            begin = end - int(arrays["lengths"][k])
            tracks[id] = Track(
                id,
                float(arrays["start"][k]),
                arrays["static"][k],
                arrays["times"][begin:end].tolist(),
                list(arrays["values"][begin:end]),
                float(arrays["latest"][k]),
            )
        rules: dict[str, Any] = {name: math.inf if own is None else own for name, own in values["rules"].items()}
        self.rules, self.pushed, self._tracks = Rules(**rules), int(values["pushed"]), tracks

    def _answered(self, asked: list[tuple[Track, float]]) -> list[Answer]:
        at = torch.tensor([[time] for _, time in asked], dtype=torch.float64)
        outputs = self.fitted.outputs(self._series([track for track, _ in asked]), at)
        columns = self.fitted.task.columns(self.fitted.task.answer(outputs.outputs.double()).numpy())
        return [
            Answer(track.id, time, {name: column[k].item() for name, column in columns.items()})
            if outputs.ok[k]
            else Answer(track.id, time, {}, NOT_SOLVED)
            for k, (track, time) in enumerate(asked)
        ]

    def _series(self, tracks: list[Track]) -> SeriesSet:
        return SeriesSet(
            times=np.array([time for track in tracks for time in track.times]),
            values=np.array([row for track in tracks for row in track.rows]),
            offsets=np.cumsum([0, *(len(track.times) for track in tracks)]),
            start=np.array([min(track.start, track.times[0]) for track in tracks]),
            ids=np.arange(len(tracks)),
            channels=self.channels,
            static=np.array([track.static for track in tracks]) if self.static_names else None,
            static_names=self.static_names,
        )

    def _known(self, id: str | int) -> Track:
        if id not in self._tracks:
            raise InvalidEvent(f"series {id!r} is not known; push a row of it first. It may have expired.")
        return self._tracks[id]

    def _row(self, id: str | int, values: Mapping[str, float | None]) -> FloatArray:
        row = np.full(len(self.channels), np.nan)
        for name, value in _named(values, id).items():
            place = lookup(self._places, name, f"channel of series {id!r}:")
            row[place] = math.nan if value is None else _number(value, f"series {id!r}: channel {name!r}", missing=True)
        return row

    def _static(self, id: str | int, static: Mapping[str, float | None]) -> FloatArray:
        known = {name: k for k, name in enumerate(self.static_names)}
        row = np.full(len(known), np.nan)
        for name, value in _named(static, id).items():
            place = lookup(known, name, f"static feature of series {id!r}:")
            row[place] = math.nan if value is None else _number(value, f"series {id!r}: static {name!r}", missing=True)
        return row


def _named(values: Any, id: str | int) -> Mapping[str, Any]:
    if not isinstance(values, Mapping):
        raise InvalidEvent(f"series {id!r}: values are told by the name of their channel; got {values!r:.60}.")
    return values


def _number(value: Any, what: str, *, missing: bool = False) -> float:
    number = float(value) if isinstance(value, Real) and not isinstance(value, bool) else math.inf
    if math.isinf(number) or (math.isnan(number) and not missing):
        raise InvalidEvent(f"{what} is {value!r:.60}; expected a finite number.")
    return number
