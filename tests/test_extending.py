"""Parts from outside the package: a task, a system, a field, a path and an entry point, without editing a file of ours."""

from dataclasses import dataclass, replace
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from sklearn.metrics import d2_tweedie_score
from torch.nn.functional import poisson_nll_loss

import denots
from cli.conftest import invoked
from denots.data.series import SeriesSet
from denots.errors import InvalidFolder, InvalidOption, InvalidTarget, UnknownName
from denots.fields import FIELDS, VectorField
from denots.paths import PATHS
from denots.paths.linear import Linear
from denots.registry import Registry
from denots.systems import SYSTEMS, Fitted, Problem, Shape, State, System
from denots.tasks import TASKS, Comparison, Judge, Part, Task
from denots.training.model import Output
from wave_series import waves

OPTIONS = {"max_epochs": 2, "batches_per_epoch": 2, "state_size": 4}


@dataclass(frozen=True)
class Counts(Task):
    """How often something happened: a Poisson rate for each series."""

    rate: float

    name = "counts"
    baseline = "mean"
    learns = "numbers"

    @classmethod
    def suits(cls, target: Any) -> str | None:
        return None  # only when it is asked for by name

    @classmethod
    def read(cls, *sets: SeriesSet) -> "Counts":
        return cls(float(np.mean(sets[0].target)))

    def pose(self, series: SeriesSet) -> Part:
        return Part(series, torch.from_numpy(np.asarray(series.target, dtype=np.float64))[:, None])

    def check(self, part: Part) -> None:
        if (part.target < 0).any():
            raise InvalidTarget("a count is not negative.")

    def calibrated(self, train: Part) -> "Counts":
        return self

    @property
    def outputs(self) -> int:
        return 1

    @property
    def metric_name(self) -> str:
        return "D2"

    def loss(self, outputs: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
        return poisson_nll_loss(outputs, target.to(outputs.dtype))

    def metric(self, outputs: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
        return torch.tensor(d2_tweedie_score(target[:, 0], outputs.nan_to_num()[:, 0].exp(), power=1))

    def answer(self, outputs: torch.Tensor) -> torch.Tensor:
        return outputs.exp()

    def compare(self, outputs: torch.Tensor, part: Part) -> Comparison:
        rates, trivial = self.answer(outputs).numpy(), np.full(outputs.shape, self.rate)
        failed = np.isnan(rates).any(axis=1)
        return Comparison(part.target.numpy(), np.where(failed[:, None], trivial, rates), trivial, failed)

    def judge(self, answers: np.ndarray, truth: np.ndarray) -> Judge:
        return lambda rows: {"D2": d2_tweedie_score(truth[rows, 0], answers[rows, 0], power=1)}

    def rows(self, told: Comparison) -> dict[str, np.ndarray]:
        return {"truth": told.truth[:, 0], "answer": told.answers[:, 0]}

    def columns(self, answers: np.ndarray) -> dict[str, np.ndarray]:
        return {"rate": answers[:, 0]}

    def state(self) -> dict[str, Any]:
        return {"rate": self.rate}

    @classmethod
    def restore(cls, state: dict[str, Any]) -> "Counts":
        return cls(float(state["rate"]))


@dataclass(frozen=True)
class NearestConfig:
    neighbours: int = 1


@dataclass(frozen=True, kw_only=True, eq=False)
class Remembered(Fitted):
    means: np.ndarray
    answers: torch.Tensor
    neighbours: int

    def outputs(self, series: SeriesSet, at: Any = None) -> Output:
        distance = np.linalg.norm(means_of(series)[:, None] - self.means, axis=2)
        near = distance.argsort(axis=1, kind="stable")[:, : self.neighbours]
        return Output(self.answers[torch.from_numpy(near)].mean(dim=1), torch.ones(len(series), dtype=torch.bool))

    def state(self) -> State:
        return State({}, {"means": self.means, "answers": self.answers.numpy()})


@dataclass(frozen=True)
class Nearest(System):
    """The outputs of the series with the most similar mean."""

    name: str = "nearest"
    description: str = "Nearest neighbour by channel means."
    config: NearestConfig = NearestConfig()

    @property
    def configs(self) -> tuple[Any, ...]:
        return (self.config,)

    def with_options(self, **options: Any) -> "Nearest":
        return replace(self, config=replace(self.config, **options))

    def check(self, task: Task, shape: Shape) -> None:
        if task.learns != "numbers":
            raise InvalidOption("nearest knows numbers only.")

    def fit(self, problem: Problem, *, seed: int, **_: Any) -> Remembered:
        answers = torch.from_numpy(problem.task.table(problem.train.target))
        return Remembered(
            task=problem.task,
            score=0.0,
            loss=0.0,
            means=means_of(problem.train.series),
            answers=answers,
            neighbours=self.config.neighbours,
        )

    def restore(self, task: Task, shape: Shape, state: State) -> Remembered:
        arrays = state.arrays
        answers = torch.from_numpy(arrays["answers"])
        return Remembered(task=task, means=arrays["means"], answers=answers, neighbours=self.config.neighbours)


def means_of(series: SeriesSet) -> np.ndarray:
    return np.stack([np.nan_to_num(np.nanmean(one.values, axis=0)) for one in series])


class Decay(VectorField):
    """dh/dt = x[0] - h, with nothing to learn and no input map."""

    def __init__(self, input_size: int, state_size: int) -> None:
        super().__init__()
        self.input_size, self.state_size = input_size, state_size

    def forward(self, t: torch.Tensor, x: torch.Tensor, h: torch.Tensor) -> torch.Tensor:
        return x[:, :1] - h


@pytest.fixture
def counts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(TASKS, "counts", Counts)


def counted(n: int = 40) -> SeriesSet:
    series = waves(n)
    return series.with_target(np.random.default_rng(0).poisson(series.target))


@pytest.mark.usefixtures("counts")
def test_a_task_from_outside_is_fitted_saved_and_told_by_every_kind_of_system(tmp_path: Path) -> None:
    series = counted()
    for system, options in (("denots", OPTIONS), ("gru", OPTIONS), ("trees", {"rounds": 5})):
        model = denots.SeriesPredictor(system, task=Counts, options=options, random_state=0).fit(series)
        assert (model.predict(series) > 0).all()
        model.save(tmp_path / system)
        again = denots.load(tmp_path / system)
        np.testing.assert_array_equal(again.predict(series), model.predict(series))
        assert list(again.predict_table(series)) == ["id", "rate", "status"]
        assert again.evaluate(series).metrics["D2"].baseline == 0.0


@pytest.mark.usefixtures("counts")
def test_a_task_from_outside_serves_the_command_line(tmp_path: Path) -> None:
    series = counted()
    owner = series.owner()
    table = pd.DataFrame({"id": series.ids[owner], "time": series.times, "level": series.values[:, 0]})
    table["events"] = series.target[owner]
    table.to_csv(tmp_path / "events.csv", index=False)
    fit = ["fit", tmp_path / "events.csv", "--target", "events", "--task", "counts", "--system", "trees"]
    assert "task: counts (as asked)" in invoked(*fit, "--out", tmp_path / "m").stdout
    invoked("predict", tmp_path / "m", tmp_path / "events.csv", "-o", tmp_path / "p.csv")
    found = pd.read_csv(tmp_path / "p.csv", float_precision="round_trip")
    np.testing.assert_array_equal(found["rate"], denots.load(tmp_path / "m").predict(table)[:, 0])
    assert "D2" in invoked("evaluate", tmp_path / "m", tmp_path / "events.csv").stdout


def test_a_model_of_an_unknown_task_says_what_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setitem(TASKS, "counts", Counts)
        denots.SeriesPredictor("trees", task="counts", options={"rounds": 5}).fit(counted()).save(tmp_path / "m")
    with pytest.raises(InvalidFolder, match="unknown task 'counts'"):
        denots.load(tmp_path / "m")


def test_a_system_from_outside_serves_every_estimator(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    series = waves()
    model = denots.SeriesRegressor(Nearest(), options={"neighbours": 1}, random_state=0).fit(series)
    means = means_of(series)
    learnt = model.fitted_.means
    nearest = [int(np.linalg.norm(learnt - mean, axis=1).argmin()) for mean in means]
    kept = [int(np.flatnonzero((means == row).all(axis=1))[0]) for row in learnt]
    np.testing.assert_allclose(model.predict(series), series.target[[kept[k] for k in nearest]])
    with pytest.raises(InvalidOption, match="register it first"):
        model.save(tmp_path / "m")
    assert not (tmp_path / "m").exists()
    monkeypatch.setitem(SYSTEMS, "nearest", Nearest())
    model.save(tmp_path / "m")
    np.testing.assert_array_equal(denots.load(tmp_path / "m").predict(series), model.predict(series))
    with pytest.raises(InvalidOption, match="numbers only"):
        denots.SeriesClassifier("nearest").fit(series, series.target > 2)


def test_a_field_and_a_path_are_classes_passed_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Straight(Linear):
        """The same as ours under another name."""

    series = waves()
    options = {**OPTIONS, "field": Decay, "path": Straight, "backend": "reference"}
    model = denots.SeriesRegressor("denots", options=options, random_state=0).fit(series)
    with pytest.raises(InvalidOption, match=r"field Decay has no name.*FIELDS\['decay'\] = Decay"):
        model.save(tmp_path / "m")
    monkeypatch.setitem(FIELDS, "decay", Decay)
    monkeypatch.setitem(PATHS, "straight", Straight)
    model.save(tmp_path / "m")
    np.testing.assert_array_equal(denots.load(tmp_path / "m").predict(series), model.predict(series))
    named = {**OPTIONS, "field": "decay", "path": "linear", "backend": "reference"}
    other = denots.SeriesRegressor("denots", options=named, random_state=0).fit(series)
    np.testing.assert_array_equal(other.predict(series), model.predict(series))


def test_a_field_without_an_input_map_cannot_be_embedded() -> None:
    options = {**OPTIONS, "field": Decay, "inflate": 3, "backend": "reference"}
    with pytest.raises(InvalidOption, match="Decay has no input map"):
        denots.SeriesRegressor("denots", options=options).fit(waves())


def test_an_entry_point_is_loaded_when_its_name_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    points = [EntryPoint("decay", "test_extending:Decay", "denots.fields")]
    monkeypatch.setattr("importlib.metadata.entry_points", lambda group: points if group == "denots.fields" else [])
    registry: Registry[type[VectorField]] = Registry("field", dict(FIELDS))
    assert "decay" not in registry
    assert registry.find("decay").__name__ == "Decay"
    assert "decay" in registry.complete()
    with pytest.raises(UnknownName, match="Did you mean 'decay'"):
        registry.find("decey")
