"""From a data set, a backbone and overrides to a run, by the published numbers in `denots.configs`."""

from collections.abc import Sequence
from dataclasses import MISSING, dataclass, field, fields, make_dataclass
from importlib.resources import files
from typing import Any, Literal, get_origin

from denots.backbones import BACKBONES
from denots.errors import InvalidOption
from denots.registry import lookup
from denots.runs.spec import BackboneSpec, DatasetSpec, RunSpec
from denots.systems.trees import TreesConfig
from denots.training.config import TrainConfig

CONFIGS = {**{name: kind.Config for name, kind in BACKBONES.items()}, "trees": TreesConfig}
GROUPS = {"dataset": "data set", "backbone": "backbone", "protocol": "protocol"}


@dataclass
class Published:
    """What differs between data sets and protocols; the files of the backbones refer to it.

    The defaults are the published form.
    """

    depth: float = 30.0
    normalise: str = "batch"
    time_differences: bool = True
    initial: str = "zero"
    inflate: int = 1
    presence: bool = False
    holes: str = "bridge"
    discrete_holes: str = "bridge"
    clock: str = "index"
    static: bool = False
    beyond: str = "hold"
    encoder: str = "dopri5"
    encode_to: str = "first"
    transformer_layers: int = 1
    mamba_layers: int = 1
    positions: str = "index"
    rotary: str = "embedding"
    residual: bool = False
    feed_forward: int | None = 2048


def schema_of(config: type, without: Sequence[str] = (), **constants: str) -> type:
    """A dataclass that Hydra can read and change: not frozen, and text for what is one of several words."""
    members: list[Any] = [(name, str, field(default=value)) for name, value in constants.items()]
    for option in fields(config):
        if option.name in without:
            continue
        kind = str if get_origin(option.type) is Literal else option.type
        default = "???" if option.default is MISSING else option.default
        members.append((option.name, kind, field(default=default)))
    return make_dataclass(config.__name__, members)


def register_schema() -> None:
    """Tell Hydra the types of a run, and under `options` those of every backbone."""
    from hydra.core.config_store import ConfigStore

    dataset, train = schema_of(DatasetSpec), schema_of(TrainConfig, ["seed"])
    run = make_dataclass(
        "Run",
        [
            ("dataset", dataset, field(default_factory=dataset)),
            ("backbone", Any, field(default="???")),
            ("train", train, field(default_factory=train)),
            ("published", Published, field(default_factory=Published)),
            ("seed", int, field(default=0)),
            ("protocol", str, field(default="paper")),
        ],
    )
    store = ConfigStore.instance()
    store.store(name="run", node=run)
    for name, config in CONFIGS.items():
        store.store(group="options", name=name, node=schema_of(config, name=name))


def choices(group: str) -> list[str]:
    """The files of a group: what `dataset=` or `backbone=` may be."""
    folder = files("denots.configs").joinpath(group)
    return sorted(entry.name.removesuffix(".yaml") for entry in folder.iterdir() if entry.name.endswith(".yaml"))


def check_overrides(overrides: Sequence[str]) -> None:
    """Refuse unknown data sets, backbones and options, offering the nearest names."""
    from hydra.core.override_parser.overrides_parser import OverridesParser
    from hydra.errors import HydraException

    options = {option.name for config in CONFIGS.values() for option in fields(config)}
    known = {f"backbone.{name}" for name in options} | {"seed", "protocol", *GROUPS}
    known |= {f"dataset.{option.name}" for option in fields(DatasetSpec)} - {"dataset.name"}
    known |= {f"train.{option.name}" for option in fields(TrainConfig)} - {"train.seed"}
    known |= {f"published.{option.name}" for option in fields(Published)}
    for text in overrides:
        try:
            override = OverridesParser.create().parse_override(text)
            values = list(override.sweep_string_iterator()) if override.is_sweep_override() else [override.value()]
        except HydraException as error:
            raise InvalidOption(
                f"cannot read {text!r}; an override is written key=value, such as train.max_epochs=5."
            ) from error
        key = override.key_or_group
        if key.split(".")[0].split("/")[0] == "hydra":
            continue
        section = sorted(name for name in known if name.startswith(f"{key.split('.')[0]}."))
        lookup(dict.fromkeys(section or sorted(known), True) if key not in known else {key: True}, key, "option")
        for value in values if key in GROUPS else ():
            lookup(dict.fromkeys(choices(key), True), str(value), GROUPS[key])


def compose_spec(*overrides: str) -> RunSpec:
    """The run that `denots train` would make of these overrides."""
    return read_spec(compose_config(*overrides))


def compose_config(*overrides: str) -> Any:
    """The whole configuration, with what the files of data set and protocol tell those of the backbones."""
    from hydra import compose, initialize_config_module

    check_overrides(overrides)
    register_schema()
    with initialize_config_module("denots.configs", version_base="1.3"):
        return compose("train", overrides=list(overrides))


def backbone_spec(choice: str, published: Any) -> BackboneSpec:
    """A file of the group of backbones, read without composing the rest anew."""
    from omegaconf import OmegaConf

    lookup(dict.fromkeys(choices("backbone"), True), choice, GROUPS["backbone"])
    given: Any = OmegaConf.create(files("denots.configs").joinpath("backbone", f"{choice}.yaml").read_text())
    name = given.pop("defaults")[0]["/options@_here_"]
    schema = OmegaConf.structured(schema_of(CONFIGS[name]))
    config = OmegaConf.create({"published": published, "backbone": OmegaConf.merge(schema, given)})
    options: Any = OmegaConf.to_container(config.backbone, resolve=True, throw_on_missing=True)
    return BackboneSpec(name, options)


def read_spec(config: Any) -> RunSpec:
    """The run that a composed configuration describes."""
    from omegaconf import OmegaConf

    plain: Any = OmegaConf.to_container(config, resolve=True, throw_on_missing=True)
    options = dict(plain["backbone"])
    return RunSpec(
        dataset=DatasetSpec(**plain["dataset"]),
        backbone=BackboneSpec(options.pop("name"), options),
        train=TrainConfig(**plain["train"], seed=plain["seed"]),
        seed=plain["seed"],
        protocol=plain["protocol"],
    )
