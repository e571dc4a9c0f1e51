"""DeNOTS: stretch time by a depth, drive a stable neural ODE with the interpolated series."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from jaxtyping import Float, Float64
from torch import Tensor, nn

from denots.backbones.backbone import Backbone, Encoded, Inputs
from denots.backbones.embedding import ChannelEmbedding, ChannelMoments, fold, fold_presence
from denots.backbones.intake import Intake
from denots.backbones.options import check_options
from denots.data.series import SeriesSet
from denots.data.transforms import append_presence, fill_with_zeros
from denots.errors import InvalidOption
from denots.fields import FIELDS, AffineInputField, VectorField
from denots.fields.contracting import ContractingGRU, held
from denots.fields.gained import Gained
from denots.inference import denots
from denots.inference.denots_config import DeNOTSConfig
from denots.inference.intake import TimeChannel
from denots.ode.input_map import InputMap
from denots.ode.solve import solve
from denots.paths import PATHS
from denots.paths.extremes import extremes
from denots.paths.path import Path
from denots.paths.slopes import append_slopes
from denots.registry import Registry
from denots.rowwise import linear_rows

POOLED_AT = torch.arange(1, 17, dtype=torch.float64) / 16  # shares of the trajectory

FEW_SERIES = 1000

READ_THEN: dict[str, Any] = {
    "stability": "free",
    "slopes": False,
    "ages": False,
    "readout": "last",
}  # what the field read as published, and in older records


@dataclass(frozen=True, slots=True, eq=False)
class DrivenInputs:
    """What a neural ODE reads: paths on the stretched clock, and statistics for its embedding."""

    path: Path
    moments: ChannelMoments
    static: Float[Tensor, "n S"]
    start: Float64[Tensor, " n"]

    def __len__(self) -> int:
        return len(self.path)

    def select(self, rows: Tensor) -> "DrivenInputs":
        return DrivenInputs(self.path.select(rows), self.moments.select(rows), self.static[rows], self.start[rows])


def pool(states: Float[Tensor, "B K H"]) -> Float[Tensor, "B 1 S"]:
    """The last state, the mean and the largest value of each component."""
    return torch.cat([states[:, -1:], states.mean(dim=1, keepdim=True), states.amax(dim=1, keepdim=True)], dim=2)


class DeNOTS(Backbone):
    """States of `dh/dt = field(x(t), h)` on a clock that runs `depth / M` times as fast.

    M is the median time span of the training split, so that depths compare across data sets.
    """

    Config = DeNOTSConfig
    slope_scale: Tensor
    reach: Tensor

    def __init__(self, config: DeNOTSConfig, channels: int, static_size: int = 0) -> None:
        super().__init__()
        check_options(config)
        PATHS.resolve(config.path)
        self.config, self.state_size = config, config.state_size
        time: TimeChannel = "differences" if config.time_differences else "none"
        self.intake = Intake(
            channels, static_size, time=time, presence=bool(config.presence), ages=bool(config.ages)
        )  # "auto" that nobody has settled is the larger model
        self.embedding = ChannelEmbedding(self.intake.read, config.inflate, config.normalise == "batch")
        self.embedded = self.intake.read * config.inflate
        read = self.embedded + (channels if config.slopes else 0)
        if config.slopes:
            self.register_buffer("slope_scale", torch.ones(channels, dtype=torch.float64))
        self.field = FIELDS.resolve(config.field)(read, config.state_size)
        if self.certified:
            self.register_buffer("reach", torch.ones(read, dtype=torch.float64))
            self._check_certified()
        self.gain = nn.Parameter(torch.ones(())) if config.learn_depth else None
        self.from_first = nn.Linear(read, config.state_size) if config.initial == "first" else None
        self.from_static = nn.Linear(static_size, config.state_size) if static_size else None

    @property
    def reads_time(self) -> bool:
        return True

    @property
    def summary_size(self) -> int:
        return self.state_size * (1 if self.config.readout == "last" else 3)

    @classmethod
    def settled(cls, config: DeNOTSConfig, train: SeriesSet) -> DeNOTSConfig:
        missing = float(np.isnan(train.values).mean())
        decided: dict[str, Any] = {
            "presence": missing > 0,
            "ages": missing > 0.5,
            "readout": "pooled" if len(train) < FEW_SERIES else "last",
        }
        return replace(config, **{name: value for name, value in decided.items() if getattr(config, name) == "auto"})

    def calibrate(self, train: SeriesSet) -> None:
        self.intake.calibrate(train)
        if self.config.slopes:
            slopes = self._path(self.intake.observations(train), torch.float64).slopes[:, : self.intake.observed]
            spread = slopes.square().mean(dim=0).sqrt()
            self.slope_scale.copy_(torch.where(spread > 0, spread, 1.0))
        if self.certified:
            low, high = extremes(self.prepare(train).path)
            self.reach.copy_(torch.maximum(-low.amin(dim=0), high.amax(dim=0)).clamp_min(0))

    def encoder(self) -> denots.DeNOTS | None:
        named = replace(self.config, field=_name(FIELDS, self.config.field), path=_name(PATHS, self.config.path))
        return None if denots.unserved(named) else denots.DeNOTS.restore(named, self.intake.observed, self.arrays())

    def prepare(self, series: SeriesSet) -> DrivenInputs:
        observed = self.intake.observations(series)
        dtype = next((weight.dtype for weight in self.field.parameters()), torch.get_default_dtype())
        if self.config.slopes:
            path = append_slopes(self._path(observed, torch.float64), self.slope_scale).to(dtype)
        else:
            path = self._path(observed, dtype)
        if self.config.initial == "first":
            path = replace(path, t0=path.times[path.begin])
        return DrivenInputs(
            path,
            ChannelMoments.of(observed),
            self.intake.static(series, dtype),
            torch.from_numpy(series.start),
        )

    def _path(self, observed: SeriesSet, dtype: torch.dtype) -> Path:
        """The signal on the stretched clock."""
        signal = observed if self.config.holes == "bridge" else fill_with_zeros(append_presence(observed))
        return PATHS.resolve(self.config.path).fit(signal, dtype).scale_time(self.config.depth)

    def forward(self, inputs: Inputs, at: Float64[Tensor, "B K"] | None = None) -> Encoded:
        if not isinstance(inputs, DrivenInputs):
            raise TypeError(f"DeNOTS reads what its own prepare() returns, not {type(inputs).__name__}.")
        path = inputs.path
        factor, offset = self.embedding.coefficients(inputs.moments)
        drive = None if self._reads_raw else self._drive(factor, offset, path)
        pooled = at is None and self.config.readout != "last"
        if at is not None:
            at = (at - inputs.start[:, None]) * (self.config.depth / self.intake.time_scale)
        elif pooled:
            at = path.t0[:, None] + (path.t1 - path.t0)[:, None] * POOLED_AT
        solution = solve(
            self.driven_field,
            path,
            self._first_state(inputs, factor, offset),
            at=at,
            input_map=drive,
            **self.config.solving(self.coarse),
        )
        states = pool(solution.states) if pooled else solution.states
        return Encoded(states, solution.ok, solution.evaluations)

    @property
    def driven_field(self) -> VectorField:
        """The field that is solved, with its learnt gain if it has one."""
        if self.gain is not None:
            return Gained(self.affine_field, self.gain)
        return self.affine_field if self.certified else self.field

    @property
    def certified(self) -> bool:
        return self.config.stability == "certified"

    def _check_certified(self) -> None:
        """Refuse what the proof does not cover."""
        ContractingGRU(self.field, self.reach)
        if not self._reads_raw or self.config.learn_depth:
            raise InvalidOption(
                "stability 'certified' is proved for signals as they are and a given depth; leave normalise, inflate, holes and "
                "learn_depth at their defaults."
            )

    @property
    def affine_field(self) -> AffineInputField:
        """The field, if it meets the signal through an input map."""
        if not isinstance(self.field, AffineInputField):
            raise InvalidOption(
                f"field {type(self.field).__name__} has no input map weight_ih, bias_ih, so nothing can be folded into it; "
                "make it an AffineInputField, or leave normalise, inflate, holes and learn_depth at their defaults."
            )
        return ContractingGRU(self.field, self.reach) if self.certified else self.field

    def drive(self, inputs: DrivenInputs) -> InputMap:
        """How the field of the model, not in training, meets the raw signal of each series."""
        factor, offset = self.embedding.coefficients(inputs.moments)
        return self._drive(factor, offset, inputs.path)

    @property
    def _reads_raw(self) -> bool:
        """Whether the signal is read as it is, so that there is nothing to fold."""
        return self.embedding.is_identity and self.config.holes == "bridge"

    def _drive(self, factor: Tensor, offset: Tensor, path: Path) -> InputMap:
        return self._fold(self.affine_field.weight_ih, self.affine_field.bias_ih, factor, offset, path)

    def _fold(self, weight: Tensor, bias: Tensor, factor: Tensor, offset: Tensor, path: Path) -> InputMap:
        if self._reads_raw:
            return InputMap(weight, bias.expand(len(path), -1))
        embedded, slopes = weight[:, : self.embedded], weight[:, self.embedded :]
        if self.config.holes == "bridge":
            folded = fold(embedded, bias, factor, offset, path.present[:, : self.intake.read])
        else:
            folded = fold_presence(embedded, bias, factor, offset, len(path))
        return InputMap(torch.cat([folded.weight, slopes], dim=1), folded.bias)

    def first_state(self, inputs: DrivenInputs) -> Tensor:
        """Where the model, not in training, lets each series begin."""
        return self._first_state(inputs, *self.embedding.coefficients(inputs.moments))

    def _first_state(self, inputs: DrivenInputs, factor: Tensor, offset: Tensor) -> Tensor:
        path = inputs.path
        h0 = path.values.new_zeros(len(path), self.state_size)
        if self.from_first is not None:
            start = self._fold(self.from_first.weight, self.from_first.bias, factor, offset, path)
            h0 = h0 + linear_rows(path.values[path.begin], start.weight, start.bias)
        if self.from_static is not None:
            h0 = h0 + linear_rows(inputs.static, self.from_static.weight, self.from_static.bias)
        return held(h0, type(self.field)) if self.certified else h0


def _name(registry: Registry[Any], part: Any) -> str:
    """Under which a part is registered; none where it is not."""
    return part if isinstance(part, str) else next((name for name, known in registry.items() if known is part), "")
