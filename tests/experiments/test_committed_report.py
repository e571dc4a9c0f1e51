"""The page in `results` says what the records beside it say."""

import datetime
import re
from pathlib import Path

import pytest

from denots.experiments.report import build_page
from denots.experiments.results import Results

RESULTS = Path(__file__).parents[2] / "results"


@pytest.mark.slow
def test_the_committed_page_is_made_of_the_committed_records_byte_for_byte() -> None:
    page = (RESULTS / "report.html").read_text(encoding="utf-8")
    day = re.search(r"\d{4}-\d{2}-\d{2}", page)
    assert day is not None
    assert build_page(Results(RESULTS), datetime.date.fromisoformat(day.group())) == page
