"""Forecasts beside the simple ones: `python -m benchmarks.forecasting FOLDER [--systems ...] [--development]`.

FOLDER holds `set-a.zip` and `set-b.zip` of the PhysioNet/CinC Challenge 2012. 1,500 patients of set a are learnt
from; 400 of set b are seen until 36 h and asked for every value that was measured until 48 h. Pendulum-Angles
needs no file: its test part, with rows hidden as in training. `--development` asks about the other patients of
set a and the validation part instead, which is where choices are made. Values are as recorded; a second table
leaves out those that no patient can have (Temp below 25 or above 45, pressures and rates of 0).
A line of JSON for each system is added to `--out`.
"""

import argparse
import io
import json
import time
import warnings
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.tables import console
from denots import SeriesSet
from denots.datasets import load
from denots.errors import UnusualSeries
from denots.estimators import SeriesForecaster
from denots.shapes import BoolArray, FloatArray

CHANNELS = ("HR", "Temp", "SysABP", "RespRate", "Urine")
POSSIBLE = {"HR": (1, 350), "Temp": (25, 45), "SysABP": (1, 350), "RespRate": (1, 120), "Urine": (0, 10_000)}
SIMPLE = ("hold", "recent-mean", "damped-trend")
LEARNT, ASKED, SEEN, END = 1500, 400, 36.0, 48.0


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="Forecasts beside the simple ones.")
    parser.add_argument("folder", type=Path, help="holds set-a.zip and set-b.zip")
    parser.add_argument("--systems", nargs="*", default=["running-mean", "forecast"], help="beside the simple ones")
    parser.add_argument("--development", action="store_true", help="judge on series that choices may be made on")
    parser.add_argument("--asked", type=int, default=ASKED, help="patients of set b that are asked about; 4000 are all")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, help="a file to which JSON lines are added")
    options = parser.parse_args(arguments)
    warnings.simplefilter("ignore", UnusualSeries)
    systems = list(dict.fromkeys([*SIMPLE, *options.systems]))
    found = {
        "physionet-2012": vitals(options.folder, systems, options.seed, options.development, options.asked),
        "pendulum-angles": angles(systems, options.seed, options.development),
    }
    for name, tables in found.items():
        for title, rows in tables.items():
            show(f"{name}, {title}", rows)
    if options.out is not None:
        with options.out.open("a", encoding="utf-8") as file:
            for name, tables in found.items():
                for title, rows in tables.items():
                    for system, row in rows.items():
                        facts = {"dataset": name, "values": title, "system": system, "seed": options.seed, **row}
                        file.write(json.dumps({**facts, "development": options.development}) + "\n")


def vitals(folder: Path, systems: Sequence[str], seed: int, development: bool, asked: int) -> dict[str, dict[str, Any]]:
    """RMSE of each channel in the 12 hours after what was seen, where a channel was seen at all."""
    learnt = read_vitals(folder / "set-a.zip")
    others = list(learnt[LEARNT:] if development else read_vitals(folder / "set-b.zip")[:asked])
    others = [one for one in others if one.times[0] <= SEEN]
    early = [one.times <= SEEN for one in others]
    visible = packed(
        [one.id for one in others],
        [one.times[rows] for one, rows in zip(others, early, strict=True)],
        [one.values[rows] for one, rows in zip(others, early, strict=True)],
    )
    times = [one.times[~rows] for one, rows in zip(others, early, strict=True)]
    truth = np.concatenate([one.values[~rows] for one, rows in zip(others, early, strict=True)])
    known = [~np.isnan(one.values[rows]).all(axis=0) for one, rows in zip(others, early, strict=True)]
    rows = ~np.isnan(truth) & np.repeat(known, list(map(len, times)), axis=0)
    low, high = np.array([POSSIBLE[name] for name in CHANNELS]).T
    chosen = {"as recorded": rows, "possible values": rows & (truth >= low) & (truth <= high)}
    tables: dict[str, dict[str, Any]] = {title: {} for title in chosen}
    for system in systems:
        forecaster, seconds = fitted(system, learnt[:LEARNT], seed)
        answers = np.concatenate(forecaster.predict(visible, times))
        for title, judged in chosen.items():
            tables[title][system] = {**errors(answers, truth, judged, CHANNELS), "fit_cpu_seconds": seconds}
    return tables


