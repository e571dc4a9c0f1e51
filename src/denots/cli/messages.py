"""What a user reads: answers on stdout; errors, warnings and progress on stderr, one line each."""

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

out = Console()
err = Console(stderr=True)


def say(text: str) -> None:
    """A line on stdout as it is: no markup is read in it and no line is folded."""
    out.print(text, markup=False, highlight=False, soft_wrap=True)


def complain(kind: str, message: object, style: str) -> None:
    """`error: ...` or `warning: ...` as one line on stderr."""
    err.print(Text.assemble((f"{kind}: ", style), " ".join(str(message).split())), soft_wrap=True)


def show_facts(facts: dict[str, str]) -> None:
    """Name and value in two columns; values are folded under themselves on a narrow screen."""
    grid = Table.grid(padding=(0, 2))
    grid.add_column(style="bold", no_wrap=True)
    grid.add_column(overflow="fold")
    for name, value in facts.items():
        grid.add_row(name, Text(value))
    out.print(grid)


def watched() -> bool:
    """Whether somebody looks at stderr, where progress bars are drawn."""
    return sys.stderr.isatty()


@contextmanager
def spoken_warnings() -> Iterator[None]:
    """Within the block, warnings read `warning: ...`; those of this package are never swallowed."""

    def speak(message: Warning | str, *_: Any, **__: Any) -> None:
        complain("warning", message, "bold yellow")

    with warnings.catch_warnings():
        warnings.filterwarnings("always", category=UserWarning, module=r"denots\.")
        warnings.showwarning = speak
        yield
