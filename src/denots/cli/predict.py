"""`denots predict`: answers for the series of a table."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from denots.cli.messages import say
from denots.cli.table_options import read_fitted_table
from denots.data.schema import TableSchema
from denots.errors import InvalidOption

if TYPE_CHECKING:
    import pandas as pd

    from denots.data.series import SeriesSet


def predict(
    model: Annotated[Path, typer.Argument(help="Model folder that `denots fit` wrote.", show_default=False)],
    table: Annotated[Path, typer.Argument(help="Table with the columns of the fitted one.", show_default=False)],
    out: Annotated[
        Path, typer.Option("--out", "-o", help="File to write: .csv, .tsv, .parquet ...", show_default=False)
    ],
    at: Annotated[
        str | None,
        typer.Option(
            help="Forecast: times such as 1.5,2,3, counted like the fitted table's; for dates, since the first row."
        ),
    ] = None,
    at_table: Annotated[
        Path | None, typer.Option(help="Forecast: a table with one row (id, time) per question.")
    ] = None,
) -> None:
    """Predict for each series of a table and write a table of answers.

    A classifier gives the class and a probability per class (p_yes, p_no);
    a regressor gives a number; a forecaster the channels at given times.
    A series that cannot be solved gets empty cells and a warning.

      denots predict model new.csv -o predictions.csv
      denots predict forecaster new.csv --at 24,36,48 -o forecast.csv
      denots predict forecaster new.csv --at-table questions.csv -o forecast.csv
    """
    from denots.data.table_file import check_destination, read_table, write_table
    from denots.estimators import DeNOTSClassifier, DeNOTSForecaster, load_estimator

    check_destination(out)
    for given in (table, at_table):
        if given is not None and out.resolve() == given.resolve():
            raise InvalidOption(f"--out {out} is the table that is read; give another name, or its data would be lost.")
    estimator = load_estimator(model)
    options = read_fitted_table(model).options
    forecasts = isinstance(estimator, DeNOTSForecaster)
    if forecasts and (at is None) == (at_table is None):
        raise InvalidOption("a forecast needs times: give either --at 1.5,2,3 or --at-table FILE.")
    if not forecasts and (at is not None or at_table is not None):
        raise InvalidOption("--at and --at-table are for forecasts; this model answers once per series.")
    frame = read_table(table, id=options.id)
    series = options.read(frame)
    if isinstance(estimator, DeNOTSForecaster):
        answers = _forecast(estimator, options, frame, series, at, at_table)
    elif isinstance(estimator, DeNOTSClassifier):
        answers = classify(estimator, series, options.id)
    else:
        answers = regress(estimator, series, options.id)
    write_table(answers, out)
    say(f"{len(answers)} predictions in {out}")


def classify(estimator: Any, series: "SeriesSet", id: str) -> "pd.DataFrame":
    """The most probable class and all probabilities; empty where the solver failed."""
    import numpy as np
    import pandas as pd

    shares = estimator.predict_proba(series)
    lost = np.isnan(shares).any(axis=1)
    best = estimator.classes_[np.where(lost[:, None], 0.0, shares).argmax(axis=1)].astype(object)
    best[lost] = None
    columns = {id: series.ids, "prediction": best}
    return pd.DataFrame(columns | {f"p_{name}": shares[:, k] for k, name in enumerate(estimator.classes_.tolist())})


def regress(estimator: Any, series: "SeriesSet", id: str) -> "pd.DataFrame":
    import pandas as pd

    return pd.DataFrame({id: series.ids, "prediction": estimator.predict(series)})


def _forecast(
    estimator: Any,
    options: TableSchema,
    frame: "pd.DataFrame",
    series: "SeriesSet",
    at: str | None,
    at_table: Path | None,
) -> "pd.DataFrame":
    """A long table: id, time, one column per channel."""
    import numpy as np
    import pandas as pd

    from denots.cli.questions import read_questions, read_times

    if at_table is None:
        times = read_times(at or "")
        values = estimator.predict(series, times).reshape(-1, len(series.channels))
        asked = pd.DataFrame({options.id: np.repeat(series.ids, len(times)), options.time: np.tile(times, len(series))})
    else:
        questions = read_questions(at_table, options, frame, series)
        answers = estimator.predict(series.select(questions.series), questions.times)
        values = np.empty((len(questions.asked), len(series.channels)))
        for rows, block in zip(questions.rows, answers, strict=True):
            values[rows] = block
        asked = questions.asked
    return pd.concat([asked, pd.DataFrame(values, columns=list(series.channels))], axis=1)
