"""Runs and their records: judged by scikit-learn on the saved weights, and by running them again."""

import json
from dataclasses import replace
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pytest
import torch
from sklearn.metrics import accuracy_score, mean_squared_error, r2_score, roc_auc_score

from denots.data.hide import hide_for_forecasting
from denots.data.series import SeriesSet
from denots.datasets import DATASETS, Dataset, DerivedRecipe, Splits, load
from denots.datasets.imports import import_source
from denots.errors import InvalidFolder, InvalidOption, OutOfTime, UnknownName
from denots.runs.record import FILE, RunRecord, append_record, find_record, read_records
from denots.runs.run import Trial, read_problem, run
from denots.runs.spec import BackboneSpec, DatasetSpec, RunSpec
from denots.tasks.scale import Units
from denots.training.checkpoint import Checkpoint
from denots.training.config import TrainConfig
from denots.training.fit import CHECKPOINT
from denots.training.model import Model, run_model

from models import make_model
from published_files import gestures, write_ts

SHORT = TrainConfig(learning_rate=1e-2, batch_size=8, batches_per_epoch=2, max_epochs=2, choose="metric")
SMALL = BackboneSpec("denots", {"state_size": 4, "depth": 2.0, "presence": False, "ages": False, "readout": "last"})
BUMP = RunSpec(DatasetSpec("bump", size=40), SMALL, SHORT)
MIX = RunSpec(DatasetSpec("sine-mix", size=64), SMALL, SHORT)
ANGLES = RunSpec(DatasetSpec("pendulum-angles", size=24), SMALL, SHORT)


def restored(folder: Path, spec: RunSpec, task: str) -> Model:
    """The model of a run, built anew from the best weights in its checkpoint."""
    model = make_model("denots", spec.backbone.options, task, 1, 0, 1, seed=99)
    model.load_state_dict(Checkpoint.read(folder / CHECKPOINT).best)
    return model.eval()


def test_binary_metrics_are_those_of_scikit_learn(tmp_path: Path) -> None:
    record = run(BUMP, tmp_path)
    model = restored(tmp_path, BUMP, "binary")
    for split in ("val", "test"):
        series = getattr(load("bump", size=40).splits, split)
        output = run_model(model, model.backbone.prepare(series))
        assert record.metrics[split]["AUROC"] == pytest.approx(roc_auc_score(series.target, output.outputs[:, 0]))
    counts = output.evaluations
    assert counts is not None
    assert record.evaluations == {"mean": pytest.approx(float(counts.double().mean())), "max": int(counts.max())}
    assert record.parameters == sum(parameter.numel() for parameter in model.parameters())
    assert (record.status, record.failed) == ("ok", 0)


def test_regression_metrics_are_those_of_scikit_learn(tmp_path: Path) -> None:
    record = run(MIX, tmp_path)
    model = restored(tmp_path, MIX, "regression")
    series = load("sine-mix", size=64).splits.test
    outputs = run_model(model, model.backbone.prepare(series)).outputs[:, 0].numpy()
    target = load("sine-mix", size=64).splits.train.target
    scaled = (series.target - target.mean()) / target.std()
    assert record.metrics["test"]["R2"] == pytest.approx(r2_score(scaled, outputs), abs=1e-5)
    assert record.metrics["test"]["loss"] == pytest.approx(mean_squared_error(scaled, outputs), rel=1e-5)


def test_a_forecast_is_judged_at_the_hidden_rows(tmp_path: Path) -> None:
    record = run(ANGLES, tmp_path)
    model = restored(tmp_path, ANGLES, "forecast")
    hidden = hide_for_forecasting(load("pendulum-angles", size=24).splits.test)
    output = run_model(model, model.backbone.prepare(hidden.visible), torch.from_numpy(hidden.at))
    learnt = hide_for_forecasting(load("pendulum-angles", size=24).splits.train).answers
    told = output.outputs.numpy() * np.nanstd(learnt) + np.nanmean(learnt)
    assert record.metrics["test"]["R2"] == pytest.approx(r2_score(hidden.answers.ravel(), told.ravel()), abs=1e-5)
    assert hidden.target.shape == (len(hidden.at), 24, 2)  # 8 of 32 rows are seen
    np.testing.assert_array_equal(hidden.target[..., 1].sum(axis=1), 16)


def test_the_last_state_of_training_is_not_what_is_judged(tmp_path: Path) -> None:
    one_tolerance = BackboneSpec("denots", {**SMALL.options, "predict_tolerance": None})
    fast = replace(SHORT, learning_rate=0.3, max_epochs=4)
    record = run(replace(MIX, backbone=one_tolerance, train=fast), tmp_path)
    best = max(row["val_metric"] for row in record.curve)
    assert record.metrics["val"]["R2"] == pytest.approx(best, abs=1e-5)


