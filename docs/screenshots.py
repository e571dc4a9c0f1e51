"""Take pictures of pages of the built site, wide and as on a phone: `python docs/screenshots.py`.

Chromium is found on the path, or named in CHROMIUM.
"""

import os
import shutil
from pathlib import Path

from playwright.sync_api import sync_playwright

ROOT = Path(__file__).parents[1]
PAGES = ("index", "concepts")
WIDTHS = {"wide": 1280, "phone": 390}


def main(site: Path, folder: Path) -> None:
    program = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
    if program is None:
        raise SystemExit("no Chromium here; install one or name it in CHROMIUM.")
    if not (site / "index.html").exists():
        raise SystemExit(f"{site} holds no site; build it with `make docs`.")
    folder.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=program, args=["--no-sandbox"])
        for page in PAGES:
            for name, width in WIDTHS.items():
                view = browser.new_page(viewport={"width": width, "height": 900})
                view.goto((site / f"{page}.html").as_uri())
                view.screenshot(path=folder / f"{page}-{name}.png")
        browser.close()


if __name__ == "__main__":
    main(ROOT / "site", ROOT / "docs" / "screenshots")
