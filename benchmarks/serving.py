"""What `denots serve` does under load: `python -m benchmarks.serving [--system fast] [--seconds 60] [--clients 16]`.

A model is fitted to drawn series and served by a process of its own. Clients on the same machine, each with one connection
that it keeps, send a table as CSV, wait for the answers and send the next. Before anything is timed, what comes back is
compared with what the model says without a server, to the last bit. The clients are one process of Python, too, and take
their share of the processor; so do other programs, whose share is told.
"""

import argparse
import http.client
import io
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from rich.console import Console

from benchmarks.measure import watched
from denots import SeriesClassifier, SeriesSet
from denots.estimators import load_estimator

PROGRAM = "from denots.cli import main; main()"
CSV = {"Content-Type": "text/csv"}
TABLES = 8  # different ones of each size, which take turns


class Load(NamedTuple):
    """What clients saw: the seconds of each request that was answered and how many were not; and of the server its memory
    and the seconds of processors that it used."""

    seconds: list[float]
    failed: int
    elapsed: float
    megabytes: list[float]
    processor: float


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="Requests and series a second, latency and memory of a server.")
    parser.add_argument("--system", default="fast", help="what is fitted and served")
    parser.add_argument("--seconds", type=float, default=60.0, help="of load, for each size of request")
    parser.add_argument("--clients", type=int, nargs="+", default=[1, 16], help="requests at a time")
    parser.add_argument("--sizes", type=int, nargs="+", default=[1, 10, 100], help="series in a request")
    given = parser.parse_args(arguments)
    say = Console(soft_wrap=True, highlight=False, markup=False).print
    say(
        "| series a request | clients | requests a second | series a second | p50, ms | p99, ms | failed | MB at the start "
        "| MB at the end | most MB | its processor, ms a request | others' share |\n" + "|---:" * 12 + "|"
    )
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place, "model")
        SeriesClassifier(given.system, random_state=0).fit(drawn(400, 0)).save(folder)
        with server(folder) as port:
            for size in given.sizes:
                tables = [table_of(drawn(size, 1 + k)) for k in range(TABLES)]
                check(folder, port, tables)
                for clients in given.clients:
                    with watched() as others:
                        found = load(port, tables, clients, given.seconds)
                    say(row(size, clients, found, others.share))


def row(size: int, clients: int, found: Load, others: float) -> str:
    rate = len(found.seconds) / found.elapsed
    p50, p99 = 1e3 * np.quantile(found.seconds, [0.5, 0.99])
    memory = f"{found.megabytes[0]:.0f} | {found.megabytes[-1]:.0f} | {max(found.megabytes):.0f}"
    speed = f"{rate:.0f} | {rate * size:.0f} | {p50:.1f} | {p99:.1f}"
    cost = f"{1e3 * found.processor / len(found.seconds):.1f} | {others - found.processor / found.elapsed / (os.cpu_count() or 1):.0%}"
    return f"| {size} | {clients} | {speed} | {found.failed} | {memory} | {cost} |"


def drawn(count: int, seed: int) -> SeriesSet:
    """Three channels with holes, 20 to 60 rows a series; two classes."""
    rng = np.random.default_rng(seed)
    kinds = rng.integers(0, 2, count)
    times = [np.sort(rng.uniform(0, 48, rng.integers(20, 60))) for _ in kinds]
    values = [
        np.sin((1 + kind) * hours / 4)[:, None] + rng.normal(0, 0.5, (len(hours), 3))
        for kind, hours in zip(kinds, times, strict=True)
    ]
    for table in values:
        table[1:][rng.random((len(table) - 1, 3)) < 0.3] = np.nan
    return SeriesSet.from_arrays(times, values, target=kinds)


def table_of(series: SeriesSet) -> bytes:
    return series.to_frame().drop(columns="target").to_csv(index=False).encode()


@contextmanager
def server(folder: Path) -> Iterator[int]:
    """The port of a server that runs within the block."""
    command = [sys.executable, "-c", PROGRAM, "serve", str(folder), "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        if process.stdout is None:
            raise RuntimeError("a process without output")
        try:
            yield int(process.stdout.readline().rpartition(":")[2].partition(";")[0])
        finally:
            process.terminate()


def check(folder: Path, port: int, tables: Sequence[bytes]) -> None:
    """Answers of the server are those of the model."""
    model = load_estimator(folder)
    with closing(http.client.HTTPConnection("127.0.0.1", port)) as line:
        for body in tables:
            line.request("POST", "/predict", body, CSV)
            found = json.loads(line.getresponse().read())["answers"]
            expected = model.predict_table(pd.read_csv(io.BytesIO(body), float_precision="round_trip"))
            if found != expected.to_dict("records"):
                raise SystemExit("the server answers something else than the model")


def load(port: int, tables: Sequence[bytes], clients: int, seconds: float) -> Load:
    """Keep so many clients busy for so long."""
    times: list[float] = []
    failures: list[float] = []
    started = time.perf_counter()

    def client(first: int) -> None:
        with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=60)) as line:
            turn = first
            while time.perf_counter() < started + seconds:
                begun = time.perf_counter()
                line.request("POST", "/predict", tables[turn % len(tables)], CSV)
                answer = line.getresponse()
                answer.read()
                (times if answer.status == 200 else failures).append(time.perf_counter() - begun)
                turn += 1

    threads = [threading.Thread(target=client, args=(k,)) for k in range(clients)]
    before = told(port)
    memory = [before["process_resident_memory_bytes"] / 2**20]
    for thread in threads:
        thread.start()
    after = before
    while any(thread.is_alive() for thread in threads):
        time.sleep(1)
        after = told(port)
        memory.append(after["process_resident_memory_bytes"] / 2**20)
    used = after["process_cpu_seconds_total"] - before["process_cpu_seconds_total"]
    return Load(times, len(failures), time.perf_counter() - started, memory, used)


def told(port: int) -> dict[str, float]:
    """What the metrics of the server say of its process."""
    with closing(http.client.HTTPConnection("127.0.0.1", port)) as line:
        line.request("GET", "/metrics")
        lines = line.getresponse().read().decode().splitlines()
    pairs = (line.split() for line in lines if line.startswith("process_"))
    return {name: float(value) for name, value in pairs}


if __name__ == "__main__":
    main()
