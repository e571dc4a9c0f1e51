"""Systems that learn from shards: the model of all series in memory, to rounding; batches that depend on the seed alone."""

from pathlib import Path

import numpy as np
import pytest
import torch

from denots import SeriesClassifier, SeriesRegressor, load
from denots.data import SeriesSet
from denots.data.partition import shard_table
from denots.data.schema import TableSchema
from denots.data.shards import ShardedSet
from denots.errors import InvalidFolder, InvalidOption, InvalidTarget
from denots.estimators import DeNOTSRegressor
from denots.heads import ridge_sums
from denots.systems import from_shards
from denots.systems.from_shards import ShardedInputs
from denots.training.loader import SHARDS_OPEN, draw_batches
from wave_series import waves

SCHEMA = TableSchema(id="id", time="time", target="target")
OPTIONS = {"oscillators": 16, "thresholds": 3}
QUICK = {"max_epochs": 2, "batches_per_epoch": 3, "batch_size": 16, "state_size": 4, "depth": 2.0}


@pytest.fixture(autouse=True)
def many(monkeypatch: pytest.MonkeyPatch) -> None:
    """A few series are as many."""
    monkeypatch.setattr(ridge_sums, "FEW", 0)


def sharded(series: SeriesSet, folder: Path, shards: int = 5) -> ShardedSet:
    file = folder / "table.parquet"
    series.to_frame().to_parquet(file)
    return shard_table(file, SCHEMA, folder / f"shards-{shards}", shards=shards)


@pytest.fixture(scope="module")
def levels(tmp_path_factory: pytest.TempPathFactory) -> ShardedSet:
    return sharded(waves(240), tmp_path_factory.mktemp("levels"))


@pytest.fixture(scope="module")
def classes(tmp_path_factory: pytest.TempPathFactory) -> ShardedSet:
    series = waves(240)
    assert series.target is not None
    words = np.array(["low", "medium", "high"])[np.digitize(series.target, [2.0, 3.0])]
    return sharded(series.with_target(words), tmp_path_factory.mktemp("classes"))


def whole(shards: ShardedSet) -> SeriesSet:
    return shards.select(np.arange(len(shards)))


def test_a_ridge_on_oscillators_is_that_of_all_series_in_memory(levels: ShardedSet) -> None:
    apart = SeriesRegressor("oscillators", options=OPTIONS, random_state=0).fit(levels)
    together = SeriesRegressor("oscillators", options=OPTIONS, random_state=0).fit(whole(levels))
    new = waves(50, seed=1)
    np.testing.assert_allclose(apart.predict(new), together.predict(new), atol=1e-4)
    assert apart.validation_score_ == pytest.approx(together.validation_score_, abs=1e-5)
    np.testing.assert_allclose(apart.calibration_.misfit, together.calibration_.misfit, atol=1e-4)
    np.testing.assert_array_equal(apart.ranges_.values[:, [0, 3]], together.ranges_.values[:, [0, 3]])
    np.testing.assert_allclose(apart.ranges_.counts, together.ranges_.counts)


def test_classes_are_calibrated_by_what_all_shards_say(classes: ShardedSet) -> None:
    apart = SeriesClassifier("summary", random_state=0).fit(classes)
    together = SeriesClassifier("summary", random_state=0).fit(whole(classes))
    new = waves(50, seed=1)
    np.testing.assert_array_equal(apart.classes_, ["high", "low", "medium"])
    np.testing.assert_allclose(apart.predict_proba(new), together.predict_proba(new), atol=1e-4)


def test_how_the_table_is_cut_changes_nothing_but_rounding(levels: ShardedSet, tmp_path: Path) -> None:
    more = sharded(waves(240), tmp_path, shards=12)
    few, many = (SeriesRegressor("summary", random_state=0).fit(shards) for shards in (levels, more))
    new = waves(30, seed=1)
    np.testing.assert_allclose(few.predict(new), many.predict(new), atol=1e-4)


def test_a_saved_model_forgets_where_it_learnt(levels: ShardedSet, tmp_path: Path) -> None:
    model = SeriesRegressor("oscillators", options=OPTIONS, random_state=0).fit(levels)
    model.save(tmp_path / "model")
    new = waves(20, seed=1)
    np.testing.assert_array_equal(load(tmp_path / "model").predict(new), model.predict(new))


