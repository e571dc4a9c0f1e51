"""A certificate: what is proved of a trained model and what was measured, in plain words and in numbers."""

import json
import math
from dataclasses import asdict, dataclass
from typing import Any, Literal

from denots.backbones.denots import DeNOTS
from denots.data.series import SeriesSet
from denots.errors import NotCertifiable
from denots.pages.chart import Chart
from denots.systems import Fitted
from denots.systems.trained import TrainedModel
from denots.tasks import Classification
from denots.theory.certificate_charts import charts_of
from denots.theory.measurement import TIGHT, Measurement, accurate, measure
from denots.theory.proof import Proof, certifiable, prove
from denots.training.model import Model

USEFUL = 1e3  # times the largest change there can be; what is bounded by more is not bounded
Kind = Literal["proved", "measured"]
Where = Literal["on the reachable set", "only along these series", "nowhere shown"]


@dataclass(frozen=True)
class Claim:
    """A number with its unit, and the sentence that it stands in.

    value: infinite where nothing bounds it.
    """

    name: str
    value: float
    unit: str
    words: str
    kind: Kind


@dataclass(frozen=True)
class Range:
    """Between what a channel, or a component of the state, lies."""

    name: str
    low: float
    high: float


@dataclass(frozen=True, eq=False)
class Certificate:
    """Of one model, for the signals in `inputs`, or for any where there are none.

    contracting: where any two trajectories of one signal approach each other.
    box_until: how long no state leaves the box, in units of the series' time; infinite where it is never left.
    """

    field: str
    stability: str
    depth: float
    series: int
    contracting: Where
    box: tuple[Range, ...]
    box_until: float
    inputs: tuple[Range, ...]
    claims: tuple[Claim, ...]
    charts: tuple[Chart, ...] = ()

    @property
    def proved(self) -> tuple[Claim, ...]:
        return tuple(claim for claim in self.claims if claim.kind == "proved")

    @property
    def measured(self) -> tuple[Claim, ...]:
        return tuple(claim for claim in self.claims if claim.kind == "measured")

    def __getitem__(self, name: str) -> Claim:
        return next(claim for claim in self.claims if claim.name == name)

    def to_dict(self) -> dict[str, Any]:
        """Plain values; what nothing bounds is null."""
        plain = {name: value for name, value in vars(self).items() if name not in ("charts", "claims", "box", "inputs")}
        parts = {name: [asdict(part) for part in getattr(self, name)] for name in ("inputs", "box", "claims")}
        return _finite({**plain, **parts})

    def to_json(self) -> str:
        return json.dumps(self.to_dict(), indent=1, allow_nan=False) + "\n"


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _finite(part) for name, part in value.items()}
    if isinstance(value, list):
        return [_finite(part) for part in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def certify(fitted: Fitted, series: SeriesSet | None = None) -> Certificate:
    """Prove what can be proved of a trained DeNOTS model, and measure the rest along series.

    Without series the proof is for any signal, or, of a model with stability "certified", for signals in the range of training.
    """
    model = _subject(fitted)
    tight = accurate(model)
    proof = prove(tight, series)
    found = None if series is None else measure(model, tight, series)
    backbone = certifiable(model)
    unit = (series.time_unit if series is not None else "") or "time"
    where: Where = "nowhere shown"
    if proof.rate < 0:
        where = "on the reachable set"
    elif found is not None and found.stable_share == 1:
        where = "only along these series"
    claims = [*_proved(proof, unit, _answer(model), 0 if found is None else found.steps)]
    if found is not None:
        claims += _measured(found, unit, _answer(model))
    state = proof.box.state
    return Certificate(
        field=type(backbone.field).__name__,
        stability=backbone.config.stability,
        depth=backbone.config.depth,
        series=0 if series is None else len(series),
        contracting=where,
        box=tuple(
            Range(f"h{k}", float(low), float(high))
            for k, (low, high) in enumerate(zip(state.low, state.high, strict=True))
        ),
        box_until=proof.box.until / proof.clock,
        inputs=_inputs(backbone, proof, series),
        claims=tuple(claims),
        charts=() if found is None else charts_of(proof, found, unit),
    )


def _subject(fitted: Fitted) -> Model:
    if not isinstance(fitted, TrainedModel):
        raise NotCertifiable(
            f"this model ({type(fitted).__name__}) is not one trained differential equation, so there is no trajectory to bound; "
            "fit system 'denots' to have a certificate."
        )
    certifiable(fitted.model)
    return fitted.model


def _answer(model: Model) -> str:
    return "log-odds" if isinstance(model.task, Classification) else "units of the target"


def _inputs(backbone: DeNOTS, proof: Proof, series: SeriesSet | None) -> tuple[Range, ...]:
    """The signal as the model reads it: standardised values, further channels, then slopes."""
    if proof.inputs is None:
        return ()
    names = [f"channel {k}" for k in range(len(proof.inputs.low))]
    if series is not None:
        names[: len(series.channels)] = series.channels
        if backbone.config.slopes:
            names[-len(series.channels) :] = [f"slope of {name}" for name in series.channels]
    ends = zip(names, proof.inputs.low.tolist(), proof.inputs.high.tolist(), strict=True)
    return tuple(Range(*end) for end in ends)


def _proved(proof: Proof, unit: str, answer: str, steps: int) -> list[Claim]:
    rate, largest = proof.rate * proof.clock, float(proof.box.state.magnitude.max())
    signals = "any signal" if proof.inputs is None else "any signal within the ranges of the inputs"
    until = "at any time" if proof.box.invariant else f"up to {proof.horizon / proof.clock:.4g} {unit}"
    apart = (
        f"any two states approach each other at least like exp(-{-rate:.3g} t), in a weighted maximum norm"
        if rate < 0
        else f"any two states part at most like exp({rate:.3g} t); that they approach is not proved"
    )
    change, most = proof.change(), proof.largest_change
    noise = (
        f"by at most {change:.3g} if values and slopes differ by at most one standard deviation at any time, and in proportion by less"
        if change < most * USEFUL
        else "no bound in proportion to noise is of use"
    )
    memory = (
        f"half of a change of the state is forgotten after {proof.half_life:.3g} {unit} at the latest, in the same norm"
        if rate < 0
        else "no half-life is proved"
    )
    claims = [
        Claim(
            "largest state",
            largest,
            "",
            f"For {signals}, no component of the state exceeds {largest:.4g} {until}.",
            "proved",
        ),
        Claim("growth", rate, f"per {unit}", f"In that box, {apart}.", "proved"),
        Claim(
            "change by noise",
            change,
            f"{answer} per standard deviation",
            f"Between two signals within the ranges the answer moves by at most {most:.3g} {answer}; {noise}.",
            "proved",
        ),
        Claim("half-life at most", proof.half_life, unit, f"Memory: {memory}.", "proved"),
    ]
    if steps:
        by_steps = proof.change_by_steps(steps)
        claims.append(
            Claim(
                "change by tolerance, at most",
                by_steps,
                f"{answer} per unit of tolerance",
                f"If no step of the solver is off by more than it promises, its errors move the answer by at most {by_steps:.3g} {answer} "
                "per unit of tolerance."
                if by_steps < most * USEFUL / TIGHT
                else "No bound on what errors of the solver do to the answer is of use.",
                "proved",
            )
        )
    return claims


def _measured(found: Measurement, unit: str, answer: str) -> list[Claim]:
    memory = float(found.half_lives.quantile(0.5, interpolation="lower"))
    forgets = (
        f"half of a change of the state is forgotten after {memory:.3g} {unit} (median)"
        if math.isfinite(memory)
        else "at the end of the median series a change of its first state still counts by more than half"
    )
    return [
        Claim(
            "share of time in the stable regime",
            found.stable_share,
            "",
            f"Along {found.series} of the series, states near by approach each other during {found.stable_share:.1%} of the time.",
            "measured",
        ),
        Claim("half-life", memory, unit, f"Memory: {forgets}.", "measured"),
        Claim(
            "change by noise, seen",
            found.noise,
            f"{answer} per standard deviation",
            f"Random noise in all observed values moved an answer by up to {found.noise:.3g} {answer} per standard deviation.",
            "measured",
        ),
        Claim(
            "change by a missing observation",
            found.removal,
            answer,
            f"Leaving one observation out, {found.removals} times, moved an answer by up to {found.removal:.3g} {answer}.",
            "measured",
        ),
        Claim(
            "change by tolerance",
            found.tolerance,
            f"{answer} per unit of tolerance",
            f"Solving far more accurately moved an answer by up to {found.tolerance:.3g} {answer} per unit of tolerance.",
            "measured",
        ),
    ]
