"""What a Ray cluster costs: `python -m benchmarks.on_ray [--series 50000] [--folder DIR] [--nodes 2 4]`.

The same job, a ridge on oscillators and its answers for all series, here in one process, with one thread and with one for
each processor, and on clusters of several nodes on this machine with one processor each. Models and answers of clusters
have to be those of one thread, byte for byte. Prints the time by the clock and of processors, and the overhead of a
cluster in percent of that of all threads here: two threads of one core take longer than two cores, with Ray or without.
All that the machine does meanwhile counts, so it has to be quiet.
Clusters are running before a job begins; processes that do its pieces are started by it, and import everything.
"""

import argparse
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from benchmarks.million import draw
from benchmarks.nodes import cluster, content

SERIES_PER_SHARD = 3_000
TICKS = os.sysconf("SC_CLK_TCK")


class Cost(NamedTuple):
    """Seconds by the clock, and of all processors."""

    clock: float
    processor: float


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="The overhead of a Ray cluster against one process.")
    parser.add_argument("--series", type=int, default=50_000)
    parser.add_argument("--folder", type=Path, default=Path("on-ray"))
    parser.add_argument("--nodes", type=int, nargs="+", default=[2, 4])
    options = parser.parse_args(arguments)
    folder = options.folder
    folder.mkdir(parents=True, exist_ok=True)
    shards = folder / "shards"
    if not shards.exists():
        draw(folder / "table.parquet", options.series, seed=0)
        count = max(4, options.series // SERIES_PER_SHARD)
        run("data", "convert", folder / "table.parquet", "--target", "label", "--shards", count, "-o", shards)
    os.environ["OMP_NUM_THREADS"] = "1"
    told = {"one thread": job(folder, "one", [])}
    known = learnt(folder / "one")
    os.environ["OMP_NUM_THREADS"] = str(os.cpu_count())
    told["all threads"] = job(folder, "all", [])
    os.environ["OMP_NUM_THREADS"] = "1"
    for nodes in options.nodes:
        with cluster(nodes) as address:
            told[f"{nodes} nodes"] = job(folder, f"nodes-{nodes}", ["--on", f"ray={address}"])
        same(folder / f"nodes-{nodes}", known)
    show(options.series, told)


def job(folder: Path, name: str, on: list[str]) -> dict[str, Cost]:
    place, shards = folder / name, folder / "shards"
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir()
    model = place / "model"
    return {
        "fit": run("fit", shards, "--system", "oscillators", "-q", *on, "-o", model),
        "predict": run("predict", model, shards, *on, "-o", place / "answers"),
    }


def run(*words: object) -> Cost:
    """A denots command; what all programs use meanwhile is counted, because workers of Ray that have ended leave no trace."""
    command = [sys.executable, "-c", "from denots.cli import main; main()", *map(str, words)]
    began, used = time.perf_counter(), used_by_all()
    code = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False).returncode
    if code:
        raise SystemExit(f"{' '.join(command[3:])} ended with status {code}")
    return Cost(time.perf_counter() - began, used_by_all() - used)


def used_by_all() -> float:
    """Seconds of processors that this machine has worked."""
    _, user, nice, system, _, _, irq, soft, *_ = Path("/proc/stat").read_text().split(maxsplit=8)
    return sum(map(int, (user, nice, system, irq, soft))) / TICKS


def learnt(place: Path) -> list[dict[str, str]]:
    """Hashes of what was learnt and answered."""
    return [content(place / "model", "arrays.safetensors"), content(place / "answers", "*.parquet")]


def same(place: Path, known: list[dict[str, str]]) -> None:
    if learnt(place) != known:
        raise SystemExit(f"{place.name} found something else")


def show(series: int, told: dict[str, dict[str, Cost]]) -> None:
    lines = [
        f"{series} series, identical models and answers; seconds by the clock / of processors (overhead of the latter)"
    ]
    lines.append(f"{'':10}" + "".join(way.rjust(24) for way in told))
    for step, here in told["all threads"].items():
        cells = [f"{cost[step].clock:.1f} / {cost[step].processor:.1f}" for cost in told.values()]
        over = [
            f" ({cost[step].processor / here.processor - 1:+.0%})" if "nodes" in way else ""
            for way, cost in told.items()
        ]
        lines.append(f"{step:10}" + "".join((cell + more).rjust(24) for cell, more in zip(cells, over, strict=True)))
    print("\n".join(lines))  # noqa: T201


if __name__ == "__main__":
    main()
