"""What any number of series takes: `python -m benchmarks.billion [--measured FOLDER]`.

Measures what one row, one feature and one product cost on one processor of this machine, and adds them up for tables of many
series on many machines: seconds of processors, hours by the clock, what decides them, and the price. With the folder of
`benchmarks.million`, what it measured stands beside what is told of that size.
"""

import argparse
import hashlib
import json
import math
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch

from benchmarks.million import draw

SAMPLE = 2048
FEATURES = 4000
ROW_BYTES = 8 + 4 * 3  # a time and three channels
BATCH, MOST_WORKERS = 128, 16  # of a training; a piece of a batch should fill the lanes of a processor
TURNS, LATENCY = 2, 5e-4  # messages a batch, seconds each; not measured
READ = NETWORK = 1e9  # bytes a second of the shared file system, and into the first machine; not measured
PRICE = 0.045  # dollars for an hour of a processor; not measured


@dataclass(frozen=True)
class Costs:
    """Seconds of one processor: of a row, of a row and feature, of a series, of a pair of features, of a byte."""

    convert_row: float
    feature_row: float
    product: float
    add: float
    epoch_series: float
    answer_series: float
    hash_byte: float


@dataclass(frozen=True)
class Job:
    """So many series of so many rows in shards of so many series, on so many processors."""

    series: float
    rows: float = 63.0
    shard: float = 16_000.0
    processors: int = 1


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="Time and price of many series.")
    parser.add_argument("--measured", type=Path, help="folder of benchmarks.million")
    options = parser.parse_args(arguments)
    torch.set_num_threads(1)
    costs = measured()
    lines = [f"{name:15}{value * 1e9:12.4g} ns" for name, value in vars(costs).items()]
    jobs = [Job(1e6, processors=p) for p in (1, 2, 32)]
    jobs += [Job(1e9, shard=s, processors=p) for p in (128, 1024) for s in (16_000.0, 200_000.0)]
    for job in jobs:
        lines.append(
            f"\n{job.series:.0e} series of {job.rows:g} rows, {job.shard:g} a shard, {job.processors} processors"
        )
        for step, (parts, used) in steps(costs, job).items():
            decides = max(parts, key=lambda part: parts[part])
            lines.append(
                f"  {step:18}{max(parts.values()) / 3600:10.3g} h by the clock ({decides}), {used / 3600:10.3g} processor hours, "
                f"{used / 3600 * PRICE:8.3g} dollars"
            )
    if options.measured is not None:
        lines += compared(costs, options.measured)
    print("\n".join(lines))  # noqa: T201


def steps(costs: Costs, job: Job) -> dict[str, tuple[dict[str, float], float]]:
    """Seconds by the clock of all that happens at the same time, and of processors, for each step."""
    n, size, p = job.series, job.series * job.rows * ROW_BYTES, job.processors
    reading = size / READ
    features = n * job.rows * FEATURES * costs.feature_row + size * costs.hash_byte
    products = n * FEATURES**2 * costs.product
    shards = math.ceil(n / job.shard)
    sums = shards * FEATURES**2 * 8 / NETWORK if p > 1 else 0.0
    adding = shards * FEATURES**2 * costs.add
    learn, answer = n * costs.epoch_series, n * costs.answer_series
    team = min(p, MOST_WORKERS)
    talk = n / BATCH * TURNS * LATENCY if team > 1 else 0.0
    return {
        "convert": ({"one machine": n * job.rows * costs.convert_row}, n * job.rows * costs.convert_row),
        "fit oscillators": (
            {"features": features / p, "products": products / p, "both": (features + products) / p, "reading": reading}
            | {"sums": sums + adding},
            features + products + adding,
        ),
        "predict with it": ({"features": features / p, "reading": reading}, features),
        "an epoch of denots": ({"solving": learn / team + talk, "reading": reading}, learn),
        "predict with that": ({"solving": answer / p, "reading": reading}, answer),
    }


def measured() -> Costs:
    from denots import SeriesClassifier, ShardedSet
    from denots.cli import main as command
    from denots.features import Oscillators
    from denots.heads.ridge_sums import Block, Sums

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        draw(folder / "table.parquet", SAMPLE, seed=2)
        words = [
            "data",
            "convert",
            folder / "table.parquet",
            "--target",
            "label",
            "--shards",
            4,
            "-o",
            folder / "shards",
        ]
        convert = _seconds(lambda: _command(command, words), best_of=1)
        shards = ShardedSet.open(folder / "shards")
        series = shards.select(np.arange(len(shards)))
        file = folder / "shards" / "00000" / "values.npy"
        content = file.read_bytes() * 20
    rows = len(series.times)
    oscillators = Oscillators(FEATURES // 5, random_state=0).fit(series)
    table = oscillators.transform(series.select(np.arange(1024)))
    block, shift = Block(table, np.zeros((len(table), 1))), np.zeros(FEATURES, np.float32)
    sums = Sums.of(block, shift)
    options = {"max_epochs": 1, "schedule": "one-cycle", "batch_size": BATCH, "batches_per_epoch": len(series) // BATCH}
    model = SeriesClassifier("denots", options={**options, "copies": 0}, random_state=0)
    learn = _seconds(lambda: model.fit(series), best_of=1)
    return Costs(
        convert_row=convert / rows,
        feature_row=_seconds(lambda: oscillators.transform(series)) / rows / FEATURES,
        product=_seconds(lambda: Sums.of(block, shift)) / len(table) / FEATURES**2,
        add=_seconds(lambda: sums.add(sums)) / FEATURES**2,
        epoch_series=learn / len(series),
        answer_series=_seconds(lambda: model.predict_proba(series)) / len(series),
        hash_byte=_seconds(lambda: hashlib.sha256(content)) / len(content),
    )


def _command(command: Callable[[], None], words: Sequence[object]) -> None:
    import sys

    before, sys.argv = sys.argv, ["denots", *map(str, words)]
    try:
        command()
    except SystemExit as ended:
        if ended.code:
            raise
    finally:
        sys.argv = before


def _seconds(work: Callable[[], object], best_of: int = 3) -> float:
    """Of this processor, whatever else the machine does."""
    found = []
    for _ in range(best_of):
        began = time.process_time()
        work()
        found.append(time.process_time() - began)
    return min(found)


def compared(costs: Costs, folder: Path) -> list[str]:
    """What was measured of a size, beside what is told of it."""
    from denots import ShardedSet

    known, shards = json.loads((folder / "steps.json").read_text()), ShardedSet.open(folder / "shards")
    job = Job(len(shards), shards.observations / len(shards), len(shards) / shards.shards)
    names = {
        "convert": "convert",
        "fit oscillators": "fit oscillators",
        "predict with it": "predict oscillators",
        "an epoch of denots": "fit denots",
        "predict with that": "predict denots",
    }
    lines = [f"\n{len(shards)} series: seconds of processors, told and measured"]
    for step, (_, used) in steps(costs, job).items():
        told = known.get(names[step])
        if told is not None:
            lines.append(f"  {step:18}{used:10.1f}{told['processor']:10.1f}")
    return lines


if __name__ == "__main__":
    main()
