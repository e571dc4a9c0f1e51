"""Every Python example in the documentation runs as it stands."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

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
