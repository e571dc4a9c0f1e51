"""What someone who waits is told on stderr: a bar with the time left on a terminal, else a line now and then."""

import sys
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from typing import TypeVar

T = TypeVar("T")

FIRST_SECONDS, LINE_SECONDS, LINE_SHARE = 5.0, 10.0, 0.1
FEW = 4  # items that are soon done


class LineClock:
    """When the next line is due: `first` seconds after the start, then after every ten seconds and tenth of the time."""

    def __init__(self, now: float, first: float = 0.0) -> None:
        self.started, self.next = now, now + first

    def due(self, now: float) -> bool:
        if now < self.next:
            return False
        self.next = now + max(LINE_SECONDS, LINE_SHARE * (now - self.started))
        return True


def tell(line: str) -> None:
    """A line on stderr, at once."""
    with suppress(OSError):  # nobody listens any more, which is no reason to stop
        sys.stderr.write(f"{line}\n")
        sys.stderr.flush()


def spoken(seconds: float) -> str:
    """A duration in the two units that matter."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    return f"{whole // 60} min" if whole < 3600 else f"{whole // 3600} h {whole % 3600 // 60} min"


def track(items: Sequence[T], label: str) -> Generator[T, None, None]:
    """Iterate over items of about equal length; what takes less than some seconds is passed over in silence."""
    if not sys.stderr.isatty():
        yield from _with_lines(items, label)
    elif len(items) < FEW:
        yield from items
    else:
        from rich.console import Console
        from rich.progress import track as rich_track

        yield from rich_track(items, description=label, console=Console(stderr=True), transient=True)


@contextmanager
def tracking(total: int, label: str) -> Iterator[Callable[[], None]]:
    """The same for work that says itself when a part begins: by calling what this yields."""
    with closing(track(range(total), label)) as parts:

        def begin() -> None:
            next(parts, None)

        yield begin


def _with_lines(items: Sequence[T], label: str) -> Iterator[T]:
    started = time.monotonic()
    clock = LineClock(started, FIRST_SECONDS)
    for done, item in enumerate(items):
        now = time.monotonic()
        if done and clock.due(now):
            left = (now - started) / done * (len(items) - done)
            tell(f"{label}: {done} of {len(items)}, {spoken(left)} left")
        yield item


@contextmanager
def byte_bar(label: str, total: int | None, done: int) -> Iterator[Callable[[int], None]]:
    """Tells of bytes that come; call what it yields with every number of them."""
    if not sys.stderr.isatty():
        yield _byte_lines(label, total, done)
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


def _byte_lines(label: str, total: int | None, done: int) -> Callable[[int], None]:
    started, begun = time.monotonic(), done
    clock = LineClock(started, FIRST_SECONDS)

    def advance(count: int) -> None:
        nonlocal done
        done += count
        now = time.monotonic()
        if not clock.due(now):
            return
        if total is None:
            tell(f"{label}: {done / 2**20:.0f} MiB")
            return
        left = (now - started) / max(1, done - begun) * max(0, total - done)
        tell(f"{label}: {done / 2**20:.0f} of {total / 2**20:.0f} MiB, {spoken(left)} left")

    return advance