def angles(systems: Sequence[str], seed: int, development: bool) -> dict[str, dict[str, Any]]:
    """RMSE of the angle at hidden rows beyond the visible ones, and between them."""
    splits = load("pendulum-angles").splits
    tables: dict[str, dict[str, Any]] = {"beyond": {}, "between": {}}
    for system in systems:
        forecaster, seconds = fitted(system, splits.train, seed)
        part = forecaster.task_.pose(splits.val if development else splits.test)
        answers = forecaster.predict(part.series, part.at.numpy())
        truth, beyond = part.target[..., :-1].numpy(), part.target[..., -1:].numpy() > 0.5
        for title, rows in (("beyond", beyond), ("between", ~beyond)):
            error = errors(answers, truth, rows & ~np.isnan(truth), ("theta",))
            tables[title][system] = {**error, "fit_cpu_seconds": seconds}
    return tables


def fitted(system: str, series: SeriesSet, seed: int) -> tuple[SeriesForecaster, float]:
    started = time.process_time()
    return SeriesForecaster(system, random_state=seed).fit(series), time.process_time() - started


def errors(answers: FloatArray, truth: FloatArray, rows: BoolArray, channels: Sequence[str]) -> dict[str, float]:
    wrong = np.where(rows, answers - truth, 0.0)
    axes = tuple(range(truth.ndim - 1))
    rmse = np.sqrt(np.square(wrong).sum(axis=axes) / rows.sum(axis=axes))
    return dict(zip(channels, rmse.tolist(), strict=True))


def read_vitals(file: Path) -> SeriesSet:
    """Patients in the order of their numbers, those without any of the channels left out; twice measured is averaged."""
    with zipfile.ZipFile(file) as archive:
        names = sorted(name for name in archive.namelist() if name.endswith(".txt"))
        texts = [archive.read(name).decode().strip().split("\n", 1)[1] for name in names]
    table = pd.read_csv(io.StringIO("\n".join(texts)), names=["time", "channel", "value"])
    table["patient"] = np.repeat(np.arange(len(names)), [text.count("\n") + 1 for text in texts])
    table = table[table["channel"].isin(CHANNELS)]
    clock = table["time"].str.split(":", expand=True).astype(float)
    table = table.assign(time=clock[0] + clock[1] / 60)
    wide = table.groupby(["patient", "time", "channel"])["value"].mean().unstack()[list(CHANNELS)].reset_index()
    groups = [(names[patient], rows) for patient, rows in wide.groupby("patient")]
    return packed(
        [Path(name).stem for name, _ in groups],
        [rows["time"].to_numpy() for _, rows in groups],
        [rows[list(CHANNELS)].to_numpy() for _, rows in groups],
    )


def packed(ids: list[Any], times: list[FloatArray], values: list[FloatArray]) -> SeriesSet:
    return SeriesSet.from_arrays(times, values, ids=ids, channels=CHANNELS, start=0.0, time_unit="h")


def show(title: str, rows: dict[str, Any]) -> None:
    """RMSE of every system, and in brackets its ratio to the best simple one of that channel."""
    channels = [name for name in next(iter(rows.values())) if name != "fit_cpu_seconds"]
    best = {channel: min(rows[system][channel] for system in SIMPLE) for channel in channels}
    console.print(f"\n{title}: RMSE (ratio to the best of {', '.join(SIMPLE)})\n")
    console.print(f"| system | {' | '.join(channels)} | CPU s |\n|---|{'---:|' * (len(channels) + 1)}")
    for system, row in rows.items():
        cells = [f"{row[channel]:.4g} ({row[channel] / best[channel]:.3f})" for channel in channels]
        console.print(f"| {system} | {' | '.join(cells)} | {row['fit_cpu_seconds']:.1f} |")


if __name__ == "__main__":
    main()
