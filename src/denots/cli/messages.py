"""What a user reads: answers on stdout; errors, warnings and progress on stderr, one line each."""

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from rich.console import Console
from rich.text import Text

out = Console()
err = Console(stderr=True)


def say(text: str) -> None:
    """A line on stdout as it is: no markup is read in it and no line is folded."""
    out.print(text, markup=False, highlight=False, soft_wrap=True)


def complain(kind: str, message: object, style: str) -> None:
    """`error: ...` or `warning: ...` as one line on stderr."""
    with suppress(OSError):  # a terminal that hung up hears nothing, and the exit code still tells
        err.print(Text.assemble((f"{kind}: ", style), " ".join(str(message).split())), soft_wrap=True)


def show_facts(facts: dict[str, str]) -> None:
    """Name and value in two columns, a line each; nothing is folded, so that paths can be copied."""
    width = max(map(len, facts))
    for name, value in facts.items():
        out.print(Text.assemble((name.ljust(width), "bold"), "  ", value), soft_wrap=True)


def show_leaderboard(rows: list[dict[str, Any]]) -> None:
    """Every system that was tried, by what it says of series that it has not seen."""
    if not rows:
        return
    metric = rows[0]["metric"]
    say(f"\n{'held out':<20}{metric:>10}{'+-':>8}{'loss':>9}{'seconds':>9}{'weight':>8}")
    weights = rows[-1]["weights"]
    for row in rows:
        name = row["system"]
        if "note" in row:
            say(f"{name:<20}  {row['note']}")
            continue
        weight = f"{weights[name]:8.2f}" if name in weights else ""
        say(f"{name:<20}{row['score']:10.4f}{row['spread']:8.4f}{row['loss']:9.4f}{row['seconds']:9.1f}{weight}")


def print_whole(table: Any) -> None:
    """A table with whole rows, in pipes and on narrow screens, too."""
    wide = Console(file=out.file, width=400)
    Console(file=out.file, width=max(out.width, wide.measure(table).maximum)).print(table)


def watched() -> bool:
    """Whether somebody looks at stderr, where progress bars are drawn."""
    return sys.stderr.isatty()


@contextmanager
def spoken_warnings() -> Iterator[None]:
    """Within the block, warnings read `warning: ...`, each once; those of this package are never swallowed."""
    said: set[str] = set()

    def speak(message: Warning | str, *_: Any, **__: Any) -> None:
        if str(message) not in said:
            said.add(str(message))
            complain("warning", message, "bold yellow")

    with warnings.catch_warnings():
        warnings.filterwarnings("always", category=UserWarning, module=r"denots\.")
        warnings.showwarning = speak
        yield
