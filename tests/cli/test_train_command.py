"""Experiments from the command line: the published numbers, overrides, sweeps, and records."""

import json
from dataclasses import fields, replace
from pathlib import Path

import pytest

from cli.conftest import Run
from denots.datasets import DATASETS
from denots.runs.published import SETTINGS, published_run
from denots.runs.record import read_records
from denots.runs.run import run as run_spec
from denots.runs.spec import BackboneSpec, DatasetSpec, RunSpec
from denots.runs.words import read_run
from denots.systems import SYSTEMS
from denots.training.config import PUBLISHED, TrainConfig

from models import make_model

TINY = ["train.max_epochs=1", "train.batches_per_epoch=1", "train.batch_size=8", "backbone.state_size=3"]


@pytest.fixture(autouse=True)
def _own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_every_data_set_has_its_published_numbers() -> None:
    assert set(SETTINGS) == set(DATASETS)


@pytest.mark.parametrize("dataset", DATASETS)
def test_forecasts_start_from_the_data_and_see_no_batch_statistics(dataset: str) -> None:
    spec = published_run(dataset, "denots")
    assert spec.dataset.name == dataset
    forecasts = DATASETS[dataset].task == "forecast"
    found = [spec.backbone.options[name] for name in ("initial", "normalise", "time_differences")]
    assert found == (["first", "fixed", False] if forecasts else ["zero", "batch", True])


@pytest.mark.parametrize("backbone", SYSTEMS)
def test_every_backbone_spells_out_all_its_options(backbone: str) -> None:
    spec = published_run("pendulum", backbone).backbone
    assert set(spec.options) == {option.name for option in fields(SYSTEMS[backbone].configs[0])}
    if "state_size" in spec.options:
        model = make_model(spec.name, spec.options, "binary", 2, 0, 1)
        assert getattr(model.backbone, "states", model.backbone.state_size) == 32


def test_numbers_are_those_of_the_paper() -> None:
    assert published_run("pendulum", "denots").train == TrainConfig(
        **PUBLISHED, batch_size=128, learning_rate=1e-3, batches_per_epoch=256, max_epochs=1000, patience=3
    )
    assert published_run("pendulum-small", "denots").train == TrainConfig(
        **PUBLISHED, batch_size=128, learning_rate=1e-2, batches_per_epoch=128, max_epochs=1000, patience=3
    )
    assert published_run("sine-2", "denots").train == TrainConfig(
        **PUBLISHED,
        batch_size=128,
        learning_rate=1e-3,
        batches_per_epoch=256,
        max_epochs=50,
        patience=5,
        min_delta=1e-3,
    )
    assert published_run("sine-mix", "denots").train.max_epochs == 5
    assert published_run("uwgl", "denots").train == TrainConfig(
        **PUBLISHED, batch_size=128, learning_rate=1e-3, batches_per_epoch=32, max_epochs=1000, patience=3
    )
    assert published_run("insect-sound", "denots").train == published_run("pendulum", "denots").train
    assert published_run("sepsis", "denots").train == replace(
        published_run("pendulum", "denots").train, balanced_sampling=True
    )
    sepsis = published_run("sepsis", "denots")
    assert (sepsis.backbone.options["inflate"], sepsis.backbone.options["holes"]) == (100, "zero")
    assert published_run("sepsis-shift", "denots") == replace(sepsis, dataset=DatasetSpec("sepsis-shift"))
    gru_ode = published_run("pendulum", "gru-ode").backbone
    assert (gru_ode.name, gru_ode.options["field"], gru_ode.options["depth"]) == ("denots", "sync", 1.0)
    assert published_run("pendulum", "denots").backbone.options["field"] == "anti"


@pytest.mark.parametrize("dataset", ["pendulum", "sine-2"])
def test_the_ode_baselines_take_the_form_of_the_protocol(dataset: str) -> None:
    def options(name: str, protocol: str) -> dict:
        return published_run(dataset, name, protocol).backbone.options

    assert options("latent-ode", "paper").items() >= {"encoder": "dopri5", "encode_to": "first"}.items()
    assert options("latent-ode", "fair").items() >= {"encoder": "rk4", "encode_to": "start"}.items()
    for name in ("neural-cde", "neural-rde"):
        beyond = "decode" if DATASETS[dataset].task == "forecast" else "hold"
        published = {"clock": "index", "static": False, "presence": False, "beyond": beyond}
        assert options(name, "paper").items() >= published.items()
        assert options(name, "fair").items() >= {**published, "clock": "time", "static": True, "presence": True}.items()


@pytest.mark.parametrize(
    ("backbone", "parameters"),
    [("denots", 3552), ("gru", 3552), ("mamba2", 8120), ("tempformer", 137_664), ("roformer", 137_664)],
)
def test_pendulum_models_have_the_published_size(backbone: str, parameters: int) -> None:
    spec = published_run("pendulum", backbone).backbone
    model = make_model(spec.name, spec.options, "regression", 2, 0, 1)
    assert model.backbone.core_parameters == parameters


