"""`denots card`: a page beside a model, in a browser as on paper."""

from pathlib import Path
from typing import Any

import pytest

from cli.conftest import VISITS, Run, invoked


@pytest.fixture(scope="module")
def page(clinic: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("card")
    broken = VISITS.replace("gus,2024-03-12T21:00:00,66,71", "gus,2024-03-12T21:00:00,66,many")
    (folder / "visits.csv").write_text(broken)
    invoked("card", clinic / "classifier", folder / "visits.csv", "--by", "age", "-o", folder / "card.html")
    return folder / "card.html"


def test_a_series_that_cannot_be_read_is_named_on_the_page(page: Path) -> None:
    text = page.read_text()
    assert "8 series in the table, 7 judged." in text
    assert "<li>gus: " in text
    assert "Learning curve" in text
    assert "Model card: classifier" in text


@pytest.mark.parametrize("width", [360, 1280])
def test_nothing_overflows_and_nothing_is_fetched(browser: Any, page: Path, width: int) -> None:
    tab = browser.new_page(viewport={"width": width, "height": 800})
    complaints: list[str] = []
    tab.on("console", lambda message: complaints.append(message.text))
    tab.on("request", lambda request: complaints.append(request.url) if request.url.startswith("http") else None)
    tab.goto(page.as_uri())
    assert tab.evaluate("document.documentElement.scrollWidth") <= width
    boxes = tab.evaluate(
        "[...document.querySelectorAll('.charts figure > svg')].map(s => s.getBoundingClientRect().width)"
    )
    assert min(boxes) >= 280
    tab.emulate_media(media="print")
    assert tab.locator("nav").first.is_hidden()
    tab.close()
    assert complaints == []


def test_a_model_needs_no_table(run: Run, clinic: Path, tmp_path: Path) -> None:
    assert run("card", clinic / "forecaster", "-o", tmp_path / "alone.html").stdout.startswith("card in ")
    text = (tmp_path / "alone.html").read_text()
    assert "Training data" in text
    assert "Judgement" not in text


def test_what_cannot_be_is_one_line(run: Run, clinic: Path, visits: Path, new: Path, tmp_path: Path) -> None:
    assert "name one after the model" in run("card", clinic / "classifier", "--by", "age", code=2).stderr
    lost = run("card", clinic / "classifier", visits, "-o", visits, code=2).stderr
    assert "its data would be lost" in lost
    assert "is a folder" in run("card", clinic / "classifier", "-o", tmp_path, code=2).stderr
    inside = run("card", clinic / "classifier", "-o", clinic / "classifier" / "model.json", code=2).stderr
    assert "lies in the folder of the model" in inside
    out = tmp_path / "card.html"
    assert "has no target column 'outcome'" in run("card", clinic / "classifier", new, "-o", out, code=1).stderr
    assert "unknown column" in run("card", clinic / "classifier", visits, "--by", "agee", "-o", out, code=2).stderr
    assert not out.exists()
