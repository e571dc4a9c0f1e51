"""How long `denots fit` takes until it has read a small table, and until it begins to fit, beside what it imports.

    python -m benchmarks.startup

Every figure is the best of several processes, taken in turns, on a warm cache.
"""

import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from rich.console import Console

ROUNDS = 5
LINES = {"read:": "denots fit, until the table is read", "budget:": "denots fit, until it fits"}
PROGRAM = "from denots.cli import main; main()"


def main() -> None:
    with tempfile.TemporaryDirectory() as place:
        table = Path(place, "table.csv")
        table.write_text(small_table())
        codes = {name: f"import {name}" for name in ("pandas", "sklearn.base", "torch")}
        codes["denots --help"] = f"import sys; sys.argv = ['denots', '--help']; {PROGRAM}"
        best = dict.fromkeys([*codes, *LINES.values()], float("inf"))
        for _ in range(ROUNDS):
            found = {name: seconds(code) for name, code in codes.items()}
            found |= until_lines(["fit", str(table), "--target", "target", "-o", str(Path(place, "model"))])
            best = {name: min(least, found[name]) for name, least in best.items()}
    say = Console(soft_wrap=True, highlight=False, markup=False).print
    say("| process | seconds |\n|---|---:|")
    for name, least in best.items():
        say(f"| {name} | {least:.2f} |")


def seconds(code: str) -> float:
    started = time.perf_counter()
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)
    return time.perf_counter() - started


def until_lines(arguments: list[str]) -> dict[str, float]:
    """Seconds until the command prints each of the lines; it is stopped after the last one."""
    found: dict[str, float] = {}
    started = time.perf_counter()
    with subprocess.Popen([sys.executable, "-c", PROGRAM, *arguments], stdout=subprocess.PIPE, text=True) as process:
        for line in process.stdout or ():
            name = LINES.get(line.split(" ")[0])
            if name is not None:
                found[name] = time.perf_counter() - started
            if len(found) == len(LINES):
                process.kill()
    return found


def small_table() -> str:
    rng = np.random.default_rng(0)
    lines = ["id,time,pulse,target"]
    for series in range(40):
        times = np.sort(rng.uniform(0, 5, 8))
        lines += [f"{series},{t:.3f},{rng.normal() + series % 2:.3f},{series % 2}" for t in times]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
