"""From a table of irregular series to predictions, by the commands that a user would type.

Draws a small Pendulum set (swinging pendulums seen at random moments, a tenth of the values
missing; the target is the friction), fits DeNOTS to it, predicts pendulums that it has never
seen, and leaves everything in the folder `demo`.
"""

import shlex
import subprocess
import sys
from pathlib import Path

import pandas as pd
from rich.console import Console
from sklearn.metrics import r2_score

FOLDER = Path("demo")
DENOTS = Path(sys.executable).with_name("denots")
COMMANDS = (
    "data export pendulum --size 6000 --split train --out demo/train.parquet",
    "data export pendulum --size 6000 --split test --out demo/test.parquet",
    "fit demo/train.parquet --id id --time time --target target --seed 0 --set budget=80 --overwrite --out demo/model",
    "predict demo/model demo/test.parquet -o demo/predictions.csv",
    "evaluate demo/model demo/test.parquet",
)


def main() -> None:
    console = Console()
    FOLDER.mkdir(exist_ok=True)
    for command in COMMANDS:
        console.print(f"[bold]$ denots {command}[/bold]", highlight=False, soft_wrap=True)
        subprocess.run([DENOTS, *shlex.split(command)], check=True)
    predictions = pd.read_csv(FOLDER / "predictions.csv").set_index("id")["prediction"]
    targets = pd.read_parquet(FOLDER / "test.parquet").groupby("id")["target"].first()
    console.print(f"model folder: {FOLDER / 'model'}   predictions: {FOLDER / 'predictions.csv'}")
    console.print(f"test R2 = {r2_score(targets, predictions[targets.index]):.3f}", highlight=False)


if __name__ == "__main__":
    main()
