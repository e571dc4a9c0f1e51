"""Which channels and which times moved a prediction, for any model."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import torch

from denots.errors import InvalidOption, SolverFailure
from denots.estimators.estimator import SeriesEstimator
from denots.explain.cells import Cells
from denots.explain.quantity import Quantity
from denots.explain.shapley import Shares, shapley
from denots.explain.subject import one_series
from denots.shapes import BoolArray, FloatArray

if TYPE_CHECKING:
    import pandas as pd

AT_ONCE = 2**23  # values of coalitions that are held in memory


class Cell(NamedTuple):
    """What one channel in one part of time, or one static feature, did to an answer.

    begin, end: of the part of time; None for a static feature.
    observations: how many there are in it.
    error: the standard error of the effect that sampling leaves.
    """

    name: str
    begin: float | None
    end: float | None
    observations: int
    effect: float
    error: float


@dataclass(frozen=True, eq=False)
class Explanation:
    """Why a model says what it says of one series.

    The effects of all cells sum to `answer - trivial`.

    quantity: what is explained: the log-odds of a class, or a number.
    answer, trivial: that of the model, and that of someone who has seen nothing of the series.
    told: the whole answer, as in a table of predictions.
    baseline: the trivial answer in words.
    edges: of the parts of time.
    """

    id: str | int
    quantity: str
    answer: float
    trivial: float
    told: dict[str, Any]
    baseline: str
    edges: FloatArray
    cells: tuple[Cell, ...]

    def largest(self, count: int) -> list[Cell]:
        """The cells that moved the answer most, up or down."""
        return sorted(self.cells, key=lambda cell: -abs(cell.effect))[:count]

    def by_name(self) -> dict[str, float]:
        """The whole effect of each channel and static feature, the strongest first."""
        sums: dict[str, float] = {}
        for cell in self.cells:
            sums[cell.name] = sums.get(cell.name, 0.0) + cell.effect
        return dict(sorted(sums.items(), key=lambda item: -abs(item[1])))

    def to_frame(self) -> "pd.DataFrame":
        """One row a cell."""
        import pandas as pd

        return pd.DataFrame(self.cells, columns=Cell._fields)


def explain(
    model: SeriesEstimator,
    X: Any,
    id: Any = None,
    *,
    of: Any = None,
    parts: int | Sequence[float] = 8,
    pairs: int = 5,
    seed: int = 0,
) -> Explanation:
    """Share what the model says of one series among its channels and times, by hiding them.

    The observations of a channel in a part of time are one cell, a known static feature is one, too. A hidden cell
    was not observed, which every model can read; with all observations hidden, the answer is the trivial one. Each
    cell gets its Shapley value: what it adds to the answer, averaged over the orders in which cells may become known.
    That a channel was measured at all is part of its effect, also where a model has never seen it missing.

    Args:
        X: what the model predicts from; with several series, `id` names the one.
        of: the class, or the number of the output, that is explained; by default the class that is told.
        parts: how many equal parts of its span, or the borders between them on the clock of the series.
        pairs: of orders that are drawn; the standard error falls with their square root. A series of few cells is
            explained exactly.
    """
    series = one_series(model, X, id)
    if pairs < 1:
        raise InvalidOption(f"at least one pair of orders is needed; got pairs={pairs}.")
    cells = Cells.of(series, parts)
    outputs = model.fitted_.outputs(series).outputs
    quantity = Quantity.of(model.task_, outputs, of)
    answer, trivial = float(quantity.read(outputs)[0]), quantity.trivial(series)

    def worth(coalitions: BoolArray) -> FloatArray:
        batches = np.array_split(coalitions, 1 + coalitions.shape[0] * series.values.size // AT_ONCE)
        found = np.concatenate([_worth(model, quantity, cells, batch, trivial) for batch in batches])
        # Some systems round differently in company.
        return np.where(coalitions.all(axis=1), answer, found)

    shares = shapley(worth, len(cells), pairs=pairs, seed=seed)
    answers = model.task_.answer(outputs.double()).numpy()
    return Explanation(
        id=series.id(0),
        quantity=quantity.name,
        answer=answer,
        trivial=trivial,
        told={name: column[0] for name, column in model.task_.columns(answers).items()},
        baseline=model.task_.baseline,
        edges=cells.edges,
        cells=_told(cells, shares),
    )


def _worth(
    model: SeriesEstimator, quantity: Quantity, cells: Cells, coalitions: BoolArray, trivial: float
) -> FloatArray:
    """What the model says of each coalition."""
    found = np.full(len(coalitions), trivial)
    shown, readable = cells.shown(coalitions)
    if shown is None:
        return found
    told = model.fitted_.outputs(shown)
    if not told.ok.all():
        raise SolverFailure(
            f"series {cells.series.id(0)!r} cannot be explained: with some of its observations hidden, "
            f"{int((~told.ok).sum())} of {len(told.ok)} versions of it have no answer. Look for extreme values in it."
        )
    with torch.inference_mode():
        found[readable] = quantity.read(told.outputs).numpy()
    return found


def _told(cells: Cells, shares: Shares) -> tuple[Cell, ...]:
    series, edges = cells.series, cells.edges.tolist()
    names: list[tuple[str, float | None, float | None, int]] = [
        (series.channels[channel], edges[part], edges[part + 1], int((cells.cell == cell).sum()))
        for cell, (channel, part) in enumerate(cells.places.tolist())
    ]
    names += [(series.static_names[s], None, None, 1) for s in np.flatnonzero(cells.static_cell >= 0)]
    found = zip(names, shares.effects.tolist(), shares.errors.tolist(), strict=True)
    return tuple(Cell(*name, effect, error) for name, effect, error in found)
