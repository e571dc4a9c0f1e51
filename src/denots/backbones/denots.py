"""DeNOTS: stretch time by a depth, drive a stable neural ODE with the interpolated series."""

from dataclasses import dataclass, replace
from typing import Literal

import torch
from jaxtyping import Float, Float64
from torch import Tensor, nn

from denots.backbones.backbone import Backbone, Encoded, Inputs
from denots.backbones.embedding import ChannelEmbedding, ChannelMoments, fold, fold_presence
from denots.backbones.intake import Intake, TimeChannel
from denots.backbones.options import check_options
from denots.backbones.solver import SolverConfig
from denots.data.series import SeriesSet
from denots.data.transforms import append_presence, fill_with_zeros
from denots.errors import InvalidOption
from denots.fields import FIELDS, AffineInputField, VectorField
from denots.fields.gained import Gained
from denots.ode.input_map import InputMap
from denots.ode.solve import solve
from denots.paths import PATHS, Interpolation
from denots.paths.path import Path
from denots.rowwise import linear_rows


@dataclass(frozen=True)
class DeNOTSConfig(SolverConfig):
    """Every choice of the backbone; the defaults are a good start for a new table. See also `SolverConfig`.

    depth: how long the stretched median series takes; a longer trajectory is more expressive.
    learn_depth: let training change it, by a gain on the field that starts at 1 (no native kernel).
    normalise: "fixed" standardises with the training split; "batch" adds batch normalisation
        over the observed values of each batch, as published.
    inflate: trainable features per channel (the paper: 100 on Sepsis, else 1).
    presence: add a channel for each that says where values were observed.
    holes: missing values are "bridge"d by the path, or are "zero" after the embedding, which
        shows the model where they are (the paper, on Sepsis).
    initial: the state starts at "zero", as published, or from the "first" observed values;
        static features are added where there are any.
    """

    state_size: int = 32
    depth: float = 10.0
    learn_depth: bool = False
    field: str | type[VectorField] = "anti"
    path: str | type[Interpolation] = "natural-cubic"
    normalise: Literal["fixed", "batch"] = "fixed"
    inflate: int = 1
    time_differences: bool = True
    presence: bool = False
    holes: Literal["bridge", "zero"] = "bridge"
    initial: Literal["zero", "first"] = "zero"


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


class DeNOTS(Backbone):
    """States of `dh/dt = field(x(t), h)` on a clock that runs `depth / M` times as fast.

    M is the median time span of the training split, so that depths compare across data sets.
    """

    Config = DeNOTSConfig

    def __init__(self, config: DeNOTSConfig, channels: int, static_size: int = 0) -> None:
        super().__init__()
        check_options(config)
        PATHS.resolve(config.path)
        self.config, self.state_size = config, config.state_size
        time: TimeChannel = "differences" if config.time_differences else "none"
        self.intake = Intake(channels, static_size, time=time, presence=config.presence)
        read = self.intake.read
        self.embedding = ChannelEmbedding(read, config.inflate, config.normalise == "batch")
        self.field = FIELDS.resolve(config.field)(read * config.inflate, config.state_size)
        self.gain = nn.Parameter(torch.ones(())) if config.learn_depth else None
        self.from_first = nn.Linear(read * config.inflate, config.state_size) if config.initial == "first" else None
        self.from_static = nn.Linear(static_size, config.state_size) if static_size else None

    @property
    def reads_time(self) -> bool:
        return True

    def calibrate(self, train: SeriesSet) -> None:
        self.intake.calibrate(train)

    def prepare(self, series: SeriesSet) -> DrivenInputs:
        observed = self.intake.observations(series)
        dtype = next((weight.dtype for weight in self.field.parameters()), torch.get_default_dtype())
        signal = observed if self.config.holes == "bridge" else fill_with_zeros(append_presence(observed))
        path = PATHS.resolve(self.config.path).fit(signal, dtype)
        if self.config.initial == "first":
            path = replace(path, t0=path.times[path.begin])
        return DrivenInputs(
            path.scale_time(self.config.depth),
            ChannelMoments.of(observed),
            self.intake.static(series, dtype),
            torch.from_numpy(series.start),
        )

    def forward(self, inputs: Inputs, at: Float64[Tensor, "B K"] | None = None) -> Encoded:
        if not isinstance(inputs, DrivenInputs):
            raise TypeError(f"DeNOTS reads what its own prepare() returns, not {type(inputs).__name__}.")
        path = inputs.path
        factor, offset = self.embedding.coefficients(inputs.moments)
        drive = None if self._reads_raw else self._drive(factor, offset, path)
        if at is not None:
            at = (at - inputs.start[:, None]) * (self.config.depth / self.intake.time_scale)
        solution = solve(
            self.driven_field,
            path,
            self._first_state(inputs, factor, offset),
            at=at,
            input_map=drive,
            **self.config.solving(self.coarse),
        )
        return Encoded(solution.states, solution.ok, solution.evaluations)

    @property
    def driven_field(self) -> VectorField:
        """The field that is solved, with its learnt gain if it has one."""
        return self.field if self.gain is None else Gained(self.affine_field, self.gain)

    @property
    def affine_field(self) -> AffineInputField:
        """The field, if it meets the signal through an input map."""
        if not isinstance(self.field, AffineInputField):
            raise InvalidOption(
                f"field {type(self.field).__name__} has no input map weight_ih, bias_ih, so nothing can be folded into it; "
                "make it an AffineInputField, or leave normalise, inflate, holes and learn_depth at their defaults."
            )
        return self.field

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
        if self.config.holes == "bridge":
            return fold(weight, bias, factor, offset, path.present)
        return fold_presence(weight, bias, factor, offset, len(path))

    def _first_state(self, inputs: DrivenInputs, factor: Tensor, offset: Tensor) -> Tensor:
        path = inputs.path
        h0 = path.values.new_zeros(len(path), self.state_size)
        if self.from_first is not None:
            start = self._fold(self.from_first.weight, self.from_first.bias, factor, offset, path)
            h0 = h0 + linear_rows(path.values[path.begin], start.weight, start.bias)
        if self.from_static is not None:
            h0 = h0 + linear_rows(inputs.static, self.from_static.weight, self.from_static.bias)
        return h0
