"""What the paper claims, judged by our own tables."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from denots.experiments import published
from denots.experiments.exhibit import Cell, Exhibit, Table
from denots.experiments.main_table import SYSTEMS
from denots.experiments.ranks import ranks_of_cells

Judgement = Literal["confirmed", "not confirmed", "hint for", "hint against", "open"]


class Evidence:
    """The cells of all tables, by experiment, row and column; `reduced` once a mean of reduced runs was taken."""

    def __init__(self, exhibits: Mapping[str, Sequence[Exhibit]]) -> None:
        self.reduced = False
        self._cells: dict[tuple[str, str, str], Cell] = {}
        for name, shown in exhibits.items():
            for table in (each for each in shown if isinstance(each, Table)):
                for row, cells in table.rows:
                    for column, cell in zip(table.columns, cells, strict=True):
                        if isinstance(cell, Cell):  # the first table of an experiment has the word
                            self._cells.setdefault((name, row.split(" (")[0], column), cell)

    def cell(self, experiment: str, row: str, column: str) -> Cell:
        return self._cells.get((experiment, row, column), Cell())

    def mean(self, experiment: str, row: str, column: str) -> float:
        cell = self.cell(experiment, row, column)
        self.reduced |= cell.reduced
        return cell.mean

    def places(self, dataset: str) -> dict[str, int]:
        """The rank of each system in the main table with full runs; none while one of them ran only once."""
        cells = {system: self.cell("main", system, dataset) for system in SYSTEMS}
        full = {system: cell for system, cell in cells.items() if cell.values and not cell.reduced}
        return ranks_of_cells(full) if all(len(cell.values) > 1 for cell in full.values()) else {}


@dataclass(frozen=True)
class Claim:
    """A sentence of the paper; `compare` returns what should be larger, then what should be smaller."""

    experiment: str
    text: str
    compare: Callable[[Evidence], Sequence[tuple[str, float, str, float]]]


@dataclass(frozen=True)
class Judged:
    claim: Claim
    judgement: Judgement
    words: str


def judge(claim: Claim, evidence: Evidence) -> Judged:
    """Confirmed if every comparison of means comes out as claimed; open while a number is missing.

    Reduced runs give no more than a hint.
    """
    evidence.reduced = False
    found = claim.compare(evidence)
    known = [(a, x, b, y) for a, x, b, y in found if math.isfinite(x) and math.isfinite(y)]
    words = "; ".join(f"{a} {x:.3g} {'>' if x > y else '≤'} {b} {y:.3g}" for a, x, b, y in known)
    if len(known) < len(found) or not found:
        return Judged(claim, "open", words or "no records yet")
    holds = all(x > y for _, x, _, y in known)
    if evidence.reduced:
        return Judged(claim, "hint for" if holds else "hint against", words)
    return Judged(claim, "confirmed" if holds else "not confirmed", words)


def _pair(
    experiment: str, larger: tuple[str, str], smaller: tuple[str, str]
) -> Callable[[Evidence], list[tuple[str, float, str, float]]]:
    def compare(evidence: Evidence) -> list[tuple[str, float, str, float]]:
        return [
            (
                f"{larger[0]}, {larger[1]}:",
                evidence.mean(experiment, *larger),
                f"{smaller[0]}, {smaller[1]}:",
                evidence.mean(experiment, *smaller),
            )
        ]

    return compare


def _beats_all(
    experiment: str, column: str, others: Sequence[str], best: str = "denots"
) -> Callable[[Evidence], list[tuple[str, float, str, float]]]:
    """Against the best of the others that ran as long; open if none did."""

    def compare(evidence: Evidence) -> list[tuple[str, float, str, float]]:
        own = evidence.cell(experiment, best, column)
        cells = {name: evidence.cell(experiment, name, column) for name in others}
        means = {name: c.mean for name, c in cells.items() if math.isfinite(c.mean) and c.reduced == own.reduced}
        rival = max(means, key=lambda name: means[name], default="")
        return [
            (
                best,
                evidence.mean(experiment, best, column),
                f"{rival} (best of {len(means)})",
                evidence.mean(experiment, rival, column),
            )
        ]

    return compare


def _leads(dataset: str) -> Callable[[Evidence], list[tuple[str, float, str, float]]]:
    """By the rank, which three seeds allow; by the mean alone before there are so many."""

    def compare(evidence: Evidence) -> list[tuple[str, float, str, float]]:
        places = evidence.places(dataset)
        if "denots" not in places:
            return _beats_all("main", dataset, [n for n in SYSTEMS if n != "denots"])(evidence)
        return [("second place:", 2, f"place of denots among {len(places)}:", places["denots"])]

    return compare


def _all_of(
    *parts: Callable[[Evidence], Sequence[tuple[str, float, str, float]]],
) -> Callable[[Evidence], list[tuple[str, float, str, float]]]:
    return lambda evidence: [line for part in parts for line in part(evidence)]


def _against(
    experiment: str, row: str, column: str, limit: float, above: bool
) -> Callable[[Evidence], list[tuple[str, float, str, float]]]:
    def compare(evidence: Evidence) -> list[tuple[str, float, str, float]]:
        value = evidence.mean(experiment, row, column)
        return [(row, value, "limit", limit)] if above else [("limit", limit, row, value)]

    return compare


_GROWTH = "norm at the end / half-way"

CLAIMS: tuple[Claim, ...] = (
    *(
        Claim("main", f"No system, the plain ones included, is better than DeNOTS on {dataset}.", _leads(dataset))
        for dataset in ("uwgl", "insect-sound", "pendulum", "sepsis")
    ),
    Claim(
        "bump",
        "On Bump, depth beats tolerance (tanh field).",
        _pair("bump", ("tanh", "depth 20"), ("tanh", "tolerance 1e-6")),
    ),
    Claim(
        "bump",
        "On Bump, depth beats the default (tanh field).",
        _pair("bump", ("tanh", "depth 20"), ("tanh", "default")),
    ),
    Claim(
        "sine-mix",
        "Anti-phase feedback remembers SineMix, synchronous feedback forgets it.",
        _all_of(_against("sine-mix", "denots", "R2", 0.9, True), _against("sine-mix", "sync", "R2", 0.6, False)),
    ),
    Claim(
        "weight-norms",
        "Deeper tanh fields have smaller weights.",
        _pair("weight-norms", ("depth 1", "all"), ("depth 20", "all")),
    ),
    Claim(
        "trajectories",
        "At depth 20 states without negative feedback keep growing (half as much again in the second half).",
        _all_of(*(_against("trajectories", s, _GROWTH, 1.5, True) for s in ("none", "relu", "tanh"))),
    ),
    Claim(
        "trajectories",
        "At depth 20 states with negative feedback stay bounded.",
        _all_of(*(_against("trajectories", s, _GROWTH, 1.5, False) for s in ("sync", "denots"))),
    ),
    Claim(
        "evaluations",
        "For DeNOTS on Pendulum, evaluations bought by depth go with a better metric more than those bought by tolerance.",
        _pair("evaluations", ("denots", "pendulum, depth"), ("denots", "pendulum, tolerance")),
    ),
    Claim(
        "feedback", "Synchronous feedback wins all along.", _against("feedback", "sync", "update, along h", 0.99, True)
    ),
    Claim(
        "feedback",
        "Anti-phase feedback wins most of the time.",
        _against("feedback", "denots", "update, along h", 0.5, True),
    ),
    Claim(
        "attacks",
        "DeNOTS suffers less from dropped values than systems without negative feedback.",
        _beats_all("attacks", "drop 0.85", [n for n in published.ATTACKS if n not in ("denots", "sync")]),
    ),
    Claim(
        "attacks",
        "DeNOTS suffers least from changed values.",
        _beats_all("attacks", "change 0.01", [n for n in published.ATTACKS if n != "denots"]),
    ),
    Claim(
        "overfitting",
        "On few series a deeper model fits better and generalises worse.",
        _all_of(
            _pair("overfitting", ("depth 10", "train R2"), ("depth 1", "train R2")),
            _pair("overfitting", ("depth 1", "test R2"), ("depth 10", "test R2")),
        ),
    ),
    Claim(
        "forecasting",
        "DeNOTS forecasts irregular angles best.",
        _beats_all(
            "forecasting", "pendulum-angles", [n for n in published.FORECASTING["pendulum-angles"] if n != "denots"]
        ),
    ),
)
