"""How long `denots fit` takes until it begins to train, in times of `import torch`, which nothing here can shorten.

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

ROUNDS = 3
FIT = """
import sys
sys.argv = ["denots", "fit", {table!r}, "--target", "target", "--quiet", "-o", {out!r}]
import denots.training.fit as training
def begin(*_, **__):
    raise SystemExit(0)
training.fit = begin
from denots.cli import main
main()
"""


def main() -> None:
    with tempfile.TemporaryDirectory() as place:
        table = Path(place, "table.csv")
        table.write_text(small_table())
        codes = {
            "python": "pass",
            "import torch": "import torch",
            "import sklearn.base": "import sklearn.base",
            "import pandas": "import pandas",
            "denots --help": "import sys; sys.argv = ['denots', '--help']; from denots.cli import main; main()",
            "denots fit, until it trains": FIT.format(table=str(table), out=str(Path(place, "model"))),
        }
        best = dict.fromkeys(codes, float("inf"))
        for _ in range(ROUNDS):
            for name, code in codes.items():
                best[name] = min(best[name], seconds(code))
    say = Console(soft_wrap=True, highlight=False, markup=False).print
    say("| process | seconds | times import torch |\n|---|---:|---:|")
    for name, found in best.items():
        say(f"| {name} | {found:.2f} | {found / best['import torch']:.2f} |")


def seconds(code: str) -> float:
    started = time.perf_counter()
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)
    return time.perf_counter() - started


def small_table() -> str:
    rng = np.random.default_rng(0)
    lines = ["id,time,pulse,target"]
    for series in range(40):
        times = np.sort(rng.uniform(0, 5, 8))
        lines += [f"{series},{t:.3f},{rng.normal() + series % 2:.3f},{series % 2}" for t in times]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