def test_a_run_depends_on_its_spec_alone() -> None:
    first, torch_draw = run(BUMP), torch.rand(())
    assert run(BUMP).metrics == first.metrics
    assert run(replace(BUMP, seed=1)).metrics != first.metrics
    assert torch_draw != torch.rand(())


def test_a_continued_run_ends_as_an_uninterrupted_one(tmp_path: Path) -> None:
    shorter, longer = (replace(BUMP, train=replace(SHORT, schedule="constant", max_epochs=k)) for k in (2, 4))
    run(shorter, tmp_path / "twice")
    twice, once = run(longer, tmp_path / "twice"), run(longer, tmp_path / "once")
    assert twice.metrics == once.metrics
    assert [row["loss"] for row in twice.curve] == [row["loss"] for row in once.curve]
    assert len(read_records(tmp_path / "twice" / FILE)) == 2


def test_a_recorded_run_is_not_run_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    record = run(BUMP, tmp_path)
    monkeypatch.setattr("denots.runs.run.load", None)  # whoever calls it fails
    assert run(BUMP, tmp_path) == record


def test_a_folder_belongs_to_one_run(tmp_path: Path) -> None:
    run(BUMP, tmp_path)
    with pytest.raises(InvalidFolder, match="other settings"):
        run(replace(BUMP, seed=1), tmp_path)
    assert len(read_records(tmp_path / FILE)) == 1


def test_series_that_cannot_be_solved_show_in_the_status() -> None:
    lost = run(replace(BUMP, backbone=BackboneSpec("denots", {**SMALL.options, "max_steps": 1})))
    assert lost.status == "all-failed"
    assert lost.failed == len(load("bump", size=40).splits.test)
    assert lost.metrics["test"]["loss"] is None


def test_several_classes_have_an_output_each() -> None:
    values = [np.full(3, float(k % 3)) for k in range(9)]
    one = SeriesSet.from_arrays([np.arange(3.0)] * 9, values, target=np.array(["a", "b", "c"] * 3))
    problem = read_problem(Dataset("letters", "classification", Splits(one, one.select([1, 2]), one.select([2]))))
    assert problem.task.outputs == 3
    assert [part.target.tolist() for part in (problem.train, problem.val, problem.test)] == [[0, 1, 2] * 3, [1, 2], [2]]
    model = make_model("denots", SMALL.options, "multiclass", 1, 0, 3, seed=0)
    outputs = run_model(model, model.backbone.prepare(problem.train.series)).outputs
    expected = accuracy_score(problem.train.target, outputs.argmax(dim=1))
    assert float(model.task.metric(outputs, problem.train.target)) == pytest.approx(expected)


class TestRecords:
    def test_a_record_survives_its_line_of_json(self, tmp_path: Path) -> None:
        record = run(BUMP)
        append_record(record, tmp_path / FILE)
        append_record(replace(record, failed=7), tmp_path / FILE)
        assert [found.failed for found in read_records(tmp_path / FILE)] == [0, 7]
        assert read_records(tmp_path / FILE)[0] == record
        assert find_record(tmp_path / FILE, BUMP).failed == 7
        assert find_record(tmp_path / FILE, MIX) is None

    def test_undefined_numbers_become_null(self, tmp_path: Path) -> None:
        record = replace(run(BUMP), curve=[{"loss": float("nan"), "val_metric": float("inf")}])
        assert json.loads(record.to_json())["curve"] == [{"loss": None, "val_metric": None}]

    def test_a_damaged_line_is_named(self, tmp_path: Path) -> None:
        run(BUMP, tmp_path)
        with (tmp_path / FILE).open("a") as file:
            file.write('{"spec": {}}\n')
        with pytest.raises(InvalidFolder, match="line 2 is not a run record"):
            read_records(tmp_path / FILE)


