"""Finished runs of `denots train` on one data set, alone and blended: `python -m benchmarks.blended FOLDER ...`.

Weights are those of the least loss on the validation part; the test part is only judged.
"""

import argparse
import json
from collections.abc import Sequence
from pathlib import Path

import torch

from benchmarks.tables import console
from denots.datasets import load
from denots.heads.combine import weigh
from denots.runs.record import FILE, read_records
from denots.runs.run import read_problem, system_of


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="Finished runs on one data set, alone and blended.")
    parser.add_argument("folders", nargs="+", type=Path, help="of `denots train --out`")
    folders = parser.parse_args(arguments).folders
    specs = [read_records(folder / FILE)[-1].spec for folder in folders]
    (chosen,) = {json.dumps([spec.dataset.name, spec.dataset.seed, spec.dataset.size, spec.protocol]) for spec in specs}
    name, seed, size, protocol = json.loads(chosen)
    problem = read_problem(load(name, seed=seed, size=size, protocol=protocol))
    task, val, test = problem.task, problem.val, problem.test
    told = []
    for folder, spec in zip(folders, specs, strict=True):
        fitted = system_of(spec).fit(problem, seed=spec.seed, folder=folder)
        told.append([fitted.outputs(part.series, part.at).outputs.double() for part in (val, test)])
        console.print(f"{folder.name}: {task.metric_name} {float(task.metric(told[-1][1], test.target)):.4f}")
    weights = weigh([on_val for on_val, _ in told], lambda outputs: task.loss(outputs, val.target))
    blended = torch.einsum("m,mnk->nk", torch.from_numpy(weights), torch.stack([on_test for _, on_test in told]))
    shares = ", ".join(f"{weight:.2f}" for weight in weights.tolist())
    console.print(f"blended ({shares}): {task.metric_name} {float(task.metric(blended, test.target)):.4f}")


if __name__ == "__main__":
    main()
