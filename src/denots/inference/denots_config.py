"""The options of DeNOTS."""

from dataclasses import dataclass
from typing import Any, Literal

from denots.inference.solver import SolverConfig
from denots.options import Choice, Range, tunable


@dataclass(frozen=True)
class DeNOTSConfig(SolverConfig):
    """Every choice of the backbone; the defaults are a good start for a new table. See also `SolverConfig`.

    depth: how long the stretched median series takes; a longer trajectory is more expressive.
    learn_depth: let training change it, by a gain on the field that starts at 1 (no native kernel).
    normalise: "fixed" standardises with the training split; "batch" adds batch normalisation
        over the observed values of each batch, as published.
    inflate: trainable features per channel (the paper: 100 on Sepsis, else 1).
    slopes: let the field read how fast each channel changes, beside its value.
    presence: add a channel for each that says where values were observed; "auto" where some are missing.
    ages: add a channel for each that says how long ago it was observed; "auto" where most are missing.
    holes: missing values are "bridge"d by the path, or are "zero" after the embedding, which
        shows the model where they are (the paper, on Sepsis).
    readout: answers are read off the "last" state, or off it and the mean and the largest of each component
        over the whole trajectory ("pooled"); "auto" pools for few series. At query times it is the state there.
    initial: the state starts at "zero", as published, or from the "first" observed values;
        static features are added where there are any.
    stability: "certified" holds the weights of field "anti" or "sync" so small that trajectories of signals within the range
        of training approach each other, whatever is learnt (`denots.fields.contracting`); "free" lets training decide.
    """

    state_size: int = tunable(32, Choice((16, 32, 64)))
    depth: float = tunable(10.0, Range(1.0, 30.0, log=True))
    learn_depth: bool = False
    field: str | type[Any] = "anti"
    path: str | type[Any] = "natural-cubic"
    normalise: Literal["fixed", "batch"] = "fixed"
    inflate: int = 1
    time_differences: bool = True
    slopes: bool = True
    presence: bool | Literal["auto"] = "auto"
    ages: bool | Literal["auto"] = "auto"
    holes: Literal["bridge", "zero"] = "bridge"
    readout: Literal["auto", "last", "pooled"] = "auto"
    initial: Literal["zero", "first"] = "zero"
    stability: Literal["free", "certified"] = "free"
