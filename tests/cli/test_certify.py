"""`denots certify`: words, numbers and a page; refusals in one line."""

import json
from pathlib import Path

from cli.conftest import Run


def test_proved_and_measured_are_told_apart_as_words_numbers_and_a_page(
    run: Run, clinic: Path, new: Path, tmp_path: Path
) -> None:
    files = ["--json", tmp_path / "found.json", "--html", tmp_path / "found.html"]
    told = run("certify", clinic / "classifier", new, *files).stdout
    assert told.index("\nproved") < told.index("\nmeasured")
    assert max(map(len, told.split("numbers in")[0].splitlines())) <= 80
    found = json.loads((tmp_path / "found.json").read_text())
    assert found["series"] == 3
    assert [one["name"] for one in found["inputs"]][:2] == ["pulse", "temperature"]
    page = (tmp_path / "found.html").read_text()
    for claim in found["claims"]:
        assert claim["words"].split()[0] in page
        assert " ".join(claim["words"].split()[:3]) in " ".join(told.split())


def test_refusals_say_why(run: Run, clinic: Path, new: Path) -> None:
    unseen = run("certify", clinic / "classifier", code=1).stderr
    assert "where states begin depends on the series; give a table" in " ".join(unseen.split())
    forecast = run("certify", clinic / "forecaster", new, code=1).stderr
    assert "a forecast has an answer for each time" in " ".join(forecast.split())
    itself = run("certify", clinic / "classifier", new, "--html", new, code=2).stderr
    assert "is the table that is read" in " ".join(itself.split())
