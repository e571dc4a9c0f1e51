"""What the paper claims, judged by our own tables."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

from denots.experiments import published
from denots.experiments.difference import MOST_RUNS, Difference, difference, runs_to_decide
from denots.experiments.exhibit import Cell, Exhibit, Table
from denots.experiments.main_table import SHOWN

Judgement = Literal["confirmed", "not confirmed", "undecided", "hint for", "hint against", "open"]


class Evidence:
    """The cells of all tables, by experiment, row and column."""

    def __init__(self, exhibits: Mapping[str, Sequence[Exhibit]]) -> None:
        self._cells: dict[tuple[str, str, str], Cell] = {}
        for name, shown in exhibits.items():
            for table in (each for each in shown if isinstance(each, Table)):
                for row, cells in table.rows:
                    for column, cell in zip(table.columns, cells, strict=True):
                        if isinstance(cell, Cell):  # the first table of an experiment has the word
                            self._cells.setdefault((name, row.split(" (")[0], column), cell)

    def cell(self, experiment: str, row: str, column: str) -> Cell:
        return self._cells.get((experiment, row, column), Cell())


class Comparison(NamedTuple):
    """The mean of `high` should exceed that of `low`."""

    name: str
    high: Cell
    rival: str
    low: Cell

    @property
    def known(self) -> bool:
        return math.isfinite(self.high.mean) and math.isfinite(self.low.mean)

    @property
    def reduced(self) -> bool:
        return self.high.reduced or self.low.reduced

    @property
    def difference(self) -> Difference:
        return difference(self.high, self.low)

    def __str__(self) -> str:
        found = self.difference
        words = f"{self.name} {self.high.mean:.3g}, {self.rival} {self.low.mean:.3g}: difference {found.value:+.3g}"
        if math.isinf(found.high):
            return f"{words}, spread not known"
        return f"{words} ({found.low:+.3g} to {found.high:+.3g})"

    @property
    def remedy(self) -> str:
        """What would decide it."""
        if math.isinf(self.difference.high):
            return "more runs would show the spread"
        runs = runs_to_decide(self.high, self.low)
        if runs is None:
            return f"not even {MOST_RUNS:,} runs of each would decide it"
        return f"about {runs} runs of each would decide it"


Compare = Callable[[Evidence], Sequence[Comparison]]


@dataclass(frozen=True)
class Claim:
    """A sentence of the paper, and the comparisons that it makes."""

    experiment: str
    text: str
    compare: Compare


@dataclass(frozen=True)
class Judged:
    """A claim and its verdict; `but` is how the runs behind it differ from the published rules."""

    claim: Claim
    judgement: Judgement
    words: str
    but: str = ""


def judge(claim: Claim, evidence: Evidence) -> Judged:
    """By the intervals of the differences: all above zero confirm a claim, one below zero does not, else it is undecided.

    Open while a number is missing. Reduced runs give no more than a hint, for which means are enough.
    """
    found = claim.compare(evidence)
    known = [each for each in found if each.known]
    words = "; ".join(map(str, known))
    if len(known) < len(found) or not found:
        return Judged(claim, "open", words or "no records yet")
    if any(each.reduced for each in found):
        return Judged(claim, "hint for" if all(each.difference.value > 0 for each in found) else "hint against", words)
    if any(each.difference.high < 0 for each in found):
        return Judged(claim, "not confirmed", words)
    unsure = [each for each in found if not each.difference.decided]
    if unsure:
        return Judged(claim, "undecided", f"{words}; {unsure[0].remedy}")
    return Judged(claim, "confirmed", words)


def judge_first(claim: Claim, evidence: Mapping[str, Evidence]) -> Judged:
    """By the first evidence that leaves nothing open; its name says how it differs from the published rules."""
    found = [replace(judge(claim, each), but=name) for name, each in evidence.items()]
    return next((each for each in found if each.judgement != "open"), found[0])


def _pair(experiment: str, larger: tuple[str, str], smaller: tuple[str, str]) -> Compare:
    def compare(evidence: Evidence) -> list[Comparison]:
        high, low = (evidence.cell(experiment, *place) for place in (larger, smaller))
        return [Comparison(f"{', '.join(larger)}", high, f"{', '.join(smaller)}", low)]

    return compare


def _beats_all(experiment: str, column: str, others: Sequence[str], best: str = "denots") -> Compare:
    """Against the best of the others that ran as long; open if none did."""

    def compare(evidence: Evidence) -> list[Comparison]:
        own = evidence.cell(experiment, best, column)
        cells = {name: evidence.cell(experiment, name, column) for name in others}
        equals = {name: c for name, c in cells.items() if math.isfinite(c.mean) and c.reduced == own.reduced}
        rival = max(equals, key=lambda name: equals[name].mean, default="")
        return [Comparison(best, own, f"{rival} (best of {len(equals)})", equals.get(rival, Cell()))]

    return compare


def _all_of(*parts: Compare) -> Compare:
    return lambda evidence: [line for part in parts for line in part(evidence)]


def _against(experiment: str, row: str, column: str, limit: float, above: bool) -> Compare:
    def compare(evidence: Evidence) -> list[Comparison]:
        own, bound = (row, evidence.cell(experiment, row, column)), ("limit", Cell((limit,), known_error=0.0))
        return [Comparison(*own, *bound) if above else Comparison(*bound, *own)]

    return compare


OTHERS = [name for name in SHOWN if name != "denots"]
_GROWTH = "norm at the end / half-way"

CLAIMS: tuple[Claim, ...] = (
    *(
        Claim("main", f"DeNOTS is better than every other system on {dataset}.", _beats_all("main", dataset, OTHERS))
        for dataset in ("uwgl", "insect-sound", "pendulum", "sepsis")
    ),
    *(
        Claim(
            "bump",
            f"On Bump, depth beats a tolerance of {tolerance} (tanh field).",
            _pair("bump", ("tanh", "depth 20"), ("tanh", f"tolerance {tolerance}")),
        )
        for tolerance in ("1e-4", "1e-5", "1e-6")
    ),
    Claim(
        "bump",
        "On Bump, depth beats the default (tanh field).",
        _pair("bump", ("tanh", "depth 20"), ("tanh", "default")),
    ),
    Claim(
        "sine-mix",
        "On SineMix anti-phase feedback succeeds (R2 above 0.9), synchronous feedback fails (below 0.6).",
        _all_of(_against("sine-mix", "denots", "R2", 0.9, True), _against("sine-mix", "sync", "R2", 0.6, False)),
    ),
    Claim(
        "targets",
        "It fails there because it forgets: where the target is centred, too.",
        _against("targets", "sync, centred target", "depth 10: R2", 0.6, False),
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
