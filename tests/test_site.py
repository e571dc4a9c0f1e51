"""The site: it builds without a warning, its links lead somewhere, and its pages tell what really happens."""

import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import nbformat
import pytest
from docs.notebooks import notebook
from nbclient import NotebookClient

import denots

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
BLOCK = re.compile(r"```(python|text)\n(.*?)```", flags=re.DOTALL)
PAGES = [page for page in sorted(DOCS.rglob("*.md")) if "```python" in page.read_text()]


class Page(HTMLParser):
    """Where a page leads, what it loads, and the places in it that can be led to."""

    def __init__(self, file: Path) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.places = {""}
        self.feed(file.read_text())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.places |= {given.get("id", ""), given.get("name", "")}
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        elif tag in ("img", "script") and "src" in given:
            self.loaded.append(given["src"])
        elif tag == "link" and given.get("rel") == "stylesheet":
            self.loaded.append(given["href"])


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(folder)],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return folder


def test_every_internal_link_leads_to_a_page_and_a_place_in_it(site: Path) -> None:
    pages = {file: Page(file) for file in site.rglob("*.html") if file.name != "404.html"}
    assert len(pages) > 15
    for file, page in pages.items():
        for link in page.links + page.loaded:
            parts = urlsplit(link)
            if parts.scheme:
                continue
            goal = (file.parent / unquote(parts.path)).resolve() if parts.path else file
            assert goal.exists(), f"{file.name} leads to {link}"
            if goal in pages and not parts.fragment.startswith("__"):
                assert unquote(parts.fragment) in pages[goal].places, f"{file.name} leads to {link}"


def test_nothing_is_loaded_from_elsewhere(site: Path) -> None:
    for file in site.rglob("*.html"):
        assert not [source for source in Page(file).loaded if urlsplit(source).netloc], file.name


def test_every_public_name_has_its_place_in_the_reference(site: Path) -> None:
    names = {place.rpartition(".")[2] for place in Page(site / "api.html").places}
    assert set(denots.__all__) - names - {"load"} == set()
    assert "load_estimator" in names


def agree(told: str, printed: str) -> bool:
    """Equal words; numbers may differ by as much as another processor or library version makes them."""
    left, right = told.split(), printed.split()
    return len(left) == len(right) and all(
        a == b or (re.fullmatch(r"-?\d+\.\d+", a) is not None and float(b) == pytest.approx(float(a), abs=0.06))
        for a, b in zip(left, right, strict=True)
    )


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_code_of_a_page_runs_without_a_warning_and_prints_what_the_page_tells(page: Path, tmp_path: Path) -> None:
    blocks = BLOCK.findall(page.read_text())
    code = "".join(text for kind, text in blocks if kind == "python")
    done = subprocess.run(
        [sys.executable, "-W", "error::UserWarning", "-c", code], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    told = "".join(text for kind, text in blocks if kind == "text")
    assert agree(told, done.stdout), f"told:\n{told}\nprinted:\n{done.stdout}"


@pytest.mark.parametrize(
    "name",
    ["forecasting", pytest.param("gestures", marks=pytest.mark.slow), pytest.param("hospital", marks=pytest.mark.slow)],
)
def test_a_tutorial_runs_as_a_notebook_and_prints_what_its_page_tells(name: str, tmp_path: Path) -> None:
    page = (DOCS / "tutorials" / f"{name}.md").read_text()
    ran = NotebookClient(nbformat.reads(notebook(page), 4), resources={"metadata": {"path": str(tmp_path)}}).execute()
    outputs = [output for cell in ran.cells if cell.cell_type == "code" for output in cell.outputs]
    printed = "".join(output.text for output in outputs if output.get("name") == "stdout")
    assert agree("".join(text for kind, text in BLOCK.findall(page) if kind == "text"), printed)


def test_the_script_draws_every_picture_that_the_concepts_show_and_no_other(tmp_path: Path) -> None:
    subprocess.run([sys.executable, str(DOCS / "draw.py"), str(tmp_path)], check=True)
    shown = set(re.findall(r"\(pictures/(.*?)\)", (DOCS / "concepts.md").read_text()))
    drawn = {file.name for file in tmp_path.iterdir() if file.suffix == ".svg"}
    assert shown == drawn == {file.name for file in (DOCS / "pictures").iterdir()}
