"""`denots train`: an experiment on a built-in data set, in words like `dataset=bump train.max_epochs=2`."""

import datetime
import itertools
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from denots.cli.messages import complain, say, show_facts
from denots.errors import DenotsError

if TYPE_CHECKING:
    from denots.runs.record import RunRecord


def train(
    assignments: Annotated[
        list[str] | None, typer.Argument(help="key=value, as many as wanted.", show_default=False)
    ] = None,
    multirun: Annotated[
        bool, typer.Option("--multirun", "-m", help="Run every combination of comma-separated values.")
    ] = False,
    folder: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            help="Folder of the record; with -m, of one folder a run. Default: a new one in ./outputs or ./multirun.",
            show_default=False,
        ),
    ] = None,
    show: Annotated[bool, typer.Option("--show", help="Only print the configuration.")] = False,
) -> None:
    """Run an experiment on a built-in data set and record the result.

    Defaults are the published numbers of data set and backbone, under
    protocol=paper; protocol=fair sets equal terms, protocol=best gives every
    system the same good training, too. The record is one line of JSON in the
    folder; name the folder of an interrupted run with --out to continue it.

      denots train dataset=bump dataset.size=60 backbone=sync train.max_epochs=2
      denots train -m dataset=sine-mix backbone=denots,none,tanh seed=0,1,2
      denots train dataset=pendulum backbone.depth=10 --out runs/depth-10
    """
    from denots.runs.run import run
    from denots.runs.words import in_words, read_run

    combinations = _combinations(assignments or []) if multirun else [assignments or []]
    specs = [read_run(words) for words in combinations]
    if show:
        say("\n\n".join("\n".join(in_words(spec)) for spec in specs))
        return
    target = folder or Path("multirun" if multirun else "outputs") / f"{datetime.datetime.now():%Y-%m-%d/%H-%M-%S}"
    failed = False
    for number, (spec, words) in enumerate(zip(specs, combinations, strict=True)):
        place = target / str(number) if multirun else target
        say(f"{' '.join(words) or 'the published run'} in {place}")
        try:
            _show(run(spec, place, progress=True), place)
        except DenotsError as error:
            if not multirun:
                raise
            complain("error", error, "bold red")  # the other runs of a sweep go on
            failed = True
    if failed:
        raise typer.Exit(1)


def _combinations(assignments: Sequence[str]) -> list[list[str]]:
    """Every choice of one value from each comma-separated list, the last key changing fastest."""
    choices = []
    for text in assignments:
        key, sign, values = text.partition("=")
        choices.append([f"{key}{sign}{value}" for value in values.split(",")])
    return [list(each) for each in itertools.product(*choices)]


def _show(record: "RunRecord", folder: Path) -> None:
    from denots.runs.record import FILE

    metrics = {
        f"{split} {name}": "not defined" if value is None else f"{value:.4f}"
        for split, found in record.metrics.items()
        for name, value in found.items()
        if name != "loss"
    }
    cost = record.evaluations
    facts = {
        "status": record.status if not record.failed else f"{record.status}: {record.failed} test series",
        **metrics,
    }
    if cost is not None:
        facts["evaluations"] = f"{cost['mean']:.1f} per test series, at most {cost['max']:.0f}"
    facts |= {
        "parameters": str(record.parameters),
        "epochs": str(len(record.curve)),
        "seconds": f"{record.seconds:.1f}",
        "record": str(folder / FILE),
    }
    show_facts(facts)