def test_a_run_is_recorded_as_it_would_be_without_the_command(run: Run, tmp_path: Path) -> None:
    shown = run("train", "dataset=bump", "dataset.size=40", "backbone=sync", "seed=2", *TINY, "--out", "here").stdout
    (record,) = read_records(tmp_path / "here" / "record.jsonl")
    assert record.spec == RunSpec(
        DatasetSpec("bump", size=40, seed=42),
        BackboneSpec("denots", {**record.spec.backbone.options, "field": "sync", "depth": 1.0, "state_size": 3}),
        TrainConfig(**PUBLISHED, learning_rate=1e-3, batch_size=8, max_epochs=1, patience=3, batches_per_epoch=1),
        seed=2,
    )
    alone = run_spec(record.spec)
    assert record.metrics == alone.metrics
    assert f"test AUROC   {alone.metrics['test']['AUROC']:.4f}" in shown
    assert "here/record.jsonl" in shown
    assert sorted(path.name for path in tmp_path.iterdir() if path.name != "home") == ["here"]


def test_the_same_folder_is_continued_and_a_finished_run_is_not_repeated(run: Run, tmp_path: Path) -> None:
    command = ["train", "dataset=bump", "dataset.size=40", *TINY, "--out", "here"]
    for last in (1, 2, 2):
        run(*command, f"train.max_epochs={last}")
    records = read_records(tmp_path / "here" / "record.jsonl")
    assert [len(record.curve) for record in records] == [1, 2]
    assert records[0].curve[0] == records[1].curve[0]
    assert "other settings" in run(*command, "seed=1", code=1).stderr


def test_a_sweep_runs_every_combination_and_outlives_a_failure(run: Run, tmp_path: Path) -> None:
    result = run(
        "train", "-m", "dataset=bump", "dataset.size=40", "backbone=denots,tanh", "backbone.depth=1,-1", *TINY,
        "--out", "sweep", code=1,
    )  # fmt: skip
    records = [record for file in sorted((tmp_path / "sweep").glob("*/record.jsonl")) for record in read_records(file)]
    assert [record.spec.backbone.options["field"] for record in records] == ["anti", "tanh"]
    assert result.stderr.count("error: depth must be a positive number; got -1.0.") == 2


def test_the_configuration_can_be_looked_at(run: Run) -> None:
    given = ["dataset=sine-2", "backbone=sync", "backbone.depth=7", "train.batches_per_epoch=none", "protocol=fair"]
    shown = run("train", *given, "--show").stdout.splitlines()
    assert {
        "dataset=sine-2",
        "backbone=denots",
        "backbone.field=sync",
        "backbone.depth=7.0",
        "train.batches_per_epoch=none",
    } <= set(shown)
    assert read_run(shown) == read_run(given)
    assert not Path("outputs").exists()


def test_without_a_name_every_command_has_a_new_folder(run: Run) -> None:
    run("train", "dataset=bump", "dataset.size=40", *TINY)
    run("train", "-m", "dataset=bump", "dataset.size=40", "seed=0,1", *TINY)
    assert len(list(Path("outputs").glob("*/*/record.jsonl"))) == 1
    assert sorted(path.parent.name for path in Path("multirun").glob("*/*/*/record.jsonl")) == ["0", "1"]


@pytest.mark.parametrize(
    ("override", "words"),
    [
        ("dataset=pendulm", "unknown data set 'pendulm'. Did you mean 'pendulum'"),
        ("backbone=denot", "unknown system 'denot'. Did you mean 'denots'"),
        ("backbone.depht=3", "unknown option 'backbone.depht'. Did you mean 'backbone.depth'"),
        ("backbon.depth=3", "unknown option 'backbon.depth'"),
        ("datset=bump", "unknown option 'datset'. Did you mean 'dataset'"),
        ("train.seed=1", "unknown option 'train.seed'"),
        ("train.max_epochs=many", "train.max_epochs=many: expected a whole number."),
        ("backbone.depth=deep", "backbone.depth=deep: expected a number."),
        ("backbone.normalise=often", "backbone.normalise=often: expected one of fixed, batch."),
        ("protocol=nice", "protocol is one of paper, fair, best; got 'nice'"),
        ("target=log", "standardised, centred, raw; got 'log'"),
        ("target=raw", "classification has no numbers"),
        ("dataset.size=2", "at least 3 series"),
        ("seed", "write key=value"),
        ("seed=-1", "not negative; got -1"),
        ("seed=0,1", "seed=0,1: expected a whole number."),
    ],
)
def test_a_wrong_override_is_one_line_and_exit_code_2(run: Run, override: str, words: str) -> None:
    result = run("train", "dataset=bump", override, code=2)
    assert words in result.stderr
    assert result.stderr.startswith("error: ")
    assert len(result.stderr.splitlines()) == 1


def test_records_are_plain_json(run: Run, tmp_path: Path) -> None:
    run("train", "dataset=pendulum-angles", "dataset.size=20", "backbone=gru-ode", *TINY, "--out", "here")
    (line,) = (tmp_path / "here" / "record.jsonl").read_text().splitlines()
    record = json.loads(line)
    assert set(record) >= {"spec", "versions", "metrics", "curve", "parameters", "evaluations", "seconds", "status"}
    assert set(record["metrics"]) == {"val", "test"}
    assert record["evaluations"]["max"] >= record["evaluations"]["mean"] > 0


def test_the_fair_protocol_tells_every_ode_where_values_are_missing() -> None:
    for backbone in ("denots", "sync", "gru-ode", "tanh"):
        published, fair = (published_run("pendulum", backbone, protocol) for protocol in ("paper", "fair"))
        assert (published.protocol, published.backbone.options["presence"], published.train.patience) == (
            "paper",
            False,
            3,
        )
        assert (fair.protocol, fair.backbone.options["presence"], fair.train.patience) == ("fair", True, 10)
        assert fair.backbone.options["normalise"] == "fixed"
