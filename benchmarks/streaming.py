"""What a stream costs, and whether it says what `predict` says: `python -m benchmarks.streaming [speed] [random] [sepsis]`.

`speed`: rows of many series with 34 channels, a fifth of them observed, one row a series and round. All times are processor time of
one core.
`alone`: a row is pushed and its series asked at once, among so many others. `together`: a row of every series is pushed, then all
are asked. `random`: drawn series at random times, rows late within the lag. `sepsis`: all patients of the challenge (`denots data
import sepsis`), hour by hour. In both every answer is compared with that of `predict`, bit by bit.
"""

import argparse
import math
import resource
import time
import warnings
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import torch
from rich.console import Console

from denots import RowPredictor, SeriesSet
from denots.data.join import joined
from denots.datasets.imports import open_import
from denots.datasets.sepsis import CHALLENGE
from denots.datasets.sepsis_alarm import hourly
from denots.errors import UnusualSeries
from denots.shapes import IntArray
from denots.systems import SYSTEMS

CHANNELS, SEEN = tuple(f"channel {k}" for k in range(34)), 0.2
TEACHING = {"max_epochs": 1, "batches_per_epoch": 10, "rounds": 100}  # speed and bits do not depend on what was learnt
ROUNDS_BEFORE, ROUNDS = 12, 3  # rows of each series before anything is timed, and those that are timed
ALONE = 2000  # rows that are answered one by one

say = Console(soft_wrap=True, highlight=False, markup=False).print


class Row(NamedTuple):
    id: str | int
    time: float
    values: dict[str, float]


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="Speed of streams, and their answers beside those of predict.")
    parser.add_argument("what", nargs="*", help="speed, random, sepsis; default: all")
    parser.add_argument(
        "--systems",
        nargs="+",
        default=[name for name in SYSTEMS if name.startswith("running-") and SYSTEMS[name].causal],
    )
    parser.add_argument("--ids", type=int, nargs="+", default=[1, 1000, 100_000])
    parser.add_argument("--patients", type=int, help="so many of each hospital, for a quick look")
    given = parser.parse_args(arguments)
    torch.set_num_threads(1)
    warnings.simplefilter("ignore", UnusualSeries)
    wanted = given.what or ["speed", "random", "sepsis"]
    for name in given.systems:
        if "speed" in wanted:
            speed(name, given.ids)
        if "random" in wanted:
            series = drawn(400, seed=2)
            compare("random times", taught(name, drawn(200, seed=1)), series, late(series, lag=3.0), lag=3.0)
        if "sepsis" in wanted:
            hospitals = hourly(open_import(CHALLENGE)).values()
            chosen = [own if given.patients is None else own.select(np.arange(given.patients)) for own in hospitals]
            patients = joined(chosen)
            model = taught(name, patients.select(np.random.default_rng(0).permutation(len(patients))[:2000]))
            compare("sepsis", model, patients.without_row_target(), by_hour(patients), lag=0.0)


def taught(name: str, series: SeriesSet) -> RowPredictor:
    options = {key: value for key, value in TEACHING.items() if key in SYSTEMS[name].options}
    return RowPredictor(name, options=options, random_state=0).fit(series)


def drawn(count: int, seed: int) -> SeriesSet:
    """Random walks with holes, seen at random times."""
    rng = np.random.default_rng(seed)
    times = [np.sort(rng.uniform(0, 48, rng.integers(10, 40))) for _ in range(count)]
    values = [rng.normal(size=(len(own), len(CHANNELS))).cumsum(axis=0) for own in times]
    labels = [own[:, 0] > 0 for own in values]
    for table in values:
        table[rng.random(table.shape) > SEEN] = np.nan
        table[0, 0] = 0.0
    return SeriesSet.from_arrays(times, values, row_target=labels, channels=CHANNELS)


def rows(ids: int, hour: int, rng: np.random.Generator) -> Iterator[Row]:
    """A row of every series within an hour, in any order."""
    for id in rng.permutation(ids).tolist():
        places = rng.permutation(len(CHANNELS))[: max(1, round(SEEN * len(CHANNELS)))].tolist()
        yield Row(id, hour + rng.random(), {CHANNELS[k]: rng.normal() for k in places})


