"""Take pictures of pages, wide and as on a phone, into docs/images: `python docs/screenshots.py`.

The pages of `denots inspect` and `denots card` are made from patients that are drawn here; those of the site are taken
from `make docs`, or from a folder that is named; that of `denots serve` from a server. Chromium is found on the path, or named in CHROMIUM.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image
from playwright.sync_api import sync_playwright

from denots import SeriesSet

ROOT = Path(__file__).parents[1]
WIDTHS = {"wide": (1100, 760), "phone": (360, 720)}
COLOURS = 160  # of a picture; text and lines need no more
PLACES = {
    "inspect": "",
    "card": "#judgement",
    "card-robustness": "#robustness",
    "card-examples": "#examples",
    "docs": "",
}
PROGRAM = "from denots.cli import main; main()"


def main(site: Path, folder: Path) -> None:
    program = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
    if program is None:
        raise SystemExit("no Chromium here; install one or name it in CHROMIUM.")
    if not (site / "index.html").exists():
        raise SystemExit(f"{site} holds no site; build it with `make docs`.")
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as place, sync_playwright() as play:
        pages = make_pages(Path(place)) | {"docs": site / "index.html"}
        browser = play.chromium.launch(executable_path=program, args=["--no-sandbox"])
        for name, anchor in PLACES.items():
            for label, (width, height) in WIDTHS.items():
                view = browser.new_page(viewport={"width": width, "height": height})
                view.goto(pages[name.split("-")[0]].as_uri() + anchor)
                take(view, folder / f"{name}-{label}.png")
        take_server(browser, Path(place), folder)
        browser.close()


def make_pages(place: Path) -> dict[str, Path]:
    """The pages of the package about patients of a ward."""
    for part, seed in (("train", 0), ("test", 1)):
        ward(400, seed).to_frame(id="patient", time="hour", target="outcome").to_csv(place / f"{part}.csv", index=False)
    columns = ["--id", "patient", "--time", "hour", "--target", "outcome", "--static", "age"]
    denots(place, "inspect", "train.csv", *columns, "--html", "inspect.html")
    denots(place, "fit", "train.csv", *columns, "--time-unit", "h", "--system", "fast", "--out", "ward", "--quiet")
    denots(place, "card", "ward", "test.csv", "--by", "age", "-o", "card.html")
    return {name: place / f"{name}.html" for name in ("inspect", "card")}


def take_server(browser: Any, place: Path, folder: Path) -> None:
    """The page of `denots serve`, with the answers for some patients, one of whom has a temperature in Fahrenheit."""
    table = ward(5, 1).to_frame(id="patient", time="hour").round(2)
    table.loc[table.patient == "p002", "temperature"] = (table.temperature * 9 / 5 + 32).round(1)
    command = [sys.executable, "-c", PROGRAM, "serve", "ward", "--port", "0"]
    with subprocess.Popen(command, cwd=place, stdout=subprocess.PIPE, text=True) as server:
        address = str(server.stdout and server.stdout.readline()).split(" at ")[1].partition(";")[0]
        for label, (width, height) in WIDTHS.items():
            view = browser.new_page(viewport={"width": width, "height": height})
            view.goto(address)
            view.fill("#table", table.to_csv(index=False))
            view.fill("#coverage", "0.9")
            view.click("#send")
            view.wait_for_selector("#picture svg")
            take(view, folder / f"serve-{label}.png", full_page=True)
        server.terminate()


def denots(place: Path, *words: str) -> None:
    subprocess.run([sys.executable, "-c", PROGRAM, *words], cwd=place, check=True, stdout=subprocess.DEVNULL)


def ward(patients: int, seed: int) -> SeriesSet:
    """Patients some of whom get a fever; what is measured when is up to chance."""
    rng = np.random.default_rng(seed)
    ill = rng.random(patients) < 0.3
    times = [np.sort(rng.uniform(0, 48, rng.integers(6, 30))) for _ in ill]
    values = [_measured(rng, hours, sick) for hours, sick in zip(times, ill, strict=True)]
    return SeriesSet.from_arrays(
        times, values, target=np.where(ill, "fever", "home"), channels=["pulse", "temperature", "pressure"],
        static=rng.integers(18, 95, (patients, 1)).astype(float), static_names=["age"],
        ids=[f"p{k:03d}" for k in range(patients)],
    )  # fmt: skip


def _measured(rng: np.random.Generator, hours: Any, sick: bool) -> Any:
    onset = rng.uniform(8, 40)
    risen = sick * np.clip((hours - onset) / 10, 0, 1)
    means = np.stack([74 + 14 * risen, 36.8 + 1.1 * risen, 122 - 9 * risen], 1)
    seen = means + rng.normal(0, [8, 0.4, 14], means.shape)
    seen[1:][rng.random((len(seen) - 1, 3)) < [0.2, 0.5, 0.4]] = np.nan
    return seen.round(1)


def take(view: Any, file: Path, **options: Any) -> None:
    """What a window shows, in few colours and so in few bytes."""
    view.screenshot(path=file, **options)
    with Image.open(file) as picture:
        picture.convert("RGB").quantize(COLOURS).save(file, optimize=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "site", ROOT / "docs" / "images")
