"""A small clinic as text, and the command line as a function."""

import io
import os
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest
from typer.testing import CliRunner, Result

from denots.cli import app

VISITS = """\
patient,when,age,pulse,temperature,outcome
ann,2024-03-01T08:00:00,61,71,36.6,well
ann,2024-03-01T20:30:00,61,69,,well
ann,2024-03-02T09:15:00,61,66,36.5,well
bob,2024-02-27T22:00:00,55,90,38.2,ill
bob,2024-02-28T01:00:00,55,,38.9,ill
bob,2024-02-28T07:45:00,55,104,39.1,ill
bob,2024-02-28T19:00:00,55,110,,ill
cem,2024-03-05T12:00:00,,88,37.9,ill
cem,2024-03-06T12:00:00,,97,,ill
dee,2024-03-05T06:10:00,70,75,36.9,well
dee,2024-03-05T06:40:00,70,,36.8,well
dee,2024-03-06T18:00:00,70,70,36.6,well
dee,2024-03-07T02:00:00,70,68,36.4,well
dee,2024-03-07T09:00:00,70,67,,well
eve,2024-03-09T10:00:00,34,80,37.0,well
eve,2024-03-09T23:00:00,34,74,36.7,well
fay,2024-03-10T10:00:00,49,91,38.0,ill
fay,2024-03-10T16:30:00,49,99,38.8,ill
fay,2024-03-11T03:00:00,49,108,39.4,ill
gus,2024-03-12T09:00:00,66,72,36.4,well
gus,2024-03-12T21:00:00,66,71,36.4,well
gus,2024-03-13T08:00:00,66,,36.3,well
hal,2024-03-12T09:30:00,58,86,37.8,ill
hal,2024-03-13T09:30:00,58,101,38.7,ill
"""

NEW = """\
patient,when,age,pulse,temperature
ida,2024-04-01T08:00:00,52,84,37.5
ida,2024-04-01T19:00:00,52,95,
ida,2024-04-02T08:00:00,52,102,38.8
jon,2024-04-03T00:00:00,,70,36.6
jon,2024-04-03T12:00:00,,,36.5
007,2024-04-03T05:00:00,41,77,36.9
"""

COLUMNS = ["--id", "patient", "--time", "when", "--time-unit", "h"]
SETTINGS = ("depth=2", "state_size=4", "max_epochs=2", "batches_per_epoch=2", "learning_rate=0.02")
SMALL = ["--system", "denots", *(word for setting in SETTINGS for word in ("--set", setting))]

Run = Callable[..., Result]


@pytest.fixture
def run() -> Run:
    """Call the command in this process; the result has stdout, stderr and exit_code."""
    return invoked


def invoked(*arguments: str | os.PathLike[str], code: int = 0) -> Result:
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    if result.exit_code != code and result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == code, result.output
    return result


@pytest.fixture
def visits(tmp_path: Path) -> Path:
    file = tmp_path / "visits.csv"
    file.write_text(VISITS)
    return file


@pytest.fixture
def new(tmp_path: Path) -> Path:
    file = tmp_path / "new.csv"
    file.write_text(NEW)
    return file


@pytest.fixture(scope="session")
def clinic(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a fitted classifier and a fitted forecaster, to be read only."""
    folder = tmp_path_factory.mktemp("clinic")
    table = folder / "visits.csv"
    table.write_text(VISITS)
    options = [*COLUMNS, *SMALL, "--static", "age", "--quiet"]
    invoked("fit", table, *options, "--target", "outcome", "--out", folder / "classifier")
    signals = ["--channels", "pulse,temperature"]
    invoked("fit", table, *options, *signals, "--system", "denots", "--out", folder / "forecaster")
    return folder


def frame(text: str) -> pd.DataFrame:
    return pd.read_csv(io.StringIO(text), dtype={"patient": str})
