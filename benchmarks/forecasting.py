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
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, help="a file to which JSON lines are added")
    options = parser.parse_args(arguments)
    warnings.simplefilter("ignore", UnusualSeries)
    systems = list(dict.fromkeys([*SIMPLE, *options.systems]))
    found = {
        "physionet-2012": vitals(options.folder, systems, options.seed, options.development),
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


def vitals(folder: Path, systems: Sequence[str], seed: int, development: bool) -> dict[str, dict[str, Any]]:
    """RMSE of each channel 0 to 12 hours after what was seen."""
    learnt = read_vitals(folder / "set-a.zip")
    others = learnt[LEARNT:] if development else read_vitals(folder / "set-b.zip")[:ASKED]
    early = others.times <= SEEN
    seen = np.add.reduceat(early, others.offsets[:-1]) > 0
    others = others.select(seen)
    early = others.times <= SEEN
    visible = SeriesSet.from_arrays(
        *zip(*[(one.times[one.times <= SEEN], one.values[one.times <= SEEN]) for one in others], strict=True),
        ids=others.ids,
        channels=CHANNELS,
        start=0.0,
        time_unit="h",
    )
    asked = (others.times > SEEN) & (others.times <= END)
    owner, truth = others.owner()[asked], others.values[asked]
    times = [others.times[asked & (others.owner() == k)] for k in range(len(others))]
    possible = np.stack([(truth[:, c] >= POSSIBLE[n][0]) & (truth[:, c] <= POSSIBLE[n][1]) for c, n in enumerate(CHANNELS)], 1)
    known = np.stack([np.bincount(owner[~np.isnan(t)]) > 0 for t in visible.values.T[:0]], 1) if False else None
    tables: dict[str, dict[str, Any]] = {"all values": {}, "possible values": {}}
    for system in systems:
        forecaster, seconds = fitted(system, learnt[:LEARNT], seed)
        answers = np.concatenate(forecaster.predict(visible, times))
        for title, rows in (("all values", ~np.isnan(truth)), ("possible values", possible)):
            tables[title][system] = {"rmse": errors(answers, truth, rows), "fit_cpu_seconds": seconds}
    return tables


if __name__ == "__main__":
    main()
