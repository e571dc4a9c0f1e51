"""The results file: one JSON per day and processor, each script owning one section of it."""

import datetime
import json
import os
from pathlib import Path
from typing import Any

from benchmarks.machine import cpu_name, slug

FOLDER = Path(__file__).parent / "results"


def file_of_today() -> Path:
    """`results/<date>-<processor>.json`"""
    return FOLDER / f"{datetime.date.today().isoformat()}-{slug(cpu_name())}.json"


def latest() -> Path:
    files = sorted(FOLDER.glob("*.json"))
    if not files:
        raise FileNotFoundError(f"no results in {FOLDER}; run `python -m benchmarks.solver` first.")
    return files[-1]


def read(file: Path) -> dict[str, Any]:
    content: dict[str, Any] = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
    return content


def store(section: str, content: dict[str, Any], file: Path | None = None) -> Path:
    """Replace one section, in one move."""
    file = file or file_of_today()
    file.parent.mkdir(parents=True, exist_ok=True)
    whole = {**read(file), section: content}
    fresh = file.with_suffix(".new")
    fresh.write_text(json.dumps(whole, indent=1, allow_nan=False) + "\n", encoding="utf-8")
    os.replace(fresh, file)
    return file
