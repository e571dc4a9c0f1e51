"""`denots card`: one page about a fitted model."""

from pathlib import Path
from typing import Annotated

import typer

from denots.cli.messages import say
from denots.cli.spare import spare
from denots.errors import InvalidOption


def card(
    model: Annotated[Path, typer.Argument(help="Model folder of `denots fit` or of save().", show_default=False)],
    table: Annotated[
        Path | None, typer.Argument(help="Table with targets, to judge the model on.", show_default=False)
    ] = None,
    out: Annotated[Path, typer.Option("--out", "-o", help="Page to write.")] = Path("card.html"),
    targets: Annotated[
        Path | None, typer.Option(help="A second table (id, target) instead of a repeated column.")
    ] = None,
    by: Annotated[
        str | None, typer.Option(help="Judge groups of series, too, by a column that is constant within each.")
    ] = None,
    most: Annotated[int, typer.Option(min=2, help="Series to judge; of more, so many are drawn at random.")] = 5_000,
) -> None:
    """Write one page about a fitted model: what it learnt from, what it is worth, why it answers so.

    Alone, a model tells what it has seen in training, what was tried and how
    it learnt. With a table that has the targets, the page judges it: every
    metric beside the trivial answer, the pictures that belong to the task,
    calibration, what lost or noisy observations and wrong times do to it,
    groups, and some series with their explanation. The page is one file and
    needs no network.

      denots card model
      denots card model test.csv --by ward -o card.html
    """
    from denots.card import build_card
    from denots.cli.evaluate import read_judged
    from denots.estimators import load_estimator
    from denots.folders import write_file_whole

    if out.is_dir():
        raise InvalidOption(f"--out {out} is a folder; name a file, such as {out / 'card.html'}.")
    spare("--out", out, table, targets, model=model)
    if table is None and (by is not None or targets is not None):
        raise InvalidOption("--by and --targets are about a table; name one after the model.")
    estimator = load_estimator(model)
    judged, labels = None, None
    if table is not None:
        from denots.estimators.subgroups import read_labels

        frame, judged = read_judged(estimator, table, targets)
        labels = None if by is None else read_labels(frame, estimator.table_schema().id, by, judged.ids)
    page = build_card(estimator, judged, by=labels, most=most, title=model.resolve().name)
    write_file_whole(out, page.encode())
    say(f"card in {out}")
