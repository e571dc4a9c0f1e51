"""What neural CDEs and neural RDEs share: a state that moves only as a path of the data does."""

import abc
from dataclasses import dataclass, replace
from typing import Literal

import torch
from jaxtyping import Float, Float64
from torch import Tensor, nn

from denots.backbones.backbone import Backbone, Encoded, Inputs
from denots.backbones.free_run import run_free
from denots.backbones.intake import Intake
from denots.backbones.options import check_options
from denots.data.series import SeriesSet
from denots.data.transforms import append_counts
from denots.fields.autonomous import AutonomousField
from denots.fields.cde import ControlledField
from denots.inference.solver import SolverConfig
from denots.ode.solution import Solution
from denots.ode.solve import solve
from denots.options import Choice, tunable
from denots.paths.linear import Linear
from denots.paths.natural_cubic import NaturalCubic
from denots.paths.path import Path
from denots.rowwise import linear_rows
from denots.shapes import FloatArray


@dataclass(frozen=True)
class ControlledConfig(SolverConfig):
    """Every choice of a controlled backbone; see also `SolverConfig`.

    clock: knots of the curve lie at their time stamps, or at their "index" as published. The state
        does not depend on how fast the curve is run through, but the curve depends on its knots.
    presence: add a channel for each that counts its observations. The state moves only as the curve
        does, so that ones and zeros would cancel out.
    static: let static features shift the first state; they were ignored as published.
    beyond: after the last observation the state is "hold"; or "decode" lets it go on by a second,
        autonomous field, which forecasts need, as published.
    """

    state_size: int = tunable(32, Choice((16, 32, 64)))
    clock: Literal["time", "index"] = "time"
    presence: bool = False
    static: bool = True
    beyond: Literal["hold", "decode"] = "hold"


@dataclass(frozen=True, slots=True, eq=False)
class ControlledInputs:
    """The curve of each series, and a `clock` that leads from times to positions along it."""

    path: Path
    clock: Path
    static: Float[Tensor, "n S"]
    start: Float64[Tensor, " n"]

    def __len__(self) -> int:
        return len(self.path)

    def select(self, rows: Tensor) -> "ControlledInputs":
        return ControlledInputs(self.path.select(rows), self.clock.select(rows), self.static[rows], self.start[rows])


class Controlled(Backbone):
    """States of `dh = F(h) dX` for a curve X through knots that a subclass makes from observations.

    Channels are standardised with the training split (published: with all splits), the time channel
    is counted in median spans. Each series is solved by itself, with its own steps, from its first
    observation on; queries before it get the first state.
    """

    def __init__(self, config: ControlledConfig, channels: int, static_size: int = 0) -> None:
        super().__init__()
        check_options(config)
        self.config, self.state_size = config, config.state_size
        self.intake = Intake(channels, static_size, time="stamps", presence=config.presence, marks=append_counts)
        width = self.curve_size(self.intake.read)
        self.field = ControlledField(width, config.state_size)
        self.from_first = nn.Linear(width, config.state_size)
        self.decoder = AutonomousField(config.state_size) if config.beyond == "decode" else None
        self.from_static = nn.Linear(static_size, config.state_size) if static_size and config.static else None

    @abc.abstractmethod
    def curve_size(self, channels: int) -> int:
        """Channels of the curve, from the channels of the observations and time."""

    @abc.abstractmethod
    def knots(self, observed: SeriesSet) -> tuple[SeriesSet, FloatArray]:
        """Knots of the curve at their positions along it, and the time stamp of each."""

    @property
    def reads_time(self) -> bool:
        return True

    def calibrate(self, train: SeriesSet) -> None:
        self.intake.calibrate(train)

    def prepare(self, series: SeriesSet) -> ControlledInputs:
        observed = self.intake.observations(series)
        values = observed.values.copy()
        values[:, -1] = observed.times
        knots, stamps = self.knots(replace(observed, values=values))
        begin = knots.offsets[:-1]
        dtype = self.field.weight_hh.dtype
        positions = replace(
            knots, times=stamps, values=knots.times[:, None], start=stamps[begin], channels=("position",)
        )
        return ControlledInputs(
            NaturalCubic.fit(replace(knots, start=knots.times[begin]), dtype),
            Linear.fit(positions, torch.float64),
            self.intake.static(series, dtype),
            torch.from_numpy(series.start),
        )

    def forward(self, inputs: Inputs, at: Float64[Tensor, "B K"] | None = None) -> Encoded:
        if not isinstance(inputs, ControlledInputs):
            raise TypeError(f"{type(self).__name__} reads what its own prepare() returns, not {type(inputs).__name__}.")
        path, clock = inputs.path, inputs.clock
        end = positions = path.t1[:, None]
        if at is not None:
            at = (at - inputs.start[:, None]) / self.intake.time_scale
            asked = torch.stack([clock.value(t)[:, 0] for t in at.unbind(dim=1)], dim=1)
            positions = asked if self.decoder is None else torch.cat([asked, end], dim=1)
        solution = solve(
            self.field,
            path,
            self._first_state(inputs),
            at=positions,
            **self.config.solving(self.coarse),
        )
        if at is None or self.decoder is None:
            return Encoded(solution.states, solution.ok, solution.evaluations)
        return self._decode(self.decoder, solution, at - clock.t1[:, None])

    def _first_state(self, inputs: ControlledInputs) -> Tensor:
        path = inputs.path
        h0 = linear_rows(path.value(path.t0), self.from_first.weight, self.from_first.bias)
        if self.from_static is not None:
            h0 = h0 + linear_rows(inputs.static, self.from_static.weight, self.from_static.bias)
        return h0

    def _decode(self, decoder: AutonomousField, known: Solution, since: Float64[Tensor, "B K"]) -> Encoded:
        """Let the last of the known states go on `since` the last observation, where a query lies beyond it."""
        further = run_free(
            decoder,
            torch.where(known.ok[:, None], known.states[:, -1], 0.0),
            since.clamp_min(0.0),
            self.config.solving(self.coarse),
        )
        ok = known.ok & further.ok
        states = torch.where((since > 0)[:, :, None], further.states, known.states[:, :-1])
        return Encoded(torch.where(ok[:, None, None], states, torch.nan), ok, known.evaluations + further.evaluations)
