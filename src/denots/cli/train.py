"""`denots train`: an experiment on a built-in data set, configured by Hydra."""

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from denots.cli.messages import complain, say, show_facts, watched
from denots.errors import DenotsError, InvalidOption

if TYPE_CHECKING:
    from denots.runs.record import RunRecord


def train(
    overrides: Annotated[
        list[str] | None, typer.Argument(help="key=value, as many as wanted.", show_default=False)
    ] = None,
    multirun: Annotated[
        bool, typer.Option("--multirun", "-m", help="Run every combination of comma-separated values.")
    ] = False,
) -> None:
    """Run an experiment on a built-in data set and record the result.

    Defaults are the published numbers of data set and backbone. The record,
    one line of JSON, goes to a new folder in ./outputs (./multirun with -m);
    name the folder with hydra.run.dir to continue an interrupted run.
    Options of Hydra are passed on: --cfg job shows the configuration.

      denots train dataset=bump dataset.size=60 backbone=sync train.max_epochs=2
      denots train -m dataset=sine-mix backbone=denots,none,tanh seed=0,1,2
      denots train dataset=pendulum backbone.depth=10 hydra.run.dir=runs/depth-10
    """
    import hydra
    from hydra.errors import HydraException
    from omegaconf.errors import OmegaConfBaseException

    from denots.runs.compose import check_overrides, register_schema

    given = list(overrides or [])
    check_overrides(_assignments(given))
    register_schema()
    failures: list[DenotsError] = []

    def job(config: Any) -> None:
        try:
            _run(config)
        except DenotsError as error:  # the other runs of a sweep go on
            failures.append(error)
            if multirun:
                complain("error", error, "bold red")

    with _as_hydra_command([*(["--multirun"] if multirun else []), *given]):
        try:
            hydra.main(version_base="1.3", config_path="pkg://denots.configs", config_name="train")(job)()
        except (HydraException, OmegaConfBaseException) as error:
            cause = error.__cause__ if isinstance(error.__cause__, OmegaConfBaseException) else error
            lines = dict.fromkeys([str(error).splitlines()[0], str(cause).splitlines()[0]])
            raise InvalidOption(": ".join(lines)) from error
    if failures and not multirun:
        raise failures[0]
    if failures:
        raise typer.Exit(1)


def _run(config: Any) -> None:
    """One run, in the folder that Hydra chose for it."""
    from hydra.core.hydra_config import HydraConfig

    from denots.runs.compose import read_spec
    from denots.runs.run import run

    spec = read_spec(config)
    chosen = HydraConfig.get().runtime
    folder = Path(os.path.relpath(chosen.output_dir))
    say(f"{spec.dataset.name}, {chosen.choices['backbone']}, seed {spec.seed} in {folder}")
    _show(run(spec, folder, progress=watched()), folder)


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


def _assignments(arguments: Sequence[str]) -> list[str]:
    """The overrides among the arguments: no options of Hydra, nor the values of those."""
    found, takes_value = [], False
    for argument in arguments:
        if takes_value:
            takes_value = False
        elif argument.startswith("-"):
            takes_value = argument in {"--cfg", "-c", "--package", "-p", "--config-dir", "-cd", "--config-path", "-cp"}
        else:
            found.append(argument)
    return found


@contextmanager
def _as_hydra_command(arguments: list[str]) -> Iterator[None]:
    """Hydra reads sys.argv, and raises its errors instead of printing them only when told so."""
    argv, told = sys.argv, os.environ.get("HYDRA_FULL_ERROR")
    sys.argv, os.environ["HYDRA_FULL_ERROR"] = ["denots train", *arguments], "1"
    try:
        yield
    finally:
        sys.argv = argv
        if told is None:
            del os.environ["HYDRA_FULL_ERROR"]
        else:
            os.environ["HYDRA_FULL_ERROR"] = told
