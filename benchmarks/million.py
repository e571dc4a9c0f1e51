"""Series that do not fit into memory: `python -m benchmarks.million [--series 1000000] [--folder DIR]`.

Draws a table (median 60 rows a series, three channels; a million series are some 2 GB of Parquet), converts it to shards,
fits oscillators with a ridge and one epoch of DeNOTS, and predicts all series, each step a process of its own that the
system allows 3 GB: by a memory cgroup where one can be made (resident memory and page cache), else by RLIMIT_AS (the
address space, which is stricter). Prints seconds and peak memory of each step, and the AUROC on new series beside that of
models that learnt from a sample in memory. With `--nodes 2 4` the same fits and answers are made on Ray clusters of so many
nodes on this machine, too, and compared: models of a ridge and all answers have to be those from here, byte for byte; what
is trained by gradient is trained by a team of two and has to be the same on all clusters.
A step whose result is there is not made again.
"""

import argparse
import json
import math
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import parquet

from benchmarks.nodes import cluster, content

GIGABYTE = 2**30
CGROUP = Path("/sys/fs/cgroup/memory")
DRAWN_AT_ONCE = 20_000
SERIES_PER_SHARD = 16_000
TEAM = 2  # processes that train one model on a cluster
SAMPLE, NEW = 20_000, 10_000  # series of the models in memory, and series that all are judged by


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="Convert, fit and predict more series than fit into memory.")
    parser.add_argument("--series", type=int, default=1_000_000)
    parser.add_argument("--folder", type=Path, default=Path("million"), help="some 8 GB for a million series")
    parser.add_argument("--systems", nargs="+", choices=("oscillators", "denots"), default=["oscillators", "denots"])
    parser.add_argument("--gigabytes", type=float, default=3.0, help="that each step may use")
    parser.add_argument("--nodes", type=int, nargs="*", default=[], help="of clusters that do the same")
    options = parser.parse_args(arguments)
    options.folder.mkdir(parents=True, exist_ok=True)
    os.environ["OMP_NUM_THREADS"] = "1"  # as on a node with one processor: threads add a ridge's sums in another order
    steps = Steps(options.folder, int(options.gigabytes * GIGABYTE))
    print(f"{options.series} series, each step limited to {options.gigabytes:g} GB by {steps.limit}", flush=True)  # noqa: T201
    table, shards = options.folder / "table.parquet", options.folder / "shards"
    steps.make("draw", table, lambda: draw(table, options.series, seed=0))
    new = options.folder / "new.parquet"
    steps.make("draw new series", new, lambda: draw(new, NEW, seed=1))
    count = max(4, options.series // SERIES_PER_SHARD)
    steps.run("convert", shards, "data", "convert", table, "--target", "label", "--shards", count, "-o", shards)
    for system in options.systems:
        model, answers = options.folder / system, options.folder / f"{system}-answers"
        steps.run(
            f"fit {system}",
            model,
            "fit",
            shards,
            "--system",
            system,
            *settings(system, options.series),
            "-q",
            "-o",
            model,
        )
        done = answers / f"part-{count - 1:05d}.parquet"
        steps.run(f"predict {system}", done, "predict", model, shards, "-o", answers)
        steps.judge(f"{system} from shards", model, new)
        sample = options.folder / f"{system}-in-memory"
        steps.make(f"{system} in memory", sample, lambda name=system, place=sample: fit_sample(name, shards, place))
        steps.judge(f"{system} from {min(SAMPLE, options.series)} in memory", sample, new)
    for nodes in options.nodes:
        with cluster(nodes) as address:
            for system in options.systems:
                on_cluster(steps, options.folder, system, options.series, nodes, address)
    for system in options.systems if options.nodes else ():
        compare(options.folder, system, options.nodes)
    steps.show()


def on_cluster(steps: "Steps", folder: Path, system: str, series: int, nodes: int, address: str) -> None:
    """The fit, and the answers of the model from here."""
    shards, model, on = folder / "shards", folder / f"{system}-{nodes}-nodes", ["--on", f"ray={address}"]
    team = ["--workers", TEAM] if system == "denots" else []
    words = (*settings(system, series), *on, *team)
    steps.run(f"fit {system} on {nodes} nodes", model, "fit", shards, "--system", system, *words, "-q", "-o", model)
    answers = folder / f"{system}-answers-{nodes}-nodes"
    done = answers / max(file.name for file in (folder / f"{system}-answers").glob("*.parquet"))
    steps.run(f"predict {system} on {nodes} nodes", done, "predict", folder / system, shards, *on, "-o", answers)


def compare(folder: Path, system: str, nodes: Sequence[int]) -> None:
    clusters = [f"-{count}-nodes" for count in nodes]
    same([folder / f"{system}-answers{where}" for where in ("", *clusters)], "*.parquet")
    same(
        [folder / f"{system}{where}" for where in (clusters if system == "denots" else ("", *clusters))],
        "*.safetensors",
    )


def same(places: Sequence[Path], pattern: str) -> None:
    """Stop unless all of them hold the same bytes."""
    hashes = [content(place, pattern) for place in places]
    other = [str(place) for place, found in zip(places, hashes, strict=True) if not found or found != hashes[0]]
    if other:
        raise SystemExit(f"{', '.join(other)} differ from {places[0]}")
    print(f"{len(hashes[0])} files with the same bytes in {', '.join(place.name for place in places)}", flush=True)  # noqa: T201


def settings(system: str, series: int) -> list[str]:
    """One epoch over all series, for what is trained by gradient."""
    return [f"--set={name}={value}" for name, value in options_of(system, series).items()]


def options_of(system: str, series: int) -> dict[str, Any]:
    one = {"max_epochs": 1, "schedule": "one-cycle", "batches_per_epoch": math.ceil(series / 128)}
    return one if system == "denots" else {}


class Steps:
    """What is done, once each; a file keeps how long it took and what it needed."""

    def __init__(self, folder: Path, allowed: int) -> None:
        self.file, self.allowed = folder / "steps.json", allowed
        self.found: dict[str, dict[str, Any]] = json.loads(self.file.read_text()) if self.file.exists() else {}
        self.group = _make_group(allowed)
        self.limit = "RLIMIT_AS" if self.group is None else "a memory cgroup"

    def run(self, name: str, made: Path, *words: Any) -> None:
        """A denots command in a process of its own, with limited memory."""
        command = [sys.executable, "-c", "from denots.cli import main; main()", *map(str, words)]
        group, allowed = self.group, self.allowed

        def limited() -> None:
            if group is None:
                resource.setrlimit(resource.RLIMIT_AS, (allowed, allowed))
            else:
                (group / "cgroup.procs").write_text(str(os.getpid()))

        def work() -> dict[str, float]:
            process = subprocess.Popen(command, preexec_fn=limited, stderr=subprocess.DEVNULL)
            _, code, used = os.wait4(process.pid, 0)
            if code:
                raise SystemExit(f"{name} ended with status {code}")
            return {"gigabytes": used.ru_maxrss * 1024 / GIGABYTE, "processor": used.ru_utime + used.ru_stime}

        self.make(name, made, work)

    def make(self, name: str, made: Path, work: Callable[[], dict[str, float] | None]) -> None:
        if made.exists() and name in self.found:
            return
        began = time.perf_counter()
        told = work() or {}
        self._keep(name, {"seconds": time.perf_counter() - began, **told})

    def judge(self, name: str, model: Path, new: Path) -> None:
        """The AUROC of a model on series that it has not seen."""
        if f"AUROC of {name}" in self.found:
            return
        import pandas as pd
        from sklearn.metrics import roc_auc_score

        import denots

        table = pd.read_parquet(new)
        answers = denots.load(model).predict_table(table.drop(columns="label")).set_index("id")
        truth = table.groupby("id")["label"].first()
        self._keep(f"AUROC of {name}", {"auroc": float(roc_auc_score(truth, answers.loc[truth.index, "p_1"]))})

    def _keep(self, name: str, told: dict[str, float]) -> None:
        self.found[name] = told
        self.file.write_text(json.dumps(self.found, indent=1))
        print(f"{name}: " + ", ".join(f"{key} {value:.4g}" for key, value in told.items()), flush=True)  # noqa: T201

    def show(self) -> None:
        for name, told in self.found.items():
            cells = "".join(
                f"{told[key]:12.4g}" if key in told else " " * 12
                for key in ("seconds", "processor", "gigabytes", "auroc")
            )
            print(f"{name:36}{cells}")  # noqa: T201
        with suppress(OSError, TypeError):
            (self.group or Path()).rmdir()


def _make_group(allowed: int) -> Path | None:
    group = CGROUP / f"denots-million-{os.getpid()}"
    try:
        group.mkdir()
        (group / "memory.limit_in_bytes").write_text(str(allowed))
    except OSError:
        return None
    return group


def draw(file: Path, series: int, seed: int) -> None:
    """Waves in noise, of two pitches and heights, at random times, a tenth of the values missing; a part at a time."""
    draft = file.with_suffix(".partial")
    with parquet.ParquetWriter(draft, _FORM) as writer:
        for first in range(0, series, DRAWN_AT_ONCE):
            count = min(DRAWN_AT_ONCE, series - first)
            writer.write_table(_drawn(first, count, np.random.default_rng([seed, first])))
    draft.rename(file)


_FORM = pa.schema(
    [("id", pa.int64()), ("time", pa.float64()), *((name, pa.float64()) for name in "abc"), ("label", pa.int64())]
)


def _drawn(first: int, count: int, rng: np.random.Generator) -> pa.Table:
    length = np.clip(rng.lognormal(math.log(60), 0.35, count), 8, 400).astype(np.int64)
    label = rng.integers(0, 2, count)
    owner = np.repeat(np.arange(count), length)
    step = rng.exponential(1.0, len(owner)) + 1e-3
    total = np.cumsum(step)
    ends = np.cumsum(length)
    time_ = total - np.repeat(total[ends - length], length)
    pitch = np.where(label, 1.2, 1.0) * rng.uniform(0.25, 0.45, count)
    height = np.where(label, 1.25, 1.0) * rng.uniform(0.8, 1.2, count)
    phase = rng.uniform(0, 2 * np.pi, (3, count))
    columns = {"id": first + owner, "time": time_}
    for k, name in enumerate("abc"):
        wave = height[owner] * np.sin(pitch[owner] * (1 + 0.5 * k) * time_ + phase[k, owner])
        wave += rng.normal(0, 0.7, len(owner))
        columns[name] = np.where(rng.random(len(owner)) < 0.1, np.nan, wave)
    return pa.table({**columns, "label": label[owner]}, schema=_FORM)


def fit_sample(system: str, shards: Path, folder: Path) -> None:
    """The same system, fitted to a sample in memory."""
    from denots import SeriesClassifier, ShardedSet

    whole = ShardedSet.open(shards)
    series = whole.select(whole.sample_rows(SAMPLE))
    SeriesClassifier(system, options=options_of(system, len(series)), random_state=0).fit(series).save(folder)


if __name__ == "__main__":
    main()
