"""What the commands of the package cost on the tables of two hospitals, in seconds and megabytes.

    python -m benchmarks.commands --systems summary,fast

Sepsis (PhysioNet/CinC 2019) becomes Parquet with a row an hour, 1.5 million rows; PhysioNet 2012 a long CSV with a row a
value, 3.4 million. Both have to be imported before (`denots data import`). All commands read the same table, which says
what they cost and not how good a model is. Each runs in a process of its own under `/usr/bin/time`; each measure is kept
as soon as it is known, so that a stopped run goes on.
"""

import argparse
import json
import re
import shlex
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from rich.console import Console

PROGRAM = "from denots.cli import main; main()"
WIDE = ["--id", "id", "--time", "time", "--target", "target"]
LONG = [*WIDE, "--variable", "variable", "--value", "value"]
TABLES = {"sepsis": ("parquet", WIDE), "physionet-2012": ("csv", LONG)}
TELLING = "SepsisLabel"  # a channel that holds the answer
PROCESSOR = re.compile(r"(?:User|System) time \(seconds\): ([\d.]+)")
MEMORY = re.compile(r"Maximum resident set size \(kbytes\): (\d+)")
CLOCK = re.compile(r"Elapsed \(wall clock\) time .*: (?:(\d+):)?(\d+):([\d.]+)")


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="Time and memory of inspect, fit, predict, evaluate and card.")
    parser.add_argument("--systems", default="summary", help="systems to fit, such as summary,fast")
    parser.add_argument("--tables", default=",".join(TABLES), help="tables to read")
    parser.add_argument(
        "--folder", type=Path, default=Path("results/commands"), help="where tables and measures are kept"
    )
    asked = parser.parse_args(arguments)
    asked.folder.mkdir(parents=True, exist_ok=True)
    say = Console(soft_wrap=True, highlight=False, markup=False).print
    say("| table | command | seconds | of the processor | MB |\n|---|---|---:|---:|---:|")
    for name in asked.tables.split(","):
        for label, words in commands(name, asked.systems.split(","), asked.folder):
            found = measured(asked.folder / "measures.jsonl", f"{name} {label}", words)
            numbers = f"{found['seconds']:.1f} | {found['processor']:.1f} | {found['megabytes']:.0f}"
            say(f"| {name} | {label} | {numbers} |")


def commands(name: str, systems: Sequence[str], folder: Path) -> list[tuple[str, list[str]]]:
    """What is run on a table, by its label."""
    kind, columns = TABLES[name]
    table = folder / f"{name}.{kind}"
    if not table.exists():
        export(name, table)
    found = [("inspect", ["inspect", table, *columns, "--html", folder / f"{name}-inspect.html"])]
    for system in systems:
        model = folder / f"{name}-{system}"
        fit = ["fit", table, *columns, "--system", system, "--out", model, "--overwrite", "--quiet", "--skip-empty"]
        found += [
            (f"fit --system {system}", fit),
            (f"predict ({system})", ["predict", model, table, "-o", folder / "answers.parquet"]),
            (f"evaluate ({system})", ["evaluate", model, table]),
            (f"card ({system})", ["card", model, table, "-o", folder / f"{name}-{system}.html"]),
        ]
    return [(label, [str(word) for word in words]) for label, words in found]


def export(name: str, file: Path) -> None:
    """All series of an imported data set as one table: a row for each time, or for each value."""
    import pandas as pd

    from denots.datasets import DATASETS
    from denots.datasets.imports import imported, open_import

    parts = open_import(imported(DATASETS.find(name)).source).values()
    channels = [channel for channel in next(iter(parts)).channels if channel != TELLING]
    moving = [replace(part, static=None, static_names=()) for part in parts]
    table = pd.concat([part.to_frame() for part in moving])[["id", "time", *channels, "target"]]
    if file.suffix == ".csv":
        table = table.melt(["id", "time", "target"]).dropna().sort_values(["id", "time"], kind="stable")
        table.to_csv(file, index=False)
    else:
        table.to_parquet(file, index=False)


def measured(file: Path, label: str, words: list[str]) -> dict[str, float]:
    """Seconds and megabytes of a command, from earlier or by running it now."""
    known = [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []
    for row in known:
        if row["label"] == label:
            return row
    done = subprocess.run(
        ["/usr/bin/time", "-v", sys.executable, "-c", PROGRAM, *words], capture_output=True, text=True, check=False
    )
    memory, clock = MEMORY.search(done.stderr), CLOCK.search(done.stderr)
    if done.returncode or memory is None or clock is None:
        raise SystemExit(f"{shlex.join(words)} failed:\n{done.stderr[-2000:]}")
    hours, minutes, seconds = clock.groups()
    row = {
        "label": label,
        "processor": sum(map(float, PROCESSOR.findall(done.stderr))),
        "seconds": 3600 * int(hours or 0) + 60 * int(minutes) + float(seconds),
        "megabytes": int(memory[1]) / 1024,
    }
    with file.open("a") as lines:
        lines.write(json.dumps(row) + "\n")
    return row


if __name__ == "__main__":
    main()
