"""What a run is made of: plain values that fit into one line of JSON."""

from dataclasses import asdict, dataclass, field, replace
from typing import Any, get_args

from denots.datasets import Protocol
from denots.errors import InvalidOption
from denots.systems import SYSTEMS
from denots.systems.system import check_known
from denots.training.config import TrainConfig

RETIRED = ("boosted-trees",)  # in records of earlier versions only: histogram trees of scikit-learn


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

    def __post_init__(self) -> None:
        if self.name not in RETIRED:
            check_known(self.options, SYSTEMS.find(self.name).options, self.name)


@dataclass(frozen=True)
class RunSpec:
    """One training run: the same spec gives the same record, bit for bit, on the same machine.

    seed: of initial weights and batches; the data set has its own.
    protocol: "paper" follows the published numbers, "fair" what a careful referee would ask for
        where the two differ. Among the data sets, only the gaps of uwgl and insect-sound differ.
    """

    dataset: DatasetSpec
    backbone: BackboneSpec = field(default_factory=BackboneSpec)
    train: TrainConfig = field(default_factory=TrainConfig)
    seed: int = 0
    protocol: Protocol = "paper"

    def __post_init__(self) -> None:
        if self.protocol not in get_args(Protocol):
            raise InvalidOption(f"protocol is one of {', '.join(get_args(Protocol))}; got {self.protocol!r}.")
        if self.train.seed not in (0, self.seed):
            raise InvalidOption(
                f"the run has seed {self.seed} and its training seed {self.train.seed}; set RunSpec.seed only."
            )
        object.__setattr__(self, "train", replace(self.train, seed=self.seed))

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_dict(cls, plain: dict[str, Any]) -> "RunSpec":
        parts = {
            "dataset": DatasetSpec(**plain["dataset"]),
            "backbone": BackboneSpec(**plain["backbone"]),
            "train": TrainConfig(**plain["train"]),
        }
        return cls(**{**plain, **parts})
