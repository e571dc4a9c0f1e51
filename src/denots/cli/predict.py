"""`denots predict`: answers for the series of a table."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from denots.cli.messages import complain, say
from denots.cli.predict_shards import predict_folder
from denots.cli.spare import spare
from denots.cli.where import Place
from denots.errors import InvalidOption

if TYPE_CHECKING:
    import pandas as pd

MANY_FAILED = 3  # exit code when more series than --max-failed have no answer

Strict = Annotated[bool, typer.Option("--strict", help="Stop at series that cannot be read or solved.")]
MaxFailed = Annotated[
    float,
    typer.Option(min=0, max=1, help=f"Exit with code {MANY_FAILED} if a larger share of the series has no answer."),
]


def predict(
    model: Annotated[Path, typer.Argument(help="Model folder of `denots fit` or of save().", show_default=False)],
    table: Annotated[Path, typer.Argument(help="Table with the columns of the fitted one.", show_default=False)],
    out: Annotated[
        Path, typer.Option("--out", "-o", help="File to write: .csv, .parquet ...; - is stdout.", show_default=False)
    ],
    at: Annotated[
        str | None,
        typer.Option(
            help="Forecast, rows: times such as 1.5,2,3, counted like the fitted table's; for dates, since the first row."
        ),
    ] = None,
    at_table: Annotated[
        Path | None, typer.Option(help="Forecast, rows: a table with one row (id, time) per question.")
    ] = None,
    every: Annotated[
        str | None, typer.Option(help="Rows: answer at every row (the default), or so far apart, such as 1h.")
    ] = None,
    coverage: Annotated[
        float | None,
        typer.Option(
            help="Add a set of classes, or the ends of an interval, that holds the truth so often, such as 0.9."
        ),
    ] = None,
    groups: Annotated[
        str | None,
        typer.Option(
            help="With --coverage: a static column, or the target of classes; the coverage holds in each group."
        ),
    ] = None,
    strict: Strict = False,
    max_failed: MaxFailed = 0.1,
    place: Place = "local",
) -> None:
    """Predict for each series of a table and write a table of answers.

    A classifier gives the class and a probability per class (p_yes, p_no);
    a regressor gives a number; a forecaster the channels at given times; a
    model of rows (fit --row-target) an answer at every row, from it and those before.
    A series that cannot be read or solved gets empty cells, and the column
    status says why; it says, too, what is unlike the training data.
    With --coverage 0.9, the column set (or low_... and high_...) holds the
    truth for nine of ten series like those of the fitted table.

      denots predict model new.csv -o predictions.csv
      denots predict model new.csv --coverage 0.9 -o predictions.csv
      denots predict forecaster new.csv --at 24,36,48 -o forecast.csv
      denots predict forecaster new.csv --at-table questions.csv -o forecast.csv
      denots predict rows new.csv --every 1h -o hourly.csv
      denots predict model shards -o answers       (of denots data convert)
    """
    from denots.data.shards import is_sharded
    from denots.data.table_file import STANDARD, check_destination, check_mounted, read_table, write_table
    from denots.estimators import load_estimator

    sharded = is_sharded(table)
    if not sharded:
        check_mounted(table)
        check_destination(out)
    spare("--out", None if out == STANDARD else out, table, at_table, model=model)
    if groups is not None and coverage is None:
        raise InvalidOption("--groups says for whom a coverage holds; give --coverage, too, such as 0.9.")
    estimator = load_estimator(model)
    asked: dict[str, Any] = {"coverage": coverage, "groups": groups}
    if every is not None and not estimator.task_.causal:
        raise InvalidOption("--every is for models of rows (denots fit --row-target); this one answers otherwise.")
    if estimator.task_.causal:
        if sum(given is not None for given in (at, at_table, every)) > 1 or sharded:
            raise InvalidOption("a model of rows reads a table, and answers where --every, --at or --at-table says.")
        asked["times"] = None if at is None else read_times(at)
        asked["every"] = None if every in (None, "row") else read_step(str(every), estimator.time_unit_)
    elif estimator.task_.asks_times:
        if (at is None) == (at_table is None):
            raise InvalidOption("a forecast needs times: give either --at 1.5,2,3 or --at-table FILE.")
        asked["times"] = None if at is None else read_times(at)
    elif at is not None or at_table is not None:
        raise InvalidOption("--at and --at-table are for forecasts; this model answers once per series.")
    if sharded:
        failed, n = predict_folder(model, table, out, asked, strict=strict, place=place)
        stop_if_many_failed(failed, n, max_failed)
        return
    if place != "local":
        raise InvalidOption("--on is for sets of shards (denots data convert); a table is predicted where it is read.")
    schema = estimator.table_schema()
    frame = read_table(table, id=schema.id, texts=schema.texts)
    if at_table is not None:
        asked["questions"] = read_table(at_table, id=schema.id, texts=schema.texts)
    answers = estimator.predict_table(frame, strict=strict, **asked)
    write_table(answers, out)
    _conclude(answers, schema.id, out, max_failed)


def _conclude(answers: "pd.DataFrame", id: str, out: Path, max_failed: float) -> None:
    """Say how many answers there are; too many missing ones have an exit code of their own."""
    from denots.data.table_file import STANDARD

    status, ids = answers["status"].str, answers[id]
    by_series = status.startswith("not ").groupby(ids, sort=False).any()
    failed = int(by_series.sum())
    unusual, early = ids[status.startswith("unusual")].nunique(), int(status.startswith("asked before").sum())
    words = [f"{len(answers)} predictions in {'standard output' if out == STANDARD else out}"]
    words += [f"{failed} of {len(by_series)} series without an answer"] if failed else []
    words += [f"{early} of them empty, asked before the first observation"] if early else []
    words += [f"{unusual} unlike the training data"] if unusual else []
    told = "; ".join(words) + (" (see the column status)" if failed or early or unusual else "")
    complain("done", told, "bold") if out == STANDARD else say(told)
    stop_if_many_failed(failed, len(by_series), max_failed)


def stop_if_many_failed(failed: int, n: int, most: float) -> None:
    """End with an exit code of its own when too large a share has no answer."""
    if failed > most * n:
        complain("error", f"{failed} of {n} series have no answer, more than --max-failed {most:g}.", "bold red")
        raise typer.Exit(MANY_FAILED)


def read_step(text: str, unit: str) -> float:
    """A time such as `1h` in the unit of a model, or a number in that unit."""
    import re

    from denots.data.stamps import SECONDS, unit_name

    found = re.fullmatch(r"\s*([0-9.]+(?:e-?[0-9]+)?)\s*([a-z]*)\s*", text, re.IGNORECASE)
    try:
        number = float(found[1]) if found else 0.0
    except ValueError:
        number = 0.0
    if found is None or not number > 0:
        raise InvalidOption(f"--every takes row, or a positive time such as 1h or 0.5; got {text!r}.")
    if not found[2]:
        return number
    if not unit:
        raise InvalidOption(f"the model counts time in no known unit; give --every {found[1]} without {found[2]!r}.")
    return number * SECONDS[unit_name(found[2])] / SECONDS[unit]


def read_times(text: str) -> list[float]:
    """Numbers in a list such as `1.5,2,3`."""
    try:
        times = [float(part) for part in text.split(",") if part.strip()]
    except ValueError as error:
        raise InvalidOption(f"--at takes numbers separated by commas, such as 1.5,2,3; got {text!r}.") from error
    if not times:
        raise InvalidOption("--at names no time; give numbers separated by commas, such as 1.5,2,3.")
    return times
