"""What a run is made of: plain values that fit into one line of JSON."""

import hashlib
import json
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from denots.backbones.denots import READ_THEN
from denots.errors import InvalidOption
from denots.inference.solver import SOLVED_THEN, with_solver_of_then
from denots.protocol import DEFAULT_PROTOCOL, Protocol, check_protocol
from denots.systems import SYSTEMS
from denots.systems.system import check_known
from denots.tasks.scale import Units, check_units
from denots.training.config import PUBLISHED, TrainConfig

TARGET_THEN: Units = "standardised"  # in every record that does not name it


@dataclass(frozen=True)
class DatasetSpec:
    """A built-in data set; `size` is a reduced total of series, shared out like the published splits."""

    name: str
    size: int | None = None
    seed: int = 0


@dataclass(frozen=True)
class BackboneSpec:
    """A backbone, or another system, by name, with the options that differ from its defaults."""

    name: str = "denots"
    options: dict[str, Any] = field(default_factory=dict)

    def check(self) -> None:
        """Refuse what this version does not know; a record may name systems and options of earlier ones."""
        check_known(self.options, SYSTEMS.find(self.name).options, self.name)


@dataclass(frozen=True)
class RunSpec:
    """One training run: the same spec gives the same record, bit for bit, on the same machine.

    seed: of initial weights and batches; the data set has its own.
    protocol: "paper" follows the published numbers, "fair" what a careful referee would ask for
        where the two differ, "best" trains all systems so with the best known recipe. Among the data
        sets, only the gaps of uwgl and insect-sound differ.
    target: how numbers are learnt; records that do not say it have standardised ones.
    """

    dataset: DatasetSpec
    backbone: BackboneSpec = field(default_factory=BackboneSpec)
    train: TrainConfig = field(default_factory=TrainConfig)
    seed: int = 0
    protocol: Protocol = DEFAULT_PROTOCOL
    target: Units = TARGET_THEN

    def __post_init__(self) -> None:
        check_protocol(self.protocol)
        check_units(self.target)
        if self.seed < 0:
            raise InvalidOption(f"a seed is a whole number that is not negative; got {self.seed}.")
        if self.train.seed not in (0, self.seed):
            raise InvalidOption(
                f"the run has seed {self.seed} and its training seed {self.train.seed}; set RunSpec.seed only."
            )
        object.__setattr__(self, "train", replace(self.train, seed=self.seed))

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)

    @property
    def fingerprint(self) -> str:
        """A name for the run that depends on nothing but this spec.

        Options that came later do not count where they say what was the case before, so that a run keeps its name.
        """
        plain = _without({"target": TARGET_THEN}, self.as_dict())
        plain["train"] = _without(PUBLISHED, plain["train"])
        plain["backbone"]["options"] = _without({**SOLVED_THEN, **READ_THEN}, plain["backbone"]["options"])
        return hashlib.sha256(json.dumps(plain, sort_keys=True).encode()).hexdigest()[:16]

    @classmethod
    def from_dict(cls, plain: dict[str, Any]) -> "RunSpec":
        options, train = with_solver_of_then(plain["backbone"]["options"]), plain["train"]
        if "schedule" not in train:  # made before there was one, and before the options that came with it
            train = {**PUBLISHED, **train}
            options = {**READ_THEN, **options} if plain["backbone"]["name"] == "denots" else options
        parts = {
            "dataset": DatasetSpec(**plain["dataset"]),
            "backbone": BackboneSpec(plain["backbone"]["name"], options),
            "train": TrainConfig(**train),
        }
        return cls(**{**plain, **parts})


def _without(then: dict[str, Any], options: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in options.items() if name not in then or value != then[name]}
