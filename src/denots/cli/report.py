"""`denots report`: one page with everything that was reproduced."""

import datetime
from pathlib import Path
from typing import Annotated

import typer

from denots.cli.messages import say
from denots.cli.reproduce import ResultsFolder
from denots.errors import InvalidOption


def report(
    results: ResultsFolder = Path("results"),
    file: Annotated[Path, typer.Option("--out", "-o", help="Page to write.")] = Path("report.html"),
    date: Annotated[str | None, typer.Option(help="Date on the page, YYYY-MM-DD. Default: today.")] = None,
) -> None:
    """Write one page with every table and figure, from the records alone.

    It needs no network: send it, print it, put it on a server. The same
    records and date give the same bytes.

      denots report --results results --out report.html
    """
    from denots.experiments.draw import check_drawing
    from denots.experiments.report import build_page
    from denots.experiments.results import Results
    from denots.folders import write_file_whole

    check_drawing()
    if not results.is_dir():
        raise InvalidOption(f"{results} is no folder; `denots reproduce` makes one.")
    try:
        day = datetime.date.today() if date is None else datetime.date.fromisoformat(date)
    except ValueError as error:
        raise InvalidOption(f"--date is written YYYY-MM-DD; got {date!r}.") from error
    write_file_whole(file, build_page(Results(results), day).encode())
    say(f"{file} ({file.stat().st_size / 1e6:.1f} MB)")
