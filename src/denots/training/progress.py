"""What someone who waits for a run is told: the epoch, how good the model is, and how long it may still take."""

import sys
import time
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from denots.progress import LineClock, spoken, tell
from denots.training.config import TrainConfig
from denots.training.schedule import step_size

if TYPE_CHECKING:
    from denots.training.model import Model


@dataclass(frozen=True)
class Plan:
    """What is ahead: at most so many epochs of so many batches, the name of the metric, and the learning rate at the
    end of each epoch.
    """

    label: str
    metric: str
    epochs: int
    batches: int
    rates: tuple[float, ...] = ()

    @classmethod
    def of(cls, model: "Model", config: TrainConfig, batches: int) -> "Plan":
        depth = getattr(model.backbone.config, "depth", None)
        label = "" if depth is None else f"depth {depth:g}, "
        ends = (epoch + 1 - 0.5 / batches for epoch in range(config.max_epochs))
        rates = tuple(config.learning_rate * step_size(config.schedule, config.max_epochs, moment) for moment in ends)
        return cls(label, model.task.metric_name, config.max_epochs, batches, rates)


class Progress:
    """Is told what a fit does; one object may watch several runs, one after the other.

    A callback of your own overrides what it wants to hear of: `epoch` is what most need. What it raises ends the fit.
    """

    name = "run"

    def stage(self, name: str, left: float | None = None) -> None:
        """A part of a longer fit begins, which has at most so many seconds; runs that start now belong to it."""
        self.name = name

    def start(self, plan: Plan, rows: list[dict[str, float]]) -> None:
        """A run begins, or goes on after the epochs in `rows`."""
        self.plan, self.rows = plan, rows
        self.started, self.batches_done, self.first_epoch = time.monotonic(), 0, len(rows)

    def batch(self) -> None:
        self.batches_done += 1

    def epoch(self, rows: list[dict[str, float]]) -> None:
        """An epoch ended; `rows` is the learning curve with it."""
        self.rows = rows

    def stop(self) -> None:
        """The run ended, in whatever way; called even when it never started."""

    def score(self) -> str:
        """The latest and the best metric."""
        if not self.rows:
            return ""
        best = max(self.rows, key=lambda row: row["val_metric"])
        latest = f"{self.plan.metric} {self.rows[-1]['val_metric']:.3f}"
        return f"{latest}, best {best['val_metric']:.3f} in epoch {best['epoch'] + 1}"

    def left(self) -> str:
        """The time until the last epoch at the pace so far; early stopping may end the run before."""
        if not self.batches_done:
            return ""
        ahead = (self.plan.epochs - self.first_epoch) * self.plan.batches - self.batches_done
        return f"at most {spoken((time.monotonic() - self.started) / self.batches_done * ahead)} left"


class Several(Progress):
    """Tells each of several what it is told."""

    def __init__(self, listeners: Iterable[Progress]) -> None:
        self.listeners = list(listeners)

    def stage(self, name: str, left: float | None = None) -> None:
        for listener in self.listeners:
            listener.stage(name, left)

    def start(self, plan: Plan, rows: list[dict[str, float]]) -> None:
        for listener in self.listeners:
            listener.start(plan, rows)

    def batch(self) -> None:
        for listener in self.listeners:
            listener.batch()

    def epoch(self, rows: list[dict[str, float]]) -> None:
        for listener in self.listeners:
            listener.epoch(rows)

    def stop(self) -> None:
        for listener in self.listeners:
            listener.stop()


class _Spoken(Progress):
    """Says on stderr which part of a longer fit begins."""

    def stage(self, name: str, left: float | None = None) -> None:
        super().stage(name, left)
        if left is not None:
            tell(f"trying {name}: at most {spoken(left)} left")


class Lines(_Spoken):
    """A line on stderr after the first epoch that ends `first` seconds after the start, and then after every ten seconds
    and tenth of the time so far.
    """

    def __init__(self, first: float = 0.0) -> None:
        self.first = first

    def start(self, plan: Plan, rows: list[dict[str, float]]) -> None:
        super().start(plan, rows)
        self.clock = LineClock(time.monotonic(), self.first)

    def epoch(self, rows: list[dict[str, float]]) -> None:
        super().epoch(rows)
        if self.clock.due(time.monotonic()):
            tell(f"{self.plan.label}epoch {len(rows)}/{self.plan.epochs}: {self.score()}, {self.left()}")


class Bar(_Spoken):
    """One line on a terminal that moves with every batch and vanishes when training ends."""

    bar: Any = None

    def start(self, plan: Plan, rows: list[dict[str, float]]) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, TextColumn, TimeElapsedColumn
        from rich.progress import Progress as Drawing

        super().start(plan, rows)
        words = TextColumn("{task.description}"), TextColumn("{task.fields[left]}"), TextColumn("{task.fields[score]}")
        columns = (words[0], BarColumn(bar_width=24), TimeElapsedColumn(), *words[1:])
        self.bar = Drawing(*columns, console=Console(stderr=True), transient=True)
        total = plan.epochs * plan.batches
        self.line = self.bar.add_task("", total=total, completed=len(rows) * plan.batches, score="", left="")
        self._draw()
        self.bar.start()

    def batch(self) -> None:
        super().batch()
        self.bar.advance(self.line)
        self._draw()

    def epoch(self, rows: list[dict[str, float]]) -> None:
        super().epoch(rows)
        self._draw()

    def stop(self) -> None:
        if self.bar is not None:
            with suppress(OSError):  # the terminal may be gone
                self.bar.stop()

    def _draw(self) -> None:
        place = f"{self.plan.label}epoch {min(len(self.rows) + 1, self.plan.epochs)}/{self.plan.epochs}"
        self.bar.update(self.line, description=place, score=self.score(), left=self.left())


def shown(progress: Progress | bool, first: float = 0.0) -> Progress:
    """True is a bar where a terminal shows it, and lines where stderr is a file or a pipe, the first of them after so many
    seconds; False tells nobody.
    """
    if isinstance(progress, Progress):
        return progress
    if not progress:
        return Progress()
    return Bar() if sys.stderr.isatty() else Lines(first)
