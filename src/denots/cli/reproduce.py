"""`denots reproduce`: the tables and figures of the paper, from runs that are made only once."""

import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from denots.cli.messages import complain, err, out, say, watched
from denots.cli.where import Place, say_where
from denots.errors import InvalidOption
from denots.protocol import DEFAULT_PROTOCOL
from denots.registry import lookup

if TYPE_CHECKING:
    from denots.cluster.workers import Workers
    from denots.experiments import Experiment, Request
    from denots.experiments.results import Results
    from denots.experiments.runner import Fate, Job, Outcome

ResultsFolder = Annotated[Path, typer.Option("--results", help="Folder of the records.")]


def reproduce(
    names: Annotated[list[str] | None, typer.Argument(help="Experiments, or all.", show_default=False)] = None,
    listed: Annotated[bool, typer.Option("--list", help="Show every experiment and what is recorded of it.")] = False,
    profile: Annotated[
        str, typer.Option(help="smoke (seconds, toy sizes), quick (reduced) or paper (as published).")
    ] = "quick",
    protocol: Annotated[
        str,
        typer.Option(
            help="paper (as published, warts included), fair (equal terms for all) or best (fair, with the best recipe for all)."
        ),
    ] = DEFAULT_PROTOCOL,
    seeds: Annotated[str | None, typer.Option(help="Comma-separated. Default: as many as the profile has.")] = None,
    dataset: Annotated[str | None, typer.Option(help="Only on these data sets, with commas between.")] = None,
    system: Annotated[str | None, typer.Option(help="Only these systems, with commas between.")] = None,
    jobs: Annotated[int | None, typer.Option(min=1, help="Runs side by side. Default: one a processor.")] = None,
    budget: Annotated[float | None, typer.Option(help="Stop after so many minutes; the next call goes on.")] = None,
    verified: Annotated[
        int | None,
        typer.Option(
            "--verify",
            min=1,
            help="Make so many random records again and compare every number; --seeds draws others, --budget (10) prefers short ones.",
            show_default=False,
        ),
    ] = None,
    results: ResultsFolder = Path("results"),
    place: Place = "local",
) -> None:
    """Reproduce tables and figures of the paper.

    Every finished run is a line in results/runs.jsonl and is never made
    again; stopped or killed, the same command goes on where it was. Tables go
    to results/tables, figures to results/figures; `denots report` makes a page
    of everything.

      denots reproduce --list
      denots reproduce bump sine-mix --profile smoke
      denots reproduce all --profile quick --jobs 2 --budget 60
      denots reproduce main --profile paper --dataset uwgl --system denots,gru
      denots reproduce main --profile paper --protocol best
      denots reproduce all --profile paper --on ray
      denots reproduce --verify 20
    """
    from denots.cluster.workers import HERE, workers_on
    from denots.experiments import EXPERIMENTS, Request
    from denots.experiments.draw import check_drawing
    from denots.experiments.results import Results

    request = Request(profile, protocol, _seeds(seeds), _known(dataset, "dataset"), _known(system, "backbone"))  # type: ignore[arg-type]
    store = Results(results)
    if listed:
        _list(request, store)
        return
    if budget is not None and not budget > 0:
        raise InvalidOption(f"--budget is a positive number of minutes; got {budget}.")
    if verified is not None:
        _verify(store, request, verified, 10.0 if budget is None else budget)
        return
    if not names:
        raise InvalidOption(f"name an experiment or all: {', '.join(EXPERIMENTS)}.")
    chosen = [
        lookup(EXPERIMENTS, name, "experiment") for name in (EXPERIMENTS if "all" in names else dict.fromkeys(names))
    ]
    check_drawing()  # before the runs, which take long
    if place != HERE and jobs is not None:
        raise InvalidOption("--jobs is for runs here; a cluster makes as many as it has room for, so leave it out.")
    workers = workers_on(place, tell=say_where)
    outcome = _make(chosen, request, store, jobs or os.cpu_count() or 1, workers, budget)
    _write(chosen, store, request)
    if outcome.failures:
        raise typer.Exit(1)


def _verify(store: "Results", request: "Request", count: int, minutes: float) -> None:
    """Records made again, a line each; those of the same code have to be equal."""
    from denots.experiments.runner import label_of
    from denots.experiments.runs import name_of, unavailable
    from denots.runs.origin import code_version
    from denots.runs.verify import Verified, choose, verify

    known = [entry.record for entry in store.runs.entries()]
    asked = [record for record in known if request.wants(record.spec.dataset.name, name_of(record))]
    records = [record for record in asked if unavailable(record.spec.dataset.name) is None]
    chosen = choose(records, count, seed=(request.seeds or (0,))[0], seconds=60 * minutes)
    if not chosen:
        raise InvalidOption(f"{store.folder} has no record that can be made here within {minutes:g} minutes.")
    say(f"this code is {code_version()}")
    made: list[Verified] = []
    deadline = time.monotonic() + 60 * minutes
    for record in chosen:
        if made and time.monotonic() > deadline:
            break
        found = verify(record)
        made.append(found)
        ends = "equal to the last digit" if not found.where else f"off by up to {found.difference:.2g} ({found.where})"
        code = "same code" if found.same_code else f"made by code {record.origin.code}"
        size = f"profile {record.origin.profile or 'none'}"
        say(f"{'BROKEN ' if found.broken else ''}{label_of(record.spec)}, {size}: {ends}; {code}")
    equal = sum(not found.where for found in made)
    say(f"{equal} of {len(made)} equal, {len(chosen) - len(made)} left when the time was over")
    if any(found.broken for found in made):
        raise typer.Exit(1)


