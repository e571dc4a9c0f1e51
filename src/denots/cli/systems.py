"""`denots systems`: what can be trained, and how large it is beside the published sizes."""

from typing import TYPE_CHECKING, Annotated

import typer

from denots.cli.messages import out
from denots.protocol import DEFAULT_PROTOCOL

if TYPE_CHECKING:
    from denots.training.model import Model


def systems(
    protocol: Annotated[
        str, typer.Option(help="paper (as published, warts included) or fair (equal terms for all).")
    ] = DEFAULT_PROTOCOL,
) -> None:
    """Show every system, what solves it, and its parameters for each data set.

    Counted on the built models, without embedding, static projection and
    head; where the paper prints a number, it stands behind ours.

      denots systems
      denots systems --protocol fair
    """
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table

    from denots.experiments import Request, published
    from denots.experiments.parameters import SHAPES, built
    from denots.systems import SYSTEMS

    chosen = Request(protocol=protocol).protocol  # type: ignore[arg-type]
    table = Table(box=SIMPLE_HEAD)
    for header in ("system", "solver", "time stamps", *SHAPES):
        table.add_column(header, justify="right" if header in SHAPES else "left", no_wrap=True)
    for system in SYSTEMS:
        models = {dataset: built(system, dataset, chosen) for dataset in SHAPES}
        sizes = [_size(model, published.PARAMETERS[dataset].get(system)) for dataset, model in models.items()]
        example = models["pendulum"]
        table.add_row(system, _solver(example), _reads_time(example), *sizes)
    wide = Console(file=out.file, width=400)
    Console(file=out.file, width=max(out.width, wide.measure(table).maximum)).print(table)  # whole rows, in pipes too
    for system, told in SYSTEMS.items():
        out.print(f"{system:14} {told.description}", soft_wrap=True, highlight=False)


def _size(model: "Model | None", theirs: int | None) -> str:
    if model is None:
        return "-"
    ours = model.backbone.core_parameters
    return f"{ours}" if theirs is None else f"{ours} ({'=' if ours == theirs else theirs})"


def _solver(model: "Model | None") -> str:
    """Whether the vector fields of a model have fused kernels."""
    from denots.fields import VectorField
    from denots.ode.native import FIELDS

    fields = [] if model is None else [type(part) for part in model.modules() if isinstance(part, VectorField)]
    return "none" if not fields else "native" if all(field in FIELDS for field in fields) else "reference"


def _reads_time(model: "Model | None") -> str:
    return "-" if model is None else "read" if model.backbone.reads_time else "ignored"
