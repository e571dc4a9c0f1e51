"""A progress bar for long builds, on stderr, and only for someone who watches."""

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TypeVar

T = TypeVar("T")


def track(items: Sequence[T], label: str) -> Iterable[T]:
    """Iterate with a bar that vanishes at the end; short work and redirected output get none."""
    if len(items) < 8 or not sys.stderr.isatty():
        return items
    from rich.console import Console
    from rich.progress import track as rich_track

    return rich_track(items, description=label, console=Console(stderr=True), transient=True)


@contextmanager
def byte_bar(label: str, total: int | None, done: int) -> Iterator[Callable[[int], None]]:
    """A bar for bytes, for someone who watches; call what it yields with every number of bytes that came."""
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn, TransferSpeedColumn

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        DownloadColumn(),
        TransferSpeedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(label, total=total, completed=done)
        yield lambda count: bar.advance(task, count)
