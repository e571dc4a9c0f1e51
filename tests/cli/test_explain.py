"""`denots explain`: words for the terminal, a page with pictures, and what a model needs."""

import re
from pathlib import Path
from xml.etree import ElementTree

import pandas as pd
import pytest

from cli.conftest import NEW, Run, invoked


@pytest.fixture(scope="module")
def page(clinic: Path, tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("page")
    (folder / "new.csv").write_text(NEW)
    invoked("explain", clinic / "classifier", folder / "new.csv", "--id", "ida", "--html", folder / "ida.html")
    return (folder / "ida.html").read_text()


def test_the_effects_that_are_shown_sum_to_the_difference(run: Run, clinic: Path, new: Path) -> None:
    text = run("explain", clinic / "classifier", new, "--id", "ida", "--of", "ill", "--rows", "99").stdout
    found = re.search(r"log-odds of ill (\S+); (\S+) if nothing were known \(class shares\)", text)
    assert found is not None
    answer, trivial = map(float, found.groups())
    effects = [float(row.split()[-2]) for row in text.splitlines() if row.strip().startswith(("pulse", "temp", "age"))]
    assert sum(effects) == pytest.approx(answer - trivial, abs=0.01)
    assert len(effects) == 6  # three of pulse, two of temperature, age
    assert max(map(len, text.splitlines())) <= 80
    assert "(h)" in text


def test_few_rows_are_shown_with_the_rest_in_one(run: Run, clinic: Path, new: Path) -> None:
    text = run("explain", clinic / "classifier", new, "--id", "ida", "--rows", "2").stdout
    assert re.search(r"and 4 smaller effects, [+-]\S+ together", text)


def test_the_pictures_are_whole_and_show_every_observation(page: str) -> None:
    drawings = re.findall(r"<svg.*?</svg>", page, flags=re.DOTALL)
    parsed = [ElementTree.fromstring(drawing) for drawing in drawings]
    assert [drawing.get("aria-label") for drawing in parsed][-1] == "the running answer"
    dots = {drawing.get("aria-label"): len(drawing.findall("circle")) for drawing in parsed}
    assert dots == {"pulse": 3, "temperature": 2, "the running answer": 0}
    assert all(len(drawing.findall("polyline")) == 1 for drawing in parsed)
    numbers = [float(x) for line in re.findall(r'points="([^"]*)"', page) for x in re.split("[ ,]", line)]
    assert numbers
    assert all(0 <= number <= 360 for number in numbers)
    assert "the path that the model reads" in page
    assert "http" not in page
    assert "nan" not in page.lower()


def test_importance_over_a_table_with_targets(run: Run, clinic: Path, visits: Path, new: Path) -> None:
    text = run("explain", clinic / "classifier", visits, "--importance").stdout
    assert "AUROC" in text
    assert {"pulse", "temperature", "age"} <= set(text.split())
    error = run("explain", clinic / "classifier", new, "--importance", code=1).stderr
    assert "has no column 'outcome'" in error


def test_what_cannot_be_explained_is_one_line(run: Run, clinic: Path, new: Path) -> None:
    assert "there are 3 series; name one by its id" in run("explain", clinic / "classifier", new, code=2).stderr
    assert "unknown series 'idx'" in run("explain", clinic / "classifier", new, "--id", "idx", code=2).stderr
    assert (
        "no class 'so-so'" in run("explain", clinic / "classifier", new, "--id", "ida", "--of", "so-so", code=2).stderr
    )
    assert "a forecast has an answer for each time" in run("explain", clinic / "forecaster", new, code=2).stderr
    both = run("explain", clinic / "classifier", new, "--importance", "--id", "ida", code=2).stderr
    assert "leave --id and --html out" in both
    lost = run("explain", clinic / "classifier", new, "--id", "ida", "--html", new, code=2).stderr
    assert "its data would be lost" in lost


def test_a_single_series_needs_no_name(run: Run, clinic: Path, tmp_path: Path) -> None:
    table = pd.DataFrame(
        {"patient": ["x"], "when": ["2024-04-01T08:00:00"], "age": [50], "pulse": [80], "temperature": [37]}
    )
    table.to_csv(tmp_path / "one.csv", index=False)
    file = tmp_path / "x.html"
    text = run("explain", clinic / "classifier", tmp_path / "one.csv", "--html", file).stdout
    assert "series x: prediction" in text
    assert "nan" not in file.read_text().lower()


def test_single_observations_of_a_trained_model_are_told(run: Run, clinic: Path, new: Path) -> None:
    text = run("explain", clinic / "classifier", new, "--id", "ida", "--of", "ill", "--each", "--rows", "99").stdout
    found = re.search(r"log-odds of ill (\S+); (\S+) if all values were means", text)
    assert found is not None
    answer, baseline = map(float, found.groups())
    effects = [float(row.split()[-1]) for row in text.splitlines() if row.strip().startswith(("pulse", "temp", "age"))]
    assert len(effects) == 6  # three of pulse, two of temperature, age
    assert sum(effects) == pytest.approx(answer - baseline, rel=0.02, abs=1e-3)
    missing = re.search(r"(\S+)% of the difference is missing", text)
    assert missing is not None
    assert float(missing[1]) < 1
    refused = run("explain", clinic / "classifier", new, "--id", "ida", "--each", "--importance", code=2).stderr
    assert "--each tells of single observations" in refused
