"""What a guarantee costs: `python -m benchmarks.certified [--seeds 0,1] [--epochs 12]`.

DeNOTS and Sync-NF, free and certified, on parts of Pendulum and SineMix, with few states and epochs, so that it takes minutes on one
core. R2 is that of the test part; what is proved and measured comes from the certificate of the model for that part.
"""

import argparse
import statistics
from collections.abc import Sequence
from typing import Any

from rich.table import Table

from benchmarks.tables import console
from denots import SeriesRegressor, datasets

SETS = {"pendulum": 1500, "sine-mix": 1088}
FIELDS = {"denots": "anti", "sync": "sync"}


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="What a guarantee costs.")
    parser.add_argument("--sets", default=",".join(SETS))
    parser.add_argument("--seeds", default="0,1")
    parser.add_argument("--epochs", type=int, default=12)
    parser.add_argument("--states", type=int, default=16)
    parser.add_argument("--depth", type=float, default=10.0)
    chosen = parser.parse_args(arguments)
    options = {"state_size": chosen.states, "depth": chosen.depth, "max_epochs": chosen.epochs}
    seeds = [int(seed) for seed in chosen.seeds.split(",")]
    table = Table("set", "field", "stability", "R2", "contracting", "growth, proved", "stable share", "half-life")
    for name in chosen.sets.split(","):
        for title, field in FIELDS.items():
            for stability in ("free", "certified"):
                table.add_row(
                    name, title, stability, *_row(name, {**options, "field": field, "stability": stability}, seeds)
                )
    console.print(f"{chosen.states} states, depth {chosen.depth:g}, {chosen.epochs} epochs, seeds {chosen.seeds}")
    console.print(table)


def _row(name: str, options: dict[str, Any], seeds: Sequence[int]) -> tuple[str, ...]:
    parts = datasets.load(name, size=SETS[name]).splits
    scores, found = [], None
    for seed in seeds:
        model = SeriesRegressor("denots", options=options, random_state=seed).fit(parts.train)
        scores.append(model.score(parts.test))
        found = model.certify(parts.test)
    assert found is not None
    spread = f" ± {statistics.stdev(scores):.3f}" if len(scores) > 1 else ""
    return (
        f"{statistics.mean(scores):.3f}{spread}",
        found.contracting,
        f"{found['growth'].value:.3g}",
        f"{found['share of time in the stable regime'].value:.1%}",
        f"{found['half-life'].value:.3g}",
    )


if __name__ == "__main__":
    main()
