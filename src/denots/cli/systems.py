"""`denots systems`: what can be fitted, its options, and how large it is beside the published sizes."""

from typing import TYPE_CHECKING, Annotated

import typer

from denots.cli.messages import out, print_whole, show_facts
from denots.protocol import DEFAULT_PROTOCOL

if TYPE_CHECKING:
    from denots.training.model import Model


def systems(
    name: Annotated[str | None, typer.Argument(help="Show the options of this system.", show_default=False)] = None,
    sizes: Annotated[bool, typer.Option("--sizes", help="Count parameters, beside the paper's.")] = False,
    protocol: Annotated[
        str,
        typer.Option(
            help="With --sizes: paper (as published), fair (equal terms) or best; what data decide counts in full."
        ),
    ] = DEFAULT_PROTOCOL,
) -> None:
    """Show every system that can be fitted, or the options of one.

    denots systems
    denots systems denots
    denots systems --sizes --protocol fair
    """
    from denots.options import tunables
    from denots.systems import SYSTEMS

    if name is not None:
        system = SYSTEMS.find(name)
        out.print(system.description, highlight=False)
        among = {option: f" (tune: {where})" for option, where in tunables(system.configs).items()}
        show_facts({option: _spelled(value) + among.get(option, "") for option, value in system.options.items()})
    elif sizes:
        _show_sizes(protocol)
    else:
        _list()


def _list() -> None:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    from denots.systems import SYSTEMS

    table = Table(box=SIMPLE_HEAD)
    table.add_column("system", no_wrap=True)
    table.add_column("what it is")
    for name, system in SYSTEMS.complete().items():
        table.add_row(name, system.description)
    out.print(table)


def _spelled(value: object) -> str:
    return "none" if value is None else str(value).lower() if isinstance(value, bool) else str(value)


def _show_sizes(protocol: str) -> None:
    """Counted on the built models, without embedding, static projection and head; the paper's number stands behind."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    from denots.experiments import published
    from denots.experiments.parameters import SHAPES, built
    from denots.protocol import check_protocol
    from denots.systems import SYSTEMS

    table = Table(box=SIMPLE_HEAD)
    for header in ("system", "solver", "time stamps", *SHAPES):
        table.add_column(header, justify="right" if header in SHAPES else "left", no_wrap=True)
    for system in SYSTEMS:
        models = {dataset: built(system, dataset, check_protocol(protocol)) for dataset in SHAPES}
        cells = [_size(model, published.PARAMETERS[dataset].get(system)) for dataset, model in models.items()]
        table.add_row(system, _solver(models["pendulum"]), _reads_time(models["pendulum"]), *cells)
    print_whole(table)


def _size(model: "Model | None", theirs: int | None) -> str:
    if model is None:
        return "-"
    ours = model.backbone.core_parameters
    return f"{ours}" if theirs is None else f"{ours} ({'=' if ours == theirs else theirs})"


def _solver(model: "Model | None") -> str:
    """Whether the vector fields of a model have fused kernels."""
    from denots.fields import VectorField

    fields = [] if model is None else [part for part in model.modules() if isinstance(part, VectorField)]
    return "none" if not fields else "native" if all(field.kernel() for field in fields) else "reference"


def _reads_time(model: "Model | None") -> str:
    return "-" if model is None else "read" if model.backbone.reads_time else "ignored"