def _make(
    chosen: Sequence["Experiment"],
    request: "Request",
    store: "Results",
    processes: int,
    workers: "Workers",
    budget: float | None,
) -> "Outcome":
    from denots.experiments import EXPERIMENTS
    from denots.experiments.runner import make_runs, plan

    deadline = None if budget is None else time.time() + 60 * budget
    for reason in dict.fromkeys(reason for experiment in chosen for reason in experiment.plan(request).left_out):
        say(f"left out: {reason}")
    jobs, known = plan(chosen, EXPERIMENTS.values(), request, store)
    say(f"{known} recorded, {len(jobs)} to do ({request.profile}, protocol {request.protocol})")
    with _watching(jobs) as report:
        side_by_side = min(processes, len(jobs)) or 1
        outcome = make_runs(jobs, store, processes=side_by_side, workers=workers, deadline=deadline, report=report)
    fates = outcome.fates
    words = [f"{fates['recorded']} runs made", f"{fates['known']} taken over from other experiments"]
    if fates["elsewhere"]:
        words.append(f"{fates['elsewhere']} being made by another process")
    say(", ".join(words))
    if outcome.left:
        say(f"{len(outcome.left)} left when the time was over; next: {', '.join(j.label for j in outcome.left[:3])}")
    for failure in outcome.failures:
        complain("error", failure, "bold red")
    return outcome


@contextmanager
def _watching(jobs: Sequence["Job"]) -> Iterator[Callable[["Job", "Fate"], None]]:
    """A bar with the time left, by the runs made so far; a line a run for logs."""
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    columns = (
        BarColumn(bar_width=24),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
    )
    with Progress(
        *columns,
        TextColumn("{task.description}"),
        console=err,
        disable=not watched(),
        transient=True,
        speed_estimate_period=3600,
    ) as bar:
        line = bar.add_task("", total=len(jobs))

        def report(job: "Job", fate: "Fate") -> None:
            bar.update(line, advance=1, description=job.label)
            if not watched():
                err.print(f"{fate} {job.label}", soft_wrap=True, highlight=False)

        yield report


def _write(chosen: Sequence["Experiment"], store: "Results", request: "Request") -> None:
    """Tables as Markdown and LaTeX, figures as SVG and PDF, next to the records; those of other rules in a folder of theirs."""
    from denots.experiments.gallery import exhibits_of, records_of, write_exhibits

    for experiment in chosen:
        written = []
        for rules in ("paper", "standardised") if request.protocol == "paper" else (request.protocol,):
            if rules != "standardised" or (records_of(experiment, store, rules) and not experiment.compares_rules):
                folder = store.folder if rules == "paper" else store.folder / rules
                written += write_exhibits(experiment, exhibits_of(experiment, store, rules), folder)
        if written:
            say(f"{experiment.name}: {', '.join(str(file) for file in written)}")


def _list(request: "Request", store: "Results") -> None:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    from denots.experiments import EXPERIMENTS
    from denots.experiments.gallery import standing_of
    from denots.experiments.missing import missing

    table = Table(box=SIMPLE_HEAD)
    for header in ("name", "shows", "smoke", "quick", "paper", "agrees"):
        table.add_column(header, no_wrap=header in ("name", "smoke", "quick", "paper", "agrees"))
    reasons: dict[str, list[str]] = {}
    for experiment in EXPERIMENTS.values():
        standing = standing_of(experiment, store, request)
        table.add_row(experiment.name, experiment.shows, *standing.counts, standing.agreement)
        for reason in standing.left_out:
            reasons.setdefault(reason, []).append(experiment.name)
    out.print(table)
    say(
        f"recorded / planned runs by profile, protocol {request.protocol}; agrees: cells within the joint spread of the paper's"
    )
    for reason, names in reasons.items():
        say(f"left out: {reason} ({', '.join(names)})")
    for each in missing(EXPERIMENTS.values(), store, request):
        say(f"not made: {each}")


def _known(text: str | None, group: str) -> tuple[str, ...] | None:
    """The names asked for, each of which `denots train` must know."""
    from denots.datasets import DATASETS
    from denots.systems import SYSTEMS

    if text is None:
        return None
    names = tuple(text.split(","))
    for name in names:
        (DATASETS if group == "dataset" else SYSTEMS).find(name)
    return names


def _seeds(text: str | None) -> tuple[int, ...] | None:
    if text is None:
        return None
    try:
        return tuple(int(part) for part in text.split(","))
    except ValueError as error:
        raise InvalidOption(f"--seeds are whole numbers with commas between, such as 0,1,2; got {text!r}.") from error
