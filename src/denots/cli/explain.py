"""`denots explain`: why a model says what it says of a series."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from denots.cli.messages import out, say
from denots.cli.spare import spare
from denots.errors import InvalidOption, InvalidTarget

if TYPE_CHECKING:
    from denots.explain import Explanation, Gradients, Importance


def explain(
    model: Annotated[Path, typer.Argument(help="Model folder of `denots fit` or of save().", show_default=False)],
    table: Annotated[Path, typer.Argument(help="Table with the columns of the fitted one.", show_default=False)],
    id: Annotated[str | None, typer.Option(help="The series to explain; not needed where the table holds one.")] = None,
    of: Annotated[
        str | None, typer.Option(help="The class, or one of several targets, to explain. Default: the class told.")
    ] = None,
    parts: Annotated[int, typer.Option(min=1, help="Equal parts of time.")] = 8,
    pairs: Annotated[int, typer.Option(min=1, help="Of orders that are drawn; more are more accurate.")] = 5,
    rows: Annotated[int, typer.Option(min=1, help="Effects to show.")] = 12,
    html: Annotated[Path | None, typer.Option(help="Write a page with pictures of the series.")] = None,
    each: Annotated[
        bool, typer.Option("--each", help="Share the answer among single observations; system denots only.")
    ] = False,
    importance: Annotated[
        bool, typer.Option("--importance", help="Instead, what the model needs over the whole table, with targets.")
    ] = False,
) -> None:
    """Say which channels and times moved an answer.

    Observations are hidden in turns, by channel and part of time. What each
    adds, up or down, sums to the difference between the answer and the
    trivial one: in log-odds of a class, or in the unit of the target.
    With --each, values go from the means of their channels to what was seen,
    and gradients tell what each observation did; its difference is that
    to the answer for the means.
    With --importance, each channel is exchanged among all series of a table
    that has the target, and the loss of the metric is told.

      denots explain model new.csv --id bob
      denots explain model new.csv --id bob --html bob.html
      denots explain model test.csv --importance
    """
    from denots.data.table_file import read_table
    from denots.estimators import load_estimator
    from denots.explain import explain as share
    from denots.explain import importance as measure
    from denots.explain import integrated_gradients
    from denots.explain.subject import check_model, one_series

    if each and (importance or html is not None):
        raise InvalidOption("--each tells of single observations in the terminal; leave --importance and --html out.")
    if importance and (id is not None or html is not None):
        raise InvalidOption("--importance is about all series of the table; leave --id and --html out.")
    spare("--html", html, table, model=model)
    estimator = load_estimator(model)
    check_model(estimator)
    schema = estimator.table_schema()
    frame = read_table(table, id=schema.id, texts=schema.texts)
    if importance:
        missing = [name for name in schema.targets or ("target",) if name not in frame.columns]
        if missing:
            raise InvalidTarget(f"{table} has no column {missing[0]!r}, so there is no answer to compare with; add it.")
        _show_importance(measure(estimator, schema.scan(frame, target=schema.target), verbose=True))
        return
    series = one_series(estimator, frame, id)
    if each:
        _show_each(integrated_gradients(estimator, series, of=of), rows, series.time_unit)
        return
    found = share(estimator, series, of=of, parts=parts, pairs=pairs)
    _show(found, rows, series.time_unit)
    if html is not None:
        from denots.explain import running_answer
        from denots.explain.page import build_page
        from denots.folders import write_file_whole

        page = build_page(estimator, series, found, running_answer(estimator, series, of=of))
        write_file_whole(html, page.encode())
        say(f"page in {html}")


def _show(found: "Explanation", rows: int, unit: str) -> None:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    answers = ", ".join(
        f"{name} {value:.4g}" if isinstance(value, float) else f"{name} {value}" for name, value in found.told.items()
    )
    say(f"series {found.id}: {answers}")
    say(f"{found.quantity} {found.answer:.4g}; {found.trivial:.4g} if nothing were known ({found.baseline})")
    table = Table("what", box=SIMPLE_HEAD)
    for heading in (f"from{f' ({unit})' if unit else ''}", "to", "observations", "effect", "±"):
        table.add_column(heading, justify="right")
    shown = found.largest(rows)
    for cell in shown:
        times = ("", "") if cell.begin is None or cell.end is None else (f"{cell.begin:.4g}", f"{cell.end:.4g}")
        table.add_row(cell.name, *times, str(cell.observations), f"{cell.effect:+.3g}", f"{cell.error:.2g}")
    out.print(table)
    rest = sum(cell.effect for cell in found.cells) - sum(cell.effect for cell in shown)
    if len(found.cells) > len(shown):
        say(f"and {len(found.cells) - len(shown)} smaller effects, {rest:+.3g} together")


def _show_each(found: "Gradients", rows: int, unit: str) -> None:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    say(f"series {found.id}: {found.quantity} {found.answer:.4g}; {found.baseline:.4g} if all values were means")
    table = Table("what", box=SIMPLE_HEAD)
    for heading in (f"time{f' ({unit})' if unit else ''}", "effect"):
        table.add_column(heading, justify="right")
    effects = found.to_frame().sort_values("effect", key=abs, ascending=False)
    for name, when, effect in effects[:rows].itertuples(index=False):
        table.add_row(name, "" if when != when else f"{when:.4g}", f"{effect:+.3g}")
    out.print(table)
    if len(effects) > rows:
        say(f"and {len(effects) - rows} smaller effects, {effects['effect'][rows:].sum():+.3g} together")
    say(f"{found.missing:.2%} of the difference is missing ({found.nodes} nodes)")


def _show_importance(found: "Importance") -> None:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    say(f"{found.metric} {found.score:.4f}; what it loses when one column is exchanged among series:")
    table = Table("column", "loss", "±", box=SIMPLE_HEAD)
    for need in found.needs:
        table.add_row(need.name, f"{need.drop:+.4f}", f"{need.spread:.4f}")
    out.print(table)
