"""What a Ray cluster costs: `python -m benchmarks.on_ray [--series 50000] [--folder DIR] [--nodes 2 4] [--systems denots]`.

The same job, a model fitted to shards and its answers for all series, here in one process, with one thread and with one for
each processor (`--threads`), and on clusters of several nodes on this machine with one processor each. A ridge has to be the same,
byte for byte, wherever it was fitted; what is trained by gradient is trained by a team of two on each cluster, and has to be
the same on all of these. Answers of the model from here have to be the same everywhere. Prints the time by the clock and
of processors, and the overhead of a cluster in percent of that of all threads here: two threads of one core take longer
than two cores, with Ray or without. All that the machine does meanwhile counts, so it has to be quiet.
Clusters are running before a job begins; processes that do its pieces are started by it, and import everything.
`--shards` takes those of `benchmarks.million`.
"""

import argparse
import hashlib
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from benchmarks.million import draw, settings
from denots import ShardedSet

SERIES_PER_SHARD = 3_000
TEAM = 2  # processes that train one model
TICKS = os.sysconf("SC_CLK_TCK")


class Cost(NamedTuple):
    """Seconds by the clock, and of all processors."""

    clock: float
    processor: float


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="The overhead of a Ray cluster against one process.")
    parser.add_argument("--series", type=int, default=50_000)
    parser.add_argument("--folder", type=Path, default=Path("on-ray"))
    parser.add_argument("--shards", type=Path, help="of a set that there is already")
    parser.add_argument("--systems", nargs="+", choices=("oscillators", "denots"), default=["oscillators"])
    parser.add_argument("--threads", type=int, nargs="+", default=sorted({1, os.cpu_count() or 1}))
    parser.add_argument("--nodes", type=int, nargs="+", default=[2, 4])
    options = parser.parse_args(arguments)
    os.environ["RAY_worker_niceness"] = "0"  # noqa: SIM112 (its name; by default workers give way to all other programs)
    options.folder.mkdir(parents=True, exist_ok=True)
    shards = options.shards or drawn(options.folder, options.series)
    series = len(ShardedSet.open(shards))
    for system in options.systems:
        compare(options.folder / system, shards, system, series, options.threads, options.nodes)


def drawn(folder: Path, series: int) -> Path:
    shards = folder / "shards"
    if not shards.exists():
        draw(folder / "table.parquet", series, seed=0)
        count = max(4, series // SERIES_PER_SHARD)
        run("data", "convert", folder / "table.parquet", "--target", "label", "--shards", count, "-o", shards)
    return shards


def compare(folder: Path, shards: Path, system: str, series: int, threads: Sequence[int], nodes: Sequence[int]) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    here = [f"{count} threads" for count in threads]
    job = Job(folder, shards, system, series, folder / here[0] / "model")
    told = {}
    for way, count in zip(here, threads, strict=True):
        os.environ["OMP_NUM_THREADS"] = str(count)
        told[way] = job.do(way, [])
        report(system, way, told[way])
    os.environ["OMP_NUM_THREADS"] = "1"
    for count in nodes:
        way = f"{count} nodes"
        with cluster(count) as address:
            told[way] = job.do(way, ["--on", f"ray={address}"])
        report(system, way, told[way])
    same([folder / way / "answers" for way in told], "*.parquet")
    same(
        [folder / way / "model" for way in (told if system == "oscillators" else list(told)[len(here) :])],
        "*.safetensors",
    )
    show(system, series, told, here[-1])


class Job(NamedTuple):
    """A fit to shards, and the answers of the first model for all series."""

    folder: Path
    shards: Path
    system: str
    series: int
    first: Path

    def do(self, way: str, on: list[str]) -> dict[str, Cost]:
        place = self.folder / way
        place.mkdir()
        words = [*settings(self.system, self.series), *on]
        team = ["--workers", TEAM] if on and self.system == "denots" else []
        return {
            "fit": run("fit", self.shards, "--system", self.system, "-q", *words, *team, "-o", place / "model"),
            "predict": run("predict", self.first, self.shards, *on, "-o", place / "answers"),
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


@contextmanager
def cluster(nodes: int) -> Iterator[str]:
    """Nodes with one processor each."""
    from ray.cluster_utils import Cluster

    one = {"num_cpus": 1, "object_store_memory": 400 * 2**20}
    found = Cluster(initialize_head=True, head_node_args={**one, "include_dashboard": False})
    try:
        for _ in range(nodes - 1):
            found.add_node(**one)
        found.wait_for_nodes()
        yield found.address
    finally:
        found.shutdown()


def same(places: Sequence[Path], pattern: str) -> None:
    """Stop unless all of them hold the same bytes."""
    found = [
        {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in place.glob(pattern)} for place in places
    ]
    other = [str(place) for place, each in zip(places, found, strict=True) if not each or each != found[0]]
    if other:
        raise SystemExit(f"{', '.join(other)} differ from {places[0]}")
    print(f"{len(places)} x {len(found[0])} files with the same bytes: {', '.join(map(str, places))}", flush=True)  # noqa: T201


def report(system: str, way: str, told: dict[str, Cost]) -> None:
    cells = ", ".join(f"{step} {cost.clock:.1f} / {cost.processor:.1f}" for step, cost in told.items())
    print(f"{system}, {way}: {cells}", flush=True)  # noqa: T201


def show(system: str, series: int, told: dict[str, dict[str, Cost]], known: str) -> None:
    lines = [f"{system}, {series} series; seconds by the clock / of processors (overhead of the latter)"]
    lines.append(f"{'':10}" + "".join(way.rjust(24) for way in told))
    for step, here in told[known].items():
        cells = [f"{cost[step].clock:.1f} / {cost[step].processor:.1f}" for cost in told.values()]
        over = [
            f" ({cost[step].processor / here.processor - 1:+.0%})" if "nodes" in way else ""
            for way, cost in told.items()
        ]
        lines.append(f"{step:10}" + "".join((cell + more).rjust(24) for cell, more in zip(cells, over, strict=True)))
    print("\n".join(lines))  # noqa: T201


if __name__ == "__main__":
    main()
