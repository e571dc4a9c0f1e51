"""Run the first Python example of the README as it stands there, to see that an installation works."""

import re
from pathlib import Path

README = Path(__file__).parents[1] / "README.md"


def first_example() -> str:
    return re.findall(r"```python\n(.*?)```", README.read_text(), flags=re.DOTALL)[0]


if __name__ == "__main__":
    exec(first_example())