def speed(name: str, sizes: Sequence[int]) -> None:
    say(
        f"\n{name}\n| series | rows before | push, us: p50 | p99 | alone, us a row: p50 | p99 | alone, rows a second "
        "| together, us a row | together, rows a second | most bytes a series, with all answers |\n"
        + "|---:" * 10
        + "|"
    )
    model = taught(name, drawn(200, seed=0))
    for ids in sizes:
        before = resident()
        stream, rng = model.stream(), np.random.default_rng(0)
        for hour in range(ROUNDS_BEFORE):
            for row in rows(ids, hour, rng):
                stream.push(*row)
            stream.now(hour + 1.0)
        size = (resident() - before) / ids
        alone, pushes, hour = [], [], ROUNDS_BEFORE
        while len(alone) < ALONE:
            for row in list(rows(ids, hour, rng))[: ALONE - len(alone)]:
                started = time.process_time_ns()
                stream.push(*row)
                between = time.process_time_ns()
                stream.ask([(row.id, row.time)])
                alone.append(time.process_time_ns() - started)
                pushes.append(between - started)
            hour += 1
        spent = []
        for _ in range(ROUNDS):
            batch = list(rows(ids, hour, rng))
            started = time.process_time()
            for row in batch:
                stream.push(*row)
            stream.now(hour + 1.0)
            spent.append((time.process_time() - started) / ids)
            hour += 1
        each = np.quantile(alone, [0.5, 0.99]) / 1e3
        push = np.quantile(pushes, [0.5, 0.99]) / 1e3
        best = min(spent)
        say(
            f"| {ids:,} | {ROUNDS_BEFORE} | {push[0]:.1f} | {push[1]:.1f} | {each[0]:.0f} | {each[1]:.0f} | {1e9 / np.mean(alone):,.0f} "
            f"| {1e6 * best:.1f} | {1 / best:,.0f} | {size:,.0f} |"
        )


def by_hour(series: SeriesSet) -> list[IntArray]:
    """All rows of a time together, in order of time."""
    order = np.argsort(series.times, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(series.times[order])) + 1)


def late(series: SeriesSet, lag: float) -> list[IntArray]:
    """Rows as they come, each late by a random part of the lag, a hundred at a time."""
    order = np.argsort(series.times + np.random.default_rng(0).uniform(0, lag, len(series.times)), kind="stable")
    return np.split(order, range(100, len(order), 100))


def compare(what: str, model: RowPredictor, series: SeriesSet, batches: Sequence[IntArray], lag: float) -> None:
    """Push rows; a row is asked about as soon as it and all before it are there."""
    started = time.process_time()
    wanted = np.concatenate([own[:, 1] for own in model.predict_proba(series)])
    predicted = time.process_time() - started
    stream, spent = model.stream(lag=lag), 0.0
    told, come = np.full(len(wanted), np.nan), np.zeros(len(wanted) + 1, dtype=bool)
    following, owner, ids = series.offsets[:-1].tolist(), series.owner(), series.ids.tolist()
    for batch in batches:
        come[batch] = True
        events = [row_of(series, row, ids[owner[row]]) for row in batch.tolist()]
        ready = []
        for k in np.unique(owner[batch]).tolist():
            while following[k] < series.offsets[k + 1] and come[following[k]]:
                ready.append(following[k])
                following[k] += 1
        questions = [(ids[owner[row]], series.times[row].item()) for row in ready]
        static = [{} if series.static is None else static_of(series, k) for k in owner[batch].tolist()]
        starts = series.start[owner[batch]].tolist()
        started = time.process_time()
        for row, of, start in zip(events, static, starts, strict=True):
            stream.push(*row, static=of, start=start)
        answers = stream.ask(questions)
        spent += time.process_time() - started
        told[ready] = [answer.columns.get("p_1", math.nan) for answer in answers]
    seen = np.cumsum(~np.isnan(series.values).all(axis=1))
    known = seen > np.concatenate([[0], seen])[series.offsets[:-1]][owner]
    differ = int((told != wanted)[known].sum()) + int((~np.isnan(told))[~known].sum())
    say(
        f"{model.system}, {what}: {len(series):,} series, {len(wanted):,} rows, lag {lag:g}: {differ} answers differ from predict; before "
        f"{int((~known).sum()):,} rows nothing was observed yet, and none has an answer "
        f"({1e6 * spent / len(wanted):.1f} us a row of processor time, predict {1e6 * predicted / len(wanted):.1f})"
    )


def row_of(series: SeriesSet, row: int, id: str | int) -> Row:
    seen = {
        name: value for name, value in zip(series.channels, series.values[row].tolist(), strict=True) if value == value
    }
    return Row(id, series.times[row].item(), seen)


def static_of(series: SeriesSet, k: int) -> dict[str, float]:
    return dict(zip(series.static_names, series.static[k].tolist(), strict=True))


def resident() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


if __name__ == "__main__":
    main()
