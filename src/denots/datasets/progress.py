"""A progress bar for long builds, on stderr, and only for someone who watches."""

import sys
from collections.abc import Iterable, Sequence
from typing import TypeVar

T = TypeVar("T")


def track(items: Sequence[T], label: str) -> Iterable[T]:
    """Iterate with a bar that vanishes at the end; short work and redirected output get none."""
    if len(items) < 8 or not sys.stderr.isatty():
        return items
    from rich.console import Console
    from rich.progress import track as rich_track

    return rich_track(items, description=label, console=Console(stderr=True), transient=True)