class TestSpecs:
    def test_a_spec_survives_as_plain_values(self) -> None:
        assert RunSpec.from_dict(json.loads(json.dumps(MIX.as_dict()))) == MIX

    def test_unknown_names_bring_the_nearest(self) -> None:
        with pytest.raises(UnknownName, match="'denots'"):
            run(replace(BUMP, backbone=BackboneSpec("denot")))
        with pytest.raises(UnknownName, match="'depth'"):
            run(replace(BUMP, backbone=BackboneSpec("denots", {"depht": 1})))
        with pytest.raises(UnknownName, match="'bump'"):
            run(replace(BUMP, dataset=DatasetSpec("bum")))

    def test_a_run_has_one_seed(self) -> None:
        assert replace(BUMP, seed=3, train=SHORT).train.seed == 3
        with pytest.raises(InvalidOption, match=r"set RunSpec\.seed only"):
            RunSpec(BUMP.dataset, train=TrainConfig(seed=5))

    def test_the_protocol_is_a_known_one(self) -> None:
        with pytest.raises(InvalidOption, match="paper, fair, best"):
            replace(BUMP, protocol="easy")

    def test_splits_too_small_for_r2_are_refused(self) -> None:
        with pytest.raises(InvalidOption, match="larger size"):
            run(replace(MIX, dataset=DatasetSpec("sine-mix", size=10)))


def _append_many(file: Path, record: RunRecord, times: int) -> None:
    for _ in range(times):
        append_record(record, file)


def test_processes_that_write_at_once_lose_no_record(tmp_path: Path) -> None:
    file, record = tmp_path / FILE, run(BUMP)
    writers = [get_context("spawn").Process(target=_append_many, args=(file, record, 20)) for _ in range(3)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert read_records(file) == [record] * 60


def test_a_line_cut_off_by_a_crash_is_dropped_by_the_next_writer(tmp_path: Path) -> None:
    file, record = tmp_path / FILE, run(BUMP)
    append_record(record, file)
    whole = file.read_bytes()
    file.write_bytes(whole + whole[: len(whole) // 2])
    assert read_records(file) == [record]
    append_record(record, file)
    assert file.read_bytes() == whole * 2


def test_measures_see_the_best_weights_and_end_in_the_record(tmp_path: Path) -> None:
    def norm(model: Model, problem: Trial) -> float:
        return float(sum(p.detach().square().sum() for p in model.parameters()))

    record = run(BUMP, tmp_path, measures={"norm": norm})
    assert record.extra == {"norm": norm(restored(tmp_path, BUMP, "binary"), None)}
    assert find_record(tmp_path / FILE, BUMP) == record


def test_a_run_that_meets_its_deadline_goes_on_later_to_the_same_end(tmp_path: Path) -> None:
    with pytest.raises(OutOfTime, match="after 1 epoch"):
        run(BUMP, tmp_path, deadline=0.0)
    later, at_once = run(BUMP, tmp_path), run(BUMP)
    assert later.metrics == at_once.metrics
    assert len(later.curve) == 2


def test_the_protocol_of_a_run_decides_the_gaps_of_its_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    recipe = DATASETS["uwgl"]
    assert isinstance(recipe, DerivedRecipe)
    write_ts(tmp_path, "UWaveGestureLibrary", gestures())
    import_source(recipe.source, [tmp_path])
    seen = []

    def watched(dataset: Dataset, target: Units) -> Trial:
        seen.append(int(np.isnan(dataset.splits.train.values).sum()))
        return read_problem(dataset, target)

    monkeypatch.setattr("denots.runs.run.read_problem", watched)
    for protocol in ("fair", "paper", "best"):
        record = run(RunSpec(DatasetSpec("uwgl"), SMALL, SHORT, protocol=protocol))
        assert record.spec.protocol == protocol
        assert 0 <= record.metrics["test"]["accuracy"] <= 1
    assert seen[0] == seen[2] == 16 * 12 * 3
    assert seen[1] == int(np.isnan(load("uwgl", protocol="paper").splits.train.values).sum()) < seen[0]


@pytest.mark.parametrize("system", ["summary", "trees", "denots"])
def test_raw_targets_are_learnt_and_judged_in_their_own_unit(system: str, tmp_path: Path) -> None:
    chosen = SMALL if system == "denots" else BackboneSpec(system)
    raw, standard = (run(replace(MIX, backbone=chosen, target=units)) for units in ("raw", "standardised"))
    truth = load("sine-mix", size=64).splits
    spread = truth.train.target.std()
    for record, unit in ((raw, 1.0), (standard, spread)):
        errors = (1 - record.metrics["test"]["R2"]) * truth.test.target.var()
        assert record.metrics["test"]["loss"] * unit**2 == pytest.approx(errors, rel=1e-4)
    if system == "denots":  # which has two short epochs to find the offset of twelve
        assert raw.metrics["test"]["R2"] < standard.metrics["test"]["R2"] - 1
    else:
        assert raw.metrics["test"]["R2"] == pytest.approx(standard.metrics["test"]["R2"], abs=1e-4)
