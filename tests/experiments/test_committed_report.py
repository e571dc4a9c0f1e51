"""The page in `results` and the README say what the records say."""

import datetime
import re
from pathlib import Path

import pytest

from denots.experiments.report import build_page
from denots.experiments.results import Results

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "results"


@pytest.mark.slow
def test_the_committed_page_is_made_of_the_committed_records_byte_for_byte() -> None:
    page = (RESULTS / "report.html").read_text(encoding="utf-8")
    day = re.search(r"\d{4}-\d{2}-\d{2}", page)
    assert day is not None
    assert build_page(Results(RESULTS), datetime.date.fromisoformat(day.group())) == page


def test_every_result_in_the_readme_stands_in_a_committed_table() -> None:
    tables = "\n".join(file.read_text(encoding="utf-8") for file in sorted(RESULTS.rglob("*.md")))
    lines = (ROOT / "README.md").read_text(encoding="utf-8").splitlines()
    rows = lines[lines.index("| | paper | here | |") + 2 :]
    rows = rows[: rows.index("")]
    ours = [number for row in rows for number in re.findall(r"0\.\d{3}(?: ± 0\.\d{3})?", row)]
    assert len(ours) >= len(rows) == 9
    assert [number for number in ours if number not in tables] == []
