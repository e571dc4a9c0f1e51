"""What someone who waits for a run is told: the epoch, how good the model is, and how long it may still take."""

import abc
import sys
import time
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from denots.training.config import TrainConfig

if TYPE_CHECKING:
    from denots.training.model import Model

LINE_SECONDS, LINE_SHARE = 10.0, 0.1


@dataclass(frozen=True)
class Plan:
    """What is ahead: at most so many epochs of so many batches, and the name of the metric."""

    label: str
    metric: str
    epochs: int
    batches: int

    @classmethod
    def of(cls, model: "Model", config: TrainConfig, batches: int) -> "Plan":
        depth = getattr(model.backbone.config, "depth", None)
        label = "" if depth is None else f"depth {depth:g}, "
        return cls(label, model.task.metric_name, config.max_epochs, batches)


class Progress(abc.ABC):
    """Is told what `fit` does; one object may watch several runs, one after the other."""

    def start(self, plan: Plan, rows: list[dict[str, float]]) -> None:
        """A run begins, or goes on after the epochs in `rows`."""
        self.plan, self.rows = plan, rows
        self.started, self.batches_done, self.first_epoch = time.monotonic(), 0, len(rows)

    def batch(self) -> None:
        self.batches_done += 1

    def epoch(self, rows: list[dict[str, float]]) -> None:
        """An epoch ended; `rows` is the learning curve with it."""
        self.rows = rows

    @abc.abstractmethod
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
        return f"at most {_spoken((time.monotonic() - self.started) / self.batches_done * ahead)} left"


class Silence(Progress):
    """Tells nobody."""

    def stop(self) -> None:
        pass


class Lines(Progress):
    """A line on stderr after the first epoch, and then after every ten seconds and tenth of the time so far."""

    due = 0.0

    def start(self, plan: Plan, rows: list[dict[str, float]]) -> None:
        super().start(plan, rows)
        self.due = self.started

    def epoch(self, rows: list[dict[str, float]]) -> None:
        super().epoch(rows)
        now = time.monotonic()
        if now >= self.due:
            self.due = now + max(LINE_SECONDS, LINE_SHARE * (now - self.started))
            place = f"{self.plan.label}epoch {len(rows)}/{self.plan.epochs}"
            with suppress(OSError):  # nobody listens any more, which is no reason to stop
                sys.stderr.write(f"{place}: {self.score()}, {self.left()}\n")
                sys.stderr.flush()

    def stop(self) -> None:
        pass


class Bar(Progress):
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


def shown(progress: Progress | bool) -> Progress:
    """True is a bar where a terminal shows it, and lines where stderr is a file or a pipe."""
    if isinstance(progress, Progress):
        return progress
    if not progress:
        return Silence()
    return Bar() if sys.stderr.isatty() else Lines()


def _spoken(seconds: float) -> str:
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    return f"{whole // 60} min" if whole < 3600 else f"{whole // 3600} h {whole % 3600 // 60} min"
