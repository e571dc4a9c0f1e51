"""The runtime gives the bits of the whole package where there is NumPy and nothing else."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import denots
from denots import RowPredictor, SeriesClassifier, SeriesRegressor, SeriesSet, runtime
from denots.errors import InvalidFolder, InvalidOption, InvalidSeries, NotServed, SolverWarning
from denots.stream.snapshot import Snapshot
from denots.systems import SYSTEMS, Problem
from denots.systems.auto import Blend
from denots.systems.bagged import fit_bag
from denots.tasks import Regression

BLOCKED = ("torch", "sklearn", "pandas", "lightgbm", "safetensors", "scipy", "jaxtyping", "pyarrow", "rich", "typer")
# Modules of these names cannot be imported, as if they were not installed.
CODE = """
import sys

class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {blocked}:
            raise ModuleNotFoundError("No module named " + repr(name), name=name)

sys.meta_path.insert(0, Blocked())
import json
import numpy as np
from denots import SeriesSet, runtime

def answers(model, X):
    told = model.predict_proba(X) if hasattr(getattr(model.task, "of", model.task), "labels") else model.predict(X)
    return np.concatenate(told) if isinstance(told, list) else told

place = sys.argv[1]
X = SeriesSet.open(place + "/series")
found = {{}}
for name in json.loads(sys.argv[2]):
    model = runtime.load(place + "/" + name)
    found[name + " together"] = answers(model, X)
    found[name + " alone"] = np.concatenate([answers(model, X[[k]]) for k in range(len(X))])
    found[name + " backwards"] = answers(model, X[::-1])
    if name.endswith("rows"):
        stream = model.stream()
        for one in X:
            for time, row in zip(one.times, one.values):
                stream.push(one.id, float(time), dict(zip(X.channels, row.tolist())), static={{"s0": one.static[0]}}, start=-0.5)
        found[name + " streamed"] = np.array([answer.columns["p_1"] for answer in stream.now(9.5)])