def test_batches_from_shards_give_the_weights_of_the_same_batches_from_memory(
    levels: ShardedSet, monkeypatch: pytest.MonkeyPatch
) -> None:
    apart = SeriesRegressor("denots", options=QUICK, random_state=0).fit(levels)
    memory = whole(levels)

    class InMemory:
        """All series prepared at once, as for a table."""

        def __init__(self, shards: ShardedSet, rows: np.ndarray, prepare: object) -> None:
            self.inputs = prepare(memory.select(rows))  # type: ignore[operator]

        def __len__(self) -> int:
            return len(self.inputs)

        def select(self, rows: torch.Tensor) -> object:
            return self.inputs.select(rows)

    monkeypatch.setattr(from_shards, "ShardedInputs", InMemory)
    together = SeriesRegressor("denots", options=QUICK, random_state=0).fit(levels)
    new = waves(30, seed=1)
    np.testing.assert_array_equal(apart.predict(new), together.predict(new))
    assert [row["loss"] for row in apart.fitted_.curve] == [row["loss"] for row in together.fitted_.curve]


def test_an_interrupted_run_goes_on_and_other_data_are_refused(
    levels: ShardedSet, classes: ShardedSet, tmp_path: Path
) -> None:
    once = SeriesRegressor("denots", options={**QUICK, "schedule": "constant"}, random_state=0).fit(levels)
    place = {"random_state": 0, "checkpoint_dir": tmp_path / "run"}
    first = {**QUICK, "schedule": "constant", "max_epochs": 1}
    SeriesRegressor("denots", options=first, **place).fit(levels)
    again = SeriesRegressor("denots", options={**QUICK, "schedule": "constant"}, **place).fit(levels)
    new = waves(30, seed=1)
    np.testing.assert_array_equal(again.predict(new), once.predict(new))
    with pytest.raises(InvalidFolder, match="other data"):
        SeriesClassifier("denots", options=first, **place).fit(classes)


def test_series_are_read_from_their_shards_when_they_are_asked_for(levels: ShardedSet) -> None:
    rows = np.array([200, 3, 77])
    inputs = ShardedInputs(levels, rows, lambda series: series)  # type: ignore[arg-type, return-value]
    found = inputs.select(torch.tensor([2, 0]))
    assert found.ids.tolist() == whole(levels).ids[[77, 200]].tolist()  # type: ignore[attr-defined]


def test_an_epoch_takes_every_row_once_from_few_shards_at_a_time() -> None:
    shard = torch.arange(1000) % 20
    batches = draw_batches(1000, 10, 100, seed=3, shard=shard)
    assert torch.cat(batches).sort().values.tolist() == list(range(1000))
    assert max(len(shard[rows].unique()) for rows in batches) <= SHARDS_OPEN
    again = draw_batches(1000, 10, 100, seed=3, shard=shard)
    other = draw_batches(1000, 10, 100, seed=4, shard=shard)
    assert torch.equal(torch.cat(batches), torch.cat(again))
    assert not torch.equal(torch.cat(batches), torch.cat(other))


@pytest.mark.parametrize(
    ("system", "options", "words"),
    [
        ("trees", {}, "has to see all series at once"),
        ("auto", {}, "use system 'fast'"),
        ("denots", {"copies": 2}, "copies"),
        ("denots", {"balanced_sampling": True}, "balanced_sampling"),
    ],
)
def test_what_cannot_learn_from_shards_says_so(
    classes: ShardedSet, system: str, options: dict[str, object], words: str
) -> None:
    with pytest.raises(InvalidOption, match=words):
        SeriesClassifier(system, options=options).fit(classes)


def test_what_shards_cannot_tell_is_refused(levels: ShardedSet, tmp_path: Path) -> None:
    with pytest.raises(InvalidOption, match="groups"):
        SeriesRegressor("summary").fit(levels, groups=np.zeros(240))
    with pytest.raises(InvalidOption, match="system='denots'"):
        DeNOTSRegressor().fit(levels)
    waves(20).to_frame().drop(columns="target").to_parquet(tmp_path / "t.parquet")
    aimless = shard_table(tmp_path / "t.parquet", TableSchema(id="id", time="time"), tmp_path / "out", shards=2)
    with pytest.raises(InvalidTarget, match="--target"):
        SeriesRegressor("summary").fit(aimless)
