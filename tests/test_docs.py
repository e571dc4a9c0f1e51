"""Every Python example in the documentation runs as it stands."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from denots.competition.match import MatchStore
from denots.competition.page import write_page
from denots.competition.standings import all_standings

ROOT = Path(__file__).parents[1]
EXAMPLES = [
    pytest.param(block, id=f"{page.name}-{number}")
    for page in sorted(ROOT.glob("*.md"))
    for number, block in enumerate(re.findall(r"```python\n(.*?)```", page.read_text(), flags=re.DOTALL))
]


@pytest.mark.parametrize("code", EXAMPLES)
def test_the_example_runs_without_a_warning(code: str, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-W", "error::UserWarning", "-c", code], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr


def test_the_page_of_the_competition_and_the_figures_of_the_readme_are_those_of_the_records(tmp_path: Path) -> None:
    records = list(MatchStore(ROOT / "results" / "competition.jsonl").records().values())
    write_page(records, tmp_path / "competition.md")
    assert (tmp_path / "competition.md").read_text() == (ROOT / "docs" / "competition.md").read_text()
    means = next(each.means for each in all_standings(records) if each.gap == 0.5)
    told = " ".join((ROOT / "README.md").read_text().split())
    peers = (
        ", ".join(f"{means[name]:.3f}" for name in ("multirocket-hydra", "minirocket")) + f" and {means['quant']:.3f}"
    )
    assert f"its mean accuracy is {means['auto']:.3f}; MultiROCKET-Hydra, MiniRocket and QUANT" in told
    assert f"after interpolation have {peers}" in told
    assert f"The fast part alone has {means['fast']:.3f}." in told
