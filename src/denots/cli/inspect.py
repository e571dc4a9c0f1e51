"""`denots inspect`: what a table holds, before anything is trained."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from denots.cli.learning import names
from denots.cli.messages import say
from denots.cli.spare import spare

if TYPE_CHECKING:
    from denots.diagnostics.inspect import Inspection

WIDTH = 80


def inspect(
    table: Annotated[
        Path, typer.Argument(help="CSV, TSV, Parquet, Feather or Excel file; - is stdin.", show_default=False)
    ],
    id: Annotated[str | None, typer.Option(help="Column that says which series a row belongs to.")] = None,
    time_column: Annotated[str | None, typer.Option("--time", help="Column of numbers or dates.")] = None,
    target: Annotated[str | None, typer.Option(help="Column to learn, constant within a series.")] = None,
    static: Annotated[list[str] | None, typer.Option(help="Columns that are constant within a series: a,b.")] = None,
    variable: Annotated[str | None, typer.Option(help="Long table: column that names the channel.")] = None,
    value: Annotated[str | None, typer.Option(help="Long table: column that holds the value.")] = None,
    time_format: Annotated[str | None, typer.Option(help="How dates are written: %d.%m.%Y %H:%M.")] = None,
    na: Annotated[
        list[str] | None, typer.Option(help="A further spelling of a missing value. May be repeated.")
    ] = None,
    html: Annotated[Path | None, typer.Option(help="Write a page with pictures, too.")] = None,
) -> None:
    """Say what a table holds, what is odd about it, and how to fit it.

    Columns that nobody names are guessed. Nothing is trained or written,
    but for the page of --html.

      denots inspect visits.csv
      denots inspect visits.parquet --id patient --target outcome --html visits.html
    """
    from denots.data.table_file import read_table
    from denots.diagnostics.inspect import inspect_table
    from denots.diagnostics.roles import Roles

    spare("--html", html, table)
    times = [name for name in (time_column,) if name is not None and time_format is not None]
    frame = read_table(table, id=id, texts=times)
    roles = Roles(id, time_column, target, names(static, "--static"), variable, value)
    found = inspect_table(str(table), frame, roles, na=tuple(na or ()), form=time_format)
    for line in lines(found):
        say(line)
    if html is not None:
        from denots.diagnostics.inspect_page import write_page

        write_page(found, html)
        say(f"\npage: {html}")


def lines(found: "Inspection") -> list[str]:
    """The report in lines of at most 80 letters."""
    from denots.diagnostics.inspect_page import facts
    from denots.pages.document import number

    told = [line for name, text in facts(found).items() for line in _folded(f"{name:<14}", text)]
    told += [
        "",
        f"{'channel':<22}{'missing':>8}{'series':>8}{'lowest':>10}{'median':>10}{'highest':>10}{'outliers':>10}",
    ]
    for one in found.channels:
        low, _, middle, _, high = (number(value) for value in one.quantiles)
        name = one.name if len(one.name) <= 21 else f"{one.name[:18]}..."
        told.append(f"{name:<22}{one.missing:>8.1%}{one.series:>8}{low:>10}{middle:>10}{high:>10}{one.outliers:>10}")
    if found.remarks:
        told += ["", "worth a look"]
        told += [line for remark in found.remarks for line in _folded("- ", remark)]
    return [*told, "", "to fit it", f"  {found.command}"]


def _folded(head: str, text: str) -> list[str]:
    import textwrap

    return textwrap.wrap(text, WIDTH, initial_indent=head, subsequent_indent=" " * len(head)) or [head]
