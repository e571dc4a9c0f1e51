"""Push rows of many series as they come, and ask what is known now: the answers of `predict` on the same rows."""

import heapq
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from itertools import count
from numbers import Real
from typing import Any, NamedTuple

import numpy as np

from denots.data.schema import TableSchema
from denots.data.series import SeriesSet
from denots.errors import InvalidEvent, InvalidOption
from denots.inference.streamed import Streamed
from denots.registry import lookup
from denots.shapes import FloatArray
from denots.stream.carrying import Carrying
from denots.stream.snapshot import Snapshot, digest_of
from denots.stream.track import Track
from denots.stream.words import Strangers, Words

NOTHING_YET, NOT_SOLVED, PAST = "nothing observed yet", "not solved", "further back than the lag"
Cell = float | str | None
MEMORY = "memory."  # before the names of what a backbone remembers, in a snapshot


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
    rows: kept of a series, the latest ones. Answers are then those for these rows, unless a state is carried on.
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
    """The rows of many series, and a model that answers about them at any time, with the bits of `predict`.

    A model with a state that can be carried from row to row keeps it, and of the rows only those within the lag: an answer costs
    the same however long the series is, and a question may lie as far back as a row may come late. Rows wait until somebody
    asks, and then all series take their steps together. Other models read the rows that are kept again for every answer, and its
    cost grows with them.
    """

    def __init__(
        self,
        model: Streamed,
        channels: tuple[str, ...],
        static_names: tuple[str, ...] = (),
        rules: Rules | None = None,
        schema: TableSchema | None = None,
    ) -> None:
        self.model, self.channels, self.static_names = model, channels, static_names
        self._categories, na = ({}, ()) if schema is None else (schema.categories or {}, schema.na)
        self._words = Words(channels, self._categories, na)
        self._static_words = Words(static_names, self._categories, na)
        self._places = {name: k for k, name in enumerate(channels)}
        self._nothing = np.full(len(channels), np.nan)
        self._begin(rules or Rules(), 0)

    def _begin(self, rules: Rules, pushed: int) -> None:
        self.rules = rules
        self.pushed = pushed  # rows, over the whole life of the stream
        self._tracks: dict[str | int, Track] = {}
        self._oldest: list[tuple[float, int, Track]] = []  # a heap, by a time that no track's latest row lies before
        self._numbers = count()
        self._strangers = Strangers(self._categories)
        carried = self.model.carried
        self._carrying = None if carried is None else Carrying(carried)

    def __len__(self) -> int:
        return len(self._tracks)

    @property
    def kept(self) -> int:
        """How many rows are remembered, of all series."""
        return sum(len(track.times) for track in self._tracks.values())

    def push(
        self,
        id: str | int,
        time: float,
        values: Mapping[str, Cell],
        *,
        static: Mapping[str, Cell] | None = None,
        start: float | None = None,
    ) -> None:
        """Take in one row; channels that are not named, None or NaN were not observed. Columns of text hold text.

        Args:
            time: on the clock of the series.
            static, start: of a series that is new; ignored later. Without a start, the clock begins with the first row.
        """
        if not isinstance(id, str | int) or isinstance(id, bool):
            raise InvalidEvent(f"an id is text or a whole number; got {id!r:.60}.")
        moment = _number(time, id, "the time")
        row, seen, unknown = self._row(id, values)
        track, strange = self._tracks.get(id), dict[str, str]()
        known = track is not None
        if track is None:
            track, strange = self._new(id, moment, static, start)
        gone = track.add(moment, row, seen, self.rules.lag, self.rules.rows)
        if not known:
            self._follow(track)
        self._strangers.note(id, -math.inf, strange)
        self._strangers.note(id, moment, unknown)
        if self._carrying is None:
            track.keep_latest(self.rules.rows)
        else:
            self._carrying.pushed(track, gone, self.rules.lag, self.rules.rows)
        self.pushed += 1

    def now(self, time: float, ids: Iterable[str | int] | None = None) -> list[Answer]:
        """What is known at a time, of all series or of those named, in the order in which they began.

        Later rows do not count, and series without any row so far are left out. Those that have expired are forgotten.
        """
        moment = _number(time, None, "the time")
        self.forget(moment)
        self._catch_up()
        tracks = self._tracks.values() if ids is None else [self._known(id) for id in ids]
        return self._told([(track, moment) for track in tracks if track.begun(moment)])

    def ask(self, questions: Sequence[tuple[str | int, float]]) -> list[Answer]:
        """What is known of each series at a time of its own."""
        return self._told([(self._known(id), _number(time, id, "the time")) for id, time in questions])

    def expires(self, time: float) -> bool:
        """Whether any series may have to be forgotten by now."""
        return bool(self._oldest) and time - self._oldest[0][0] > self.rules.expire

    def forget(self, time: float) -> list[str | int]:
        """Leave out the series that have expired by now, and name them."""
        gone: list[str | int] = []
        while self.expires(time):
            _, number, track = heapq.heappop(self._oldest)
            if time - track.latest > self.rules.expire:
                del self._tracks[track.id]
                self._strangers.forget(track.id)
                gone.append(track.id)
                if self._carrying is not None:
                    self._carrying.forget(track)
            else:
                heapq.heappush(self._oldest, (track.latest, number, track))
        return gone

    def snapshot(self) -> Snapshot:
        """Everything that the stream knows, as plain values and arrays."""
        tracks = list(self._tracks.values())
        values = {
            "model": self._digest,
            "channels": list(self.channels),
            "static_names": list(self.static_names),
            "rules": {name: None if value == math.inf else value for name, value in asdict(self.rules).items()},
            "pushed": self.pushed,
            "ids": [track.id for track in tracks],
            "strangers": self._strangers.kept(),
        }
        self._catch_up()
        memory = {} if self._carrying is None or not tracks else self._carrying.first_states(tracks)
        arrays = {
            "times": np.array([time for track in tracks for time in track.times], dtype=np.float64),
            "values": np.array([row for track in tracks for row in track.rows]).reshape(-1, len(self.channels)),
            "lengths": np.array([len(track.times) for track in tracks], dtype=np.int64),
            "start": np.array([track.start for track in tracks], dtype=np.float64),
            "told": np.array([track.told for track in tracks], dtype=bool),
            "latest": np.array([track.latest for track in tracks], dtype=np.float64),
            "before": np.array([track.before for track in tracks], dtype=np.float64),
            "seen_before": np.array([track.seen_before for track in tracks], dtype=bool),
            "static": np.array([track.static for track in tracks]).reshape(len(tracks), len(self.static_names)),
        }
        return Snapshot(values, arrays | {MEMORY + name: array for name, array in memory.items()})

    def restore(self, snapshot: Snapshot) -> None:
        """Become the stream that a snapshot was taken of, by the same model."""
        values, arrays = snapshot.values, snapshot.arrays
        if (tuple(values["channels"]), tuple(values["static_names"])) != (self.channels, self.static_names):
            raise InvalidOption("the snapshot is of a model with other channels or static features; start without it.")
        if values["model"] != self._digest:
            raise InvalidOption(
                "the snapshot is of another model, and this one would go on otherwise; start without it."
            )
        rules: dict[str, Any] = {name: math.inf if own is None else own for name, own in values["rules"].items()}
        self._begin(Rules(**rules), int(values["pushed"]))
        seen = (~np.isnan(arrays["values"])).any(axis=1).tolist()
        columns = (arrays[name].tolist() for name in ("lengths", "start", "told", "latest", "before", "seen_before"))
        end = 0
        for id, static, length, start, told, latest, before, seen_before in zip(
            values["ids"], arrays["static"], *columns, strict=True
        ):
            rows, end = slice(end, end + length), end + length
            own = list(arrays["values"][rows])
            times = arrays["times"][rows].tolist()
            self._follow(Track(id, start, static, told, times, own, seen[rows], latest, [], before, seen_before))
        for id, since, name, word in values.get("strangers", ()):
            self._strangers.note(id, since, {name: word})
        if self._carrying is not None and self._tracks:
            memory = {name[len(MEMORY) :]: array for name, array in arrays.items() if name.startswith(MEMORY)}
            self._carrying.restore(list(self._tracks.values()), memory)

    @cached_property
    def _digest(self) -> str:
        return digest_of(self.model.state)

    def _new(
        self, id: str | int, time: float, static: Mapping[str, Cell] | None, start: float | None
    ) -> tuple[Track, dict[str, str]]:
        """A series, and the words of its static features that training did not have."""
        begun = time if start is None else _number(start, id, "the start")
        row, unknown = self._static(id, static or {})
        return Track(id, begun, row, told=start is not None), unknown

    def _follow(self, track: Track) -> None:
        self._tracks[track.id] = track
        if self.rules.expire < math.inf:
            heapq.heappush(self._oldest, (track.latest, next(self._numbers), track))

    def _catch_up(self) -> None:
        if self._carrying is not None:
            self._carrying.catch_up(self.rules.lag, self.rules.rows)

    def _told(self, asked: list[tuple[Track, float]]) -> list[Answer]:
        self._catch_up()
        status = [_status(track, time) for track, time in asked]
        able = [pair for pair, of in zip(asked, status, strict=True) if of == "ok"]
        told = iter(self._answered(able)) if able else iter(())
        return [
            next(told) if of == "ok" else Answer(track.id, time, {}, of)
            for (track, time), of in zip(asked, status, strict=True)
        ]

    def _answered(self, asked: list[tuple[Track, float]]) -> list[Answer]:
        if self._carrying is None:
            moments = np.array([[time] for _, time in asked], dtype=np.float64)
            told = self.model.fitted.outputs(self._series([track for track, _ in asked]), moments)
        else:
            told = self._carrying.outputs(asked)
        columns = self.model.task.columns(self.model.task.answer(told.outputs))
        names, cells = list(columns), zip(*(column.tolist() for column in columns.values()), strict=True)
        return [
            Answer(track.id, time, dict(zip(names, row, strict=True)), self._unusual(track, time))
            if ok
            else Answer(track.id, time, {}, NOT_SOLVED)
            for (track, time), row, ok in zip(asked, cells, told.ok.tolist(), strict=True)
        ]

    def _unusual(self, track: Track, time: float) -> str:
        remark = self._strangers.remark(track.id, time)
        return f"unusual: {remark}" if remark else "ok"

    def _series(self, tracks: list[Track]) -> SeriesSet:
        return SeriesSet(
            times=np.array([time for track in tracks for time in track.times]),
            values=np.array([row for track in tracks for row in track.rows]),
            offsets=np.cumsum([0, *(len(track.times) for track in tracks)]),
            start=np.array([track.start for track in tracks]),
            ids=np.arange(len(tracks)),
            channels=self.channels,
            static=np.array([track.static for track in tracks]) if self.static_names else None,
            static_names=self.static_names,
        )

    def _known(self, id: str | int) -> Track:
        if id not in self._tracks:
            raise InvalidEvent(f"series {id!r} is not known; push a row of it first. It may have expired.")
        return self._tracks[id]

    def _row(self, id: str | int, values: Mapping[str, Cell]) -> tuple[FloatArray, bool, dict[str, str]]:
        """A cell for each channel, whether anything was seen, and the words that training did not have."""
        row, seen, unknown = self._nothing.copy(), False, dict[str, str]()
        for name, value in _named(values, id).items():
            place = self._places.get(name)
            if place is None:
                lookup({**self._words.places, **self._places}, name, f"channel of series {id!r}:")
                word = self._words.put(row, name, value, f"series {id!r}: channel")
                seen |= word is not None
                unknown |= self._words.unknown(name, word)
            elif value is not None:
                row[place] = number = _number(value, id, "channel", name)
                seen |= number == number
        return row, seen, unknown

    def _static(self, id: str | int, static: Mapping[str, Cell]) -> tuple[FloatArray, dict[str, str]]:
        known = {name: k for k, name in enumerate(self.static_names)}
        row, unknown = np.full(len(known), np.nan), dict[str, str]()
        for name, value in _named(static, id).items():
            lookup({**self._static_words.places, **known}, name, f"static feature of series {id!r}:")
            if name not in known:
                word = self._static_words.put(row, name, value, f"series {id!r}: static")
                unknown |= self._static_words.unknown(name, word)
            elif value is not None:
                row[known[name]] = _number(value, id, "static", name)
        return row, unknown


def _status(track: Track, time: float) -> str:
    if time < track.before:
        return PAST
    return "ok" if track.observed(time) else NOTHING_YET


def _named(values: Any, id: str | int) -> Mapping[str, Any]:
    if not isinstance(values, Mapping):
        raise InvalidEvent(f"series {id!r}: values are told by the name of their channel; got {values!r:.60}.")
    return values


def _number(value: Any, id: str | int | None, what: str, name: str | None = None) -> float:
    """A finite number, or one that is missing if it has a name; words are put together only where it is neither."""
    if type(value) is float and value - value == 0.0:
        return value
    try:
        number = float(value) if isinstance(value, Real) and not isinstance(value, bool) else math.inf
    except OverflowError:
        number = math.inf
    if math.isinf(number) or (math.isnan(number) and name is None):
        of = what if id is None else f"series {id!r}: {what}"
        raise InvalidEvent(f"{of if name is None else f'{of} {name!r}'} is {value!r:.60}; expected a finite number.")
    return number
