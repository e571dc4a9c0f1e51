"""Published runs, judged by the committed records: those were made by earlier versions of this table."""

from dataclasses import replace
from pathlib import Path

import pytest

from denots.datasets import DATASETS
from denots.errors import InvalidOption, UnknownName
from denots.experiments.runs import name_of
from denots.runs.published import SETTINGS, published_run
from denots.runs.record import RunRecord
from denots.runs.store import RunStore
from denots.systems import SYSTEMS, Trained
from denots.training.config import TrainConfig

RESULTS = Path(__file__).parents[2] / "results"
RECORDS = [
    record
    for record in (entry.record for entry in RunStore(RESULTS / "runs.jsonl").entries())
    if record.spec.backbone.name != "boosted-trees"  # of earlier versions
]
VARIED = {"depth", "tolerance", "learn_depth"}  # by experiments
# What the experiment on protocols changes one by one.
TRIED = {"normalise", "presence"}
THEN = {"stability": "free"}  # of records from before there was a choice
FIRST = "1d23e4892c9bd183"  # the name of the first committed record, as earlier versions gave it


def differing(record: RunRecord) -> set[str]:
    ours = published_run(record.spec.dataset.name, name_of(record), record.spec.protocol).backbone.options
    theirs = record.spec.backbone.options
    return {name for name in {*ours, *theirs} if ours.get(name, THEN.get(name)) != theirs.get(name, THEN.get(name))}


def test_every_recorded_run_has_the_published_options_but_for_what_its_experiment_varies() -> None:
    assert len(RECORDS) > 400
    odd = [record for record in RECORDS if differing(record) - VARIED]
    assert all(differing(record) - VARIED <= TRIED for record in odd)
    assert len(odd) < len(RECORDS) / 30


def test_every_recorded_run_was_trained_as_published_but_for_its_length() -> None:
    for record in RECORDS:
        told = published_run(record.spec.dataset.name, name_of(record), record.spec.protocol)
        length = {name: getattr(record.spec.train, name) for name in ("max_epochs", "batches_per_epoch", "seed")}
        assert replace(told.train, **length) == record.spec.train
        assert told.dataset.seed == record.spec.dataset.seed


def test_values_can_be_replaced() -> None:
    spec = published_run("bump", "tanh", seed=3, size=60, data_seed=7, options={"depth": 2.0}, train={"patience": 4})
    assert (spec.seed, spec.train.seed, spec.dataset.size, spec.dataset.seed) == (3, 3, 60, 7)
    assert (spec.backbone.options["depth"], spec.train.patience) == (2.0, 4)


def test_gru_ode_is_never_stretched() -> None:
    for dataset in ("pendulum", "sepsis", "sine-2"):
        assert published_run(dataset, "gru-ode", "fair").backbone.options["depth"] == 1.0


@pytest.mark.parametrize(
    ("names", "words"),
    [
        (("pendulm", "denots"), "Did you mean 'pendulum'"),
        (("bump", "denot"), "Did you mean 'denots'"),
    ],
)
def test_wrong_names_are_offered_the_nearest(names: tuple[str, str], words: str) -> None:
    with pytest.raises(UnknownName, match=words):
        published_run(*names)
    with pytest.raises(InvalidOption, match="paper, fair, best; got 'nice'"):
        published_run("bump", "denots", "nice")  # type: ignore[arg-type]


@pytest.mark.parametrize(("like", "depth", "initial"), [("bump", 10.0, "zero"), ("sine-2", 5.0, "first")])
def test_a_data_set_of_another_package_has_a_plain_setting(
    like: str, depth: float, initial: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(DATASETS, "mine", DATASETS[like])
    options = published_run("mine", "denots").backbone.options
    assert (options["depth"], options["initial"]) == (depth, initial)


def test_the_paper_learns_raw_numbers_and_the_fair_protocol_standardised_ones() -> None:
    for dataset, paper in (("pendulum", "raw"), ("sine-mix", "raw"), ("sine-2", "raw"), ("bump", "standardised")):
        told = [published_run(dataset, "denots", protocol).target for protocol in ("paper", "fair")]
        assert told == [paper, "standardised"]
    assert published_run("sine-mix", "sync", target="centred").target == "centred"


TRAINED = [name for name, system in SYSTEMS.items() if isinstance(system, Trained)]


@pytest.mark.parametrize("dataset", ["pendulum", "uwgl", "sepsis", "sine-2"])
def test_the_best_protocol_trains_all_alike_and_tells_each_what_it_can_read(dataset: str) -> None:
    told = {name: published_run(dataset, name, "best") for name in TRAINED}
    assert len({replace(run.train, learning_rate=1.0) for run in told.values()}) == 1
    assert len({run.target for run in told.values()}) == 1
    one = told["gru"].train
    assert (one.schedule, one.clip, one.weight_decay, one.choose) == ("one-cycle", 1.0, 0.01, "loss")
    everything = {"presence": True, "slopes": True, "time_differences": True, "clock": "time", "positions": "time"}
    everything |= {"holes": "bridge", "static": True, "normalise": "fixed", "readout": "last"}
    everything |= {"state_size": 32, "layers": 1, "inflate": 1}
    for name, run in told.items():
        options = run.backbone.options
        assert {key: options[key] for key in everything if key in options}.items() <= everything.items(), name
        assert options.get("depth") == SYSTEMS[name].options.get("depth")
    assert told["gru-ode"].backbone.options["depth"] == 1.0


def test_the_best_protocol_changes_training_and_slopes_against_the_fair_one() -> None:
    fair, best = (published_run("pendulum", "denots", protocol) for protocol in ("fair", "best"))
    changed = {name for name, value in best.backbone.options.items() if fair.backbone.options[name] != value}
    assert changed == {"depth", "slopes", "initial", "ages", "method", "tolerance", "predict_tolerance"}
    assert best.train == TrainConfig(schedule="one-cycle", max_epochs=SETTINGS["pendulum"].cycle)
    assert published_run("pendulum", "tempformer", "best").train.learning_rate == 1e-3
    assert (fair.dataset, fair.target) == (best.dataset, best.target)


def test_records_from_before_targets_had_units_keep_their_meaning_and_their_names() -> None:
    first = RECORDS[0].spec
    assert (first.dataset.name, first.target) == ("pendulum", "standardised")
    assert first.fingerprint == FIRST
    assert replace(first, target="raw").fingerprint != FIRST