np.savez(place + "/found.npz", **found)
print(json.dumps(sorted({{name.partition(".")[0] for name in sys.modules}} & set({blocked}))))
"""
FAST = {
    "max_epochs": 1,
    "batches_per_epoch": 2,
    "rounds": 8,
    "state_size": 8,
    "oscillators": 64,
    "filters": 64,
    "trees": 4,
    "budget": 8.0,
}
ROWS = {"running-trees", "running-gru", "running-denots", "running-auto", "cut-denots"}
AS_PUBLISHED = {"normalise": "batch", "inflate": 3, "holes": "zero", "initial": "zero", "method": "dopri5"}


def series(n: int, seed: int) -> SeriesSet:
    """Ragged, with holes, static features, a class, and a label a row."""
    rng = np.random.default_rng(seed)
    kind = rng.integers(0, 3, n)
    times = [np.sort(rng.uniform(0, 9, rng.integers(1, 14))) for _ in range(n)]
    values = [
        np.stack([k + np.sin(t * (1 + k)), rng.normal(size=len(t))], axis=1) for t, k in zip(times, kind, strict=True)
    ]
    for table in values:
        table[1:][rng.random(table[1:].shape) < 0.3] = np.nan
    return SeriesSet.from_arrays(
        times,
        values,
        target=kind,
        static=rng.normal(size=(n, 1)),
        start=-0.5,
        ids=[f"s{k}" for k in range(n)],
        row_target=[np.sin(t) > 0 for t in times],
    )


def fitted(name: str, task: str, more: dict[str, Any] | None = None) -> Any:
    options = {option: value for option, value in FAST.items() if option in SYSTEMS[name].options} | (more or {})
    train = series(60, 0)
    if task == "rows":
        return RowPredictor(name, options=options, random_state=0).fit(train)
    if task == "number":
        noise = 0.1 * np.random.default_rng(1).normal(size=len(train))
        return SeriesRegressor(name, options=options, random_state=0).fit(train.with_target(train.target + noise))
    target = train.target > 0 if task == "two" else train.target
    return SeriesClassifier(name, options=options, random_state=0).fit(train.with_target(target))


def blended(name: str, model: Any) -> Any:
    """What a blend makes of members that are fitted once a fold, each of which counts beside those of a model."""
    problem = Problem(model.task_, model.task_.pose(series(60, 0)), None)
    short = {"max_epochs": 1, "batches_per_epoch": 2, "rounds": 8, "trees": 4}
    members = dict(getattr(model.fitted_, "members", {}))
    for own, system in SYSTEMS[name].members.items():
        if system.holds_out:
            options = {option: value for option, value in short.items() if option in system.options}
            members[own] = fit_bag(system.with_options(**options), problem, 2, seed=0)
    base, weights = np.full(model.task_.outputs, 0.1), np.linspace(0.1, 0.3, len(members))
    model.system_ = SYSTEMS[name]
    model.fitted_ = Blend(task=model.task_, members=members, weights=weights, base=base)
    return model


def models() -> dict[str, Any]:
    """One of each served system and task; blends have members of both kinds."""
    found = {}
    for name in runtime.SERVED:
        numbers = ("two", "number") if SYSTEMS[name].serves(Regression) else ("two", "three")
        tasks = ("rows",) if name in ROWS else numbers
        for task in tasks if name not in ("auto", "running-auto") else ():
            found[f"{name}-{task}"] = fitted(name, task)
    assert len(found["fast-two"].fitted_.members) > 1
    found["auto-three"] = blended("auto", fitted("fast", "three"))
    found["running-auto-rows"] = blended("running-auto", fitted("running-trees", "rows"))
    for field in ("sync", "none", "tanh", "relu"):
        found[f"running-denots-{field}-rows"] = fitted("running-denots", "rows", {"field": field, "method": "dopri5"})
    found["running-gru-two"], found["running-denots-number"] = (
        fitted("running-gru", "two"),
        fitted("running-denots", "number"),
    )
    found["denots-published"] = fitted("denots", "three", AS_PUBLISHED | {"time_differences": False, "slopes": False})
    found["denots-embedded"] = fitted("denots", "three", {"normalise": "batch", "inflate": 2, "readout": "last"})
    return found


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("models")


@pytest.fixture(scope="module")
def saved(place: Path) -> dict[str, Any]:
    found = models()
    for name, model in found.items():
        model.save(place / name)
    return found


def test_every_served_system_has_the_same_bits_without_torch_and_in_any_batch(
    place: Path, saved: dict[str, Any]
) -> None:
    asked = series(21, 7)
    asked.save(place / "series")
    code = CODE.format(blocked=BLOCKED)
    done = subprocess.run(
        [sys.executable, "-c", code, str(place), json.dumps(list(saved))], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout.splitlines()[-1]) == []
    found = np.load(place / "found.npz")
    for name in saved:
        model = denots.load(place / name)
        told = model.predict(asked) if name.endswith("number") else model.predict_proba(asked)
        rows = told if isinstance(told, list) else [told[k : k + 1] for k in range(len(asked))]
        for way in ("together", "alone"):
            np.testing.assert_array_equal(found[f"{name} {way}"], np.concatenate(rows), err_msg=f"{name} {way}")
        np.testing.assert_array_equal(found[f"{name} backwards"], np.concatenate(rows[::-1]), err_msg=name)
        assert np.isfinite(np.concatenate(rows)).all()
        if name.endswith("rows"):
            at_end = [own[0, 1] for own in model.predict_proba(asked, [9.5])]
            np.testing.assert_array_equal(found[f"{name} streamed"], at_end)


def test_answers_are_those_of_predict_in_every_form_of_input(place: Path, saved: dict[str, Any]) -> None:
    asked = series(9, 3)
    bare = [(one.times, one.values) for one in asked]
    model = runtime.load(place / "trees-two")
    np.testing.assert_array_equal(model.predict(asked), denots.load(place / "trees-two").predict(asked))
    np.testing.assert_array_equal(model.classes, [False, True])
    with pytest.raises(InvalidSeries, match="fitted with static features s0; this set lacks s0"):
        model.predict(bare)
    table = asked.to_frame()
    np.testing.assert_array_equal(model.predict(table), denots.load(place / "trees-two").predict(table))


def test_a_model_is_shown_in_a_line(place: Path) -> None:
    shown = repr(runtime.load(place / "fast-two"))
    assert shown.startswith("RuntimeModel(ClassAnswers(labels=(")
    assert len(shown) < 200


def test_a_model_of_rows_answers_at_any_moment(place: Path, saved: dict[str, Any]) -> None:
    asked, at = series(6, 4), [4.5, 7.25]
    for name in sorted(ROWS):
        wanted = denots.load(place / f"{name}-rows").predict_proba(asked, at)
        for own, told in zip(runtime.load(place / f"{name}-rows").predict_proba(asked, at), wanted, strict=True):
            np.testing.assert_array_equal(own, told)


def test_a_stream_has_the_bits_of_predict_and_takes_over_a_snapshot_of_the_whole_package(
    place: Path, saved: dict[str, Any], tmp_path: Path
) -> None:
    asked = series(8, 5)
    rows = [
        (one.id, float(t), dict(zip(asked.channels, x.tolist(), strict=True)), float(one.static[0]))
        for one in asked
        for t, x in zip(one.times, one.values, strict=True)
    ]
    rows.sort(key=lambda row: row[1])
    for name in sorted(ROWS):
        streams = [load(place / f"{name}-rows").stream() for load in (denots.load, runtime.load)]
        for half in (rows[: len(rows) // 2], rows[len(rows) // 2 :]):
            for stream in streams:
                for id, time, values, static in half:
                    stream.push(id, time, values, static={"s0": static}, start=-0.5)
            told = [stream.now(9.5) for stream in streams]
            assert told[0] == told[1]
            streams[0].snapshot().write(tmp_path / name)
            streams[1].restore(Snapshot.read(tmp_path / name))
        wanted = denots.load(place / f"{name}-rows").predict_proba(asked, [9.5])
        found = {answer.id: answer.columns["p_1"] for answer in told[1]}
        assert found == {one.id: own[0, 1] for one, own in zip(asked, wanted, strict=True)}
    with pytest.raises(InvalidOption, match="cannot be asked row by row"):
        runtime.load(place / "trees-two").stream()


def test_a_series_that_cannot_be_read_or_solved_harms_no_other(place: Path, saved: dict[str, Any]) -> None:
    asked = series(4, 4)
    wild = SeriesSet.from_arrays(
        [one.times for one in asked],
        [np.where(k == 1, 1e300, 1.0) * one.values for k, one in enumerate(asked)],
        static=asked.static,
        start=asked.start,
    )
    model = runtime.load(place / "denots-number")
    with pytest.warns(SolverWarning, match=r"1 of 4 series have no answer: 1 \(could not be integrated"):
        told = model.predict(wild)
    assert np.isnan(told).tolist() == [False, True, False, False]
    np.testing.assert_array_equal(told[[0, 2, 3]], model.predict(asked)[[0, 2, 3]])


def test_every_system_is_served_or_refused_with_a_reason() -> None:
    assert set(runtime.SERVED) | set(runtime.UNSERVED) == set(SYSTEMS)
    assert not set(runtime.SERVED) & set(runtime.UNSERVED)


def test_models_that_need_torch_are_refused_with_the_reason(tmp_path: Path) -> None:
    fitted("gru", "two").save(tmp_path / "gru")
    with pytest.raises(NotServed, match="system 'gru' is not served without torch: its states are computed by torch"):
        runtime.load(tmp_path / "gru")
    fitted("denots", "two", {"stability": "certified"}).save(tmp_path / "certified")
    with pytest.raises(NotServed, match="stability 'certified' needs torch"):
        runtime.load(tmp_path / "certified")
    fitted("running-denots", "rows", {"backend": "reference", "state_size": 2}).save(tmp_path / "reference")
    with pytest.raises(NotServed, match="backend 'reference' needs torch"):
        runtime.load(tmp_path / "reference")


def test_a_damaged_folder_is_refused_as_by_the_whole_package(
    place: Path, saved: dict[str, Any], tmp_path: Path
) -> None:
    saved["trees-two"].save(tmp_path / "model")
    (tmp_path / "model" / "arrays.safetensors").write_bytes(b"")
    for load in (runtime.load, denots.load):
        with pytest.raises(InvalidFolder, match="truncated, changed or from another model"):
            load(tmp_path / "model")
        with pytest.raises(InvalidFolder, match="there is no such folder"):
            load(tmp_path / "nothing")


def test_questions_that_make_no_sense_are_refused(place: Path, saved: dict[str, Any]) -> None:
    asked = series(3, 4)
    with pytest.raises(InvalidOption, match="tells numbers and has no classes"):
        runtime.load(place / "trees-number").predict_proba(asked)
    with pytest.raises(InvalidOption, match="answers once a series"):
        runtime.load(place / "trees-number").predict(asked, [1.0])
