"""Keep the learning curve of every run as it grows: as CSV files, or as events for TensorBoard."""

import csv
import io
import math
import os
import re
import time
from pathlib import Path
from typing import Any

from denots.errors import MissingExtra
from denots.folders import expanded, write_file_whole
from denots.training.progress import Plan, Progress

FIRST = ("epoch", "loss", "val_loss", "val_metric", "learning_rate", "seconds")


class CurveLog(Progress):
    """What loggers share: a folder, and a name of its own for every run."""

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = expanded(Path(folder))
        self.runs: list[str] = []

    def start(self, plan: Plan, rows: list[dict[str, float]]) -> None:
        super().start(plan, rows)
        base = re.sub(r"[^\w.-]+", "-", self.name)
        again = sum(run == base or run.startswith(f"{base}-again-") for run in self.runs)
        self.runs.append(f"{base}-again-{again}" if again else base)

    def logged(self, row: dict[str, float]) -> dict[str, float]:
        """A row of the curve with the learning rate; what matters most comes first."""
        rates, epoch = self.plan.rates, int(row["epoch"])
        known = {**row, "learning_rate": rates[epoch] if epoch < len(rates) else math.nan}
        return {name: known[name] for name in sorted(known, key=_rank)}


class CSVLog(CurveLog):
    """One file a run, `run.csv` where there is one run: epoch, loss, validation loss and metric, learning rate, seconds.

    It is whole after every epoch. A run that is continued goes on in its file.
    """

    def epoch(self, rows: list[dict[str, float]]) -> None:
        super().epoch(rows)
        text = io.StringIO(newline="")
        table = [self.logged(row) for row in rows]
        writer = csv.DictWriter(text, fieldnames=list(table[-1]))
        writer.writeheader()
        writer.writerows(table)
        write_file_whole(self.folder / f"{self.runs[-1]}.csv", text.getvalue().encode())


class TensorBoardLog(CurveLog):
    """One folder of events a run, for `tensorboard --logdir FOLDER`; steps are epochs, counted from 1.

    A run that is continued adds a file of events, which TensorBoard joins. It needs `pip install 'denots[tensorboard]'`.
    """

    writer: Any = None

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        super().__init__(folder)
        try:
            import tensorboard  # noqa: F401
        except ImportError as error:
            raise MissingExtra(
                "events are written by TensorBoard's own library; pip install 'denots[tensorboard]'."
            ) from error

    def start(self, plan: Plan, rows: list[dict[str, float]]) -> None:
        from tensorboard.summary.writer.event_file_writer import EventFileWriter

        super().start(plan, rows)
        self.writer = EventFileWriter(str(self.folder / self.runs[-1]))

    def epoch(self, rows: list[dict[str, float]]) -> None:
        from tensorboard.compat.proto.event_pb2 import Event
        from tensorboard.compat.proto.summary_pb2 import Summary

        super().epoch(rows)
        found = self.logged(rows[-1])
        step = int(found.pop("epoch")) + 1
        values = [Summary.Value(tag=name, simple_value=value) for name, value in found.items()]
        self.writer.add_event(Event(wall_time=time.time(), step=step, summary=Summary(value=values)))
        self.writer.flush()

    def stop(self) -> None:
        if self.writer is not None:
            self.writer.close()
            self.writer = None


def _rank(name: str) -> tuple[int, str]:
    return (FIRST.index(name) if name in FIRST else len(FIRST)), name
