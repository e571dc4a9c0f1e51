"""A run in the words of `denots train`: `dataset=bump backbone.depth=10 train.max_epochs=2 seed=1`."""

from collections.abc import Sequence
from dataclasses import asdict, fields

from denots.datasets import DATASETS
from denots.options import parse, read_value, split
from denots.protocol import DEFAULT_PROTOCOL, check_protocol
from denots.registry import lookup
from denots.runs.published import own_run, published_run
from denots.runs.spec import DatasetSpec, RunSpec
from denots.systems import SYSTEMS
from denots.tasks.scale import check_units
from denots.training.config import TrainConfig

WHOLE = {
    "dataset": "pendulum",
    "backbone": "denots",
    "protocol": DEFAULT_PROTOCOL,
    "target": "",  # as the protocol has it
    "recipe": "published",
    "seed": "0",
}
RECIPES = {"published": published_run, "own": own_run}


def read_run(words: Sequence[str]) -> RunSpec:
    """The published run with what the words replace; a later word wins over an earlier one.

    With `recipe=own` it starts from the options that a system has by itself instead of the published ones.
    """
    whole: dict[str, str] = dict(WHOLE)
    parts: dict[str, list[str]] = {"dataset": [], "backbone": [], "train": []}
    for word in words:
        key, value = split(word)
        section, dot, name = key.partition(".")
        if dot and section in parts:
            parts[section].append(f"{name}={value}")
        else:
            whole[lookup({known: known for known in (*WHOLE, *_dotted())}, key, "option")] = value
    DATASETS.find(whole["dataset"])
    options = type(SYSTEMS.find(whole["backbone"]).configs[0])
    data = parse(DatasetSpec, parts["dataset"], without=("name",), prefix="dataset.")
    return lookup(RECIPES, whole["recipe"], "recipe")(
        whole["dataset"],
        whole["backbone"],
        check_protocol(whole["protocol"]),
        seed=read_value(whole["seed"], int, "seed"),
        size=data.get("size"),
        data_seed=data.get("seed"),
        options=parse(options, parts["backbone"], prefix="backbone."),
        train=parse(TrainConfig, parts["train"], without=("seed",), prefix="train."),
        target=check_units(whole["target"]) if whole["target"] else None,
    )


def in_words(spec: RunSpec) -> list[str]:
    """Every value of a run, each as `denots train` would be told it."""
    options = spec.backbone.options
    data, train = asdict(spec.dataset), asdict(spec.train)
    values = {
        "dataset": data.pop("name"),
        "backbone": spec.backbone.name,
        "protocol": spec.protocol,
        "target": spec.target,
        "seed": train.pop("seed"),
        **{f"dataset.{name}": value for name, value in data.items()},
        **{f"train.{name}": value for name, value in train.items()},
        **{f"backbone.{name}": value for name, value in options.items()},
    }
    return [
        f"{key}={str(value).lower() if value is None or isinstance(value, bool) else value}"
        for key, value in values.items()
    ]


def _dotted() -> list[str]:
    """Names of the sections' options that every run has."""
    return [
        f"{section}.{o.name}"
        for section, part in (("dataset", DatasetSpec), ("train", TrainConfig))
        for o in fields(part)
    ]
