"""`denots certify`: what is proved of a trained model."""

import textwrap
from pathlib import Path
from typing import Annotated

import typer

from denots.cli.messages import say
from denots.cli.spare import spare

WIDTH = 80


def certify(
    model: Annotated[Path, typer.Argument(help="Model folder of `denots fit` or of save().", show_default=False)],
    table: Annotated[Path | None, typer.Argument(help="Table with the columns of the fitted one.")] = None,
    json: Annotated[Path | None, typer.Option(help="Write everything as JSON.")] = None,
    html: Annotated[Path | None, typer.Option(help="Write a page with pictures.")] = None,
) -> None:
    """Say how stable a trained DeNOTS model is: proved, and measured along the series of a table.

    What is proved holds for every signal within the ranges of the table; without a table for any
    signal, or, of a model fitted with --set stability=certified, for signals in the range of training.
    Other systems, and fields without negative feedback, are refused with the reason.

      denots fit train.csv --target outcome --system denots --set stability=certified --out model
      denots certify model test.csv --html certificate.html
    """
    from denots.data.table_file import read_table
    from denots.estimators import load_estimator
    from denots.folders import write_file_whole

    for name, file in (("--json", json), ("--html", html)):
        spare(name, file, table, model=model)
    estimator = load_estimator(model)
    frame = None
    if table is not None:
        schema = estimator.table_schema()
        frame = read_table(table, id=schema.id, texts=schema.texts)
    found = estimator.certify(frame)

    from denots.theory.certificate_page import VERDICTS, build_page, told

    say(textwrap.fill(VERDICTS[found.contracting], WIDTH))
    say(", ".join(f"{name} {text}" for name, text in told(found).items()))
    for heading, claims in (("proved", found.proved), ("measured", found.measured)):
        if claims:
            say(f"\n{heading}")
        for claim in claims:
            say(textwrap.fill(claim.words, WIDTH, initial_indent="- ", subsequent_indent="  "))
    if json is not None:
        write_file_whole(json, found.to_json().encode())
        say(f"\nnumbers in {json}")
    if html is not None:
        write_file_whole(html, build_page(found).encode())
        say(f"\npage in {html}")
