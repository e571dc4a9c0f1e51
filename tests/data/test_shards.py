"""Sets larger than memory: the same series as from memory, the same errors, and no byte changed unseen."""

import gzip
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from denots.data import SeriesSet
from denots.data import table_stream as streams
from denots.data.partition import shard_table
from denots.data.schema import TableSchema
from denots.data.shards import ShardedSet
from denots.data.statistics import Statistics
from denots.data.table_file import read_table
from denots.errors import DenotsError, InvalidFolder, InvalidOption, InvalidTable, SkippedSeries
from wave_series import waves

PLAIN = TableSchema(id="id", time="time", target="target")


def in_order(found: ShardedSet, ids: list[object]) -> SeriesSet:
    """All series, in the order of the ids."""
    whole = found.select(np.arange(len(found)))
    place = {name: k for k, name in enumerate(whole.ids.tolist())}
    return whole.select([place[name] for name in ids])


def messy(file: Path) -> TableSchema:
    """Rows of all series in any order, dates with zones, text as a static feature, twins, quoted line breaks."""
    rng = np.random.default_rng(0)
    n = 400
    who = rng.integers(0, 40, n)
    table = pd.DataFrame(
        {
            "who": [f"00{k}" for k in who],
            "when": pd.Timestamp("2024-03-01", tz="UTC") + pd.to_timedelta(rng.integers(0, 5000, n), unit="min"),
            "ward": np.array(["er", 'i"c\nu', "home"])[who % 3],
            "pulse": rng.normal(70, 10, n).round(2),
            "note": rng.integers(0, 5, n),
            "age": 20 + who,
            "outcome": np.where(who % 2, "ill", "NA"),
        }
    )
    table["pulse"] = table["pulse"].astype(object).mask(rng.random(n) < 0.2, "n/a")
    table.to_csv(file, index=False)
    return TableSchema(
        id="who",
        time="when",
        target="outcome",
        static=("ward", "age"),
        time_unit="h",
        sort=True,
        duplicates="mean",
        na=("n/a",),
    )


@pytest.mark.parametrize("shards", [1, 20])
def test_shards_hold_the_series_that_the_table_holds_in_memory(
    tmp_path: Path, shards: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(streams, "CHUNK", 2000)  # many pieces, quoted line breaks across them
    schema = messy(tmp_path / "visits.csv")
    expected = schema.learn(read_table(tmp_path / "visits.csv", id="who", texts=schema.texts))
    found = shard_table(tmp_path / "visits.csv", schema, tmp_path / "out", shards=shards)
    assert len(found) == len(expected)
    assert found.shards <= shards
    assert in_order(found, expected.ids.tolist()).same_as(expected)
    assert found.schema == expected.schema


@pytest.mark.parametrize("kind", ["csv.gz", "parquet", "feather", "folder"])
def test_every_kind_of_file_is_dealt_out_alike(tmp_path: Path, kind: str) -> None:
    series = waves(60)
    frame = series.to_frame()
    file = tmp_path / f"table.{kind}"
    if kind == "csv.gz":
        file.write_bytes(gzip.compress(frame.to_csv(index=False).encode()))
    elif kind == "parquet":
        frame.to_parquet(file, row_group_size=50)
    elif kind == "feather":
        frame.to_feather(file)
    else:
        file.mkdir()
        half = len(frame) // 2  # a series lies in both files
        frame[:half].to_parquet(file / "a.parquet")
        frame[half:].to_parquet(file / "b.parquet")
    found = shard_table(file, PLAIN, tmp_path / "out", shards=4)
    assert in_order(found, series.ids.tolist()).same_as(series)


def test_a_long_table_has_the_channels_of_all_its_rows_in_every_shard(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    rows = [(who, t, f"v{who % 5}", rng.normal()) for who in range(30) for t in range(4)]
    frame = pd.DataFrame(rows, columns=["id", "time", "variable", "value"])
    frame.to_parquet(tmp_path / "long.parquet")
    found = shard_table(tmp_path / "long.parquet", TableSchema(id="id", time="time"), tmp_path / "out", shards=6)
    expected = SeriesSet.from_frame(frame, id="id", time="time")
    assert found.channels == expected.channels
    assert in_order(found, expected.ids.tolist()).same_as(expected)


def test_targets_may_come_from_a_second_table(tmp_path: Path) -> None:
    series = waves(40)
    series.to_frame().drop(columns="target").to_csv(tmp_path / "x.csv", index=False)
    pd.DataFrame({"id": series.ids, "mood": series.target}).to_csv(tmp_path / "y.csv", index=False)
    schema = TableSchema(id="id", time="time")
    found = shard_table(tmp_path / "x.csv", schema, tmp_path / "out", shards=3, targets=tmp_path / "y.csv")
    np.testing.assert_array_equal(in_order(found, series.ids.tolist()).target, series.target)
    assert found.schema is not None
    assert found.schema.target == "mood"


BAD = {
    "unsorted": "id,time,x\na,0,1\nb,0,1\na,2,1\na,1,1\nb,1,1\n",
    "text among numbers": "id,time,x\na,0,1\nb,0,2\nc,1,3\nb,1,oops\na,1,3\n",
    "no id": "id,time,x\na,0,1\n,0,1\nb,1,1\n",
    "infinite": "id,time,x\na,0,1\nb,0,inf\nb,1,1\n",
    "empty series": "id,time,x\na,0,1\nb,0,\nb,1,\n",
    "two targets": "id,time,x,target\na,0,1,3\na,1,1,4\nb,0,1,2\nb,1,2,2\n",
    "ragged line": "id,time,x\na,0,1\nb,0\n",
    "no such column": "name,time,x\na,0,1\n",
    "not UTF-8": "id,time,x\na,0,1\nb\xe9,0,1\n",
}


@pytest.mark.parametrize("fault", BAD)
def test_errors_are_those_of_the_table_in_memory_with_the_same_places(tmp_path: Path, fault: str) -> None:
    file = tmp_path / "bad.csv"
    file.write_bytes(BAD[fault].encode("latin-1"))
    schema = TableSchema(id="id", time="time", target="target" if "target" in BAD[fault] else None)
    with pytest.raises(DenotsError) as in_memory:
        schema.learn(read_table(file, id="id"))
    with pytest.raises(DenotsError) as in_shards:
        shard_table(file, schema, tmp_path / "out", shards=1)
    assert str(in_shards.value) == str(in_memory.value)
    assert type(in_shards.value) is type(in_memory.value)
    assert [entry.name for entry in tmp_path.iterdir()] == ["bad.csv"]


def test_faults_in_several_shards_are_told_at_once_with_their_lines(tmp_path: Path) -> None:
    rows = ["id,time,x", *(f"s{k},{t},1" for k in range(50) for t in (0, 1 if k % 10 else -1))]
    (tmp_path / "bad.csv").write_text("\n".join(rows))
    with pytest.raises(DenotsError, match="5 series cannot be read") as error:
        shard_table(tmp_path / "bad.csv", TableSchema(id="id", time="time"), tmp_path / "out", shards=8)
    assert {bad.id for bad in error.value.rejected} == {"s0", "s10", "s20", "s30", "s40"}
    assert "line 22 is followed by -1 in line 23" in next(bad.reason for bad in error.value.rejected if bad.id == "s10")


def test_a_row_of_a_parquet_table_is_named_by_its_place_in_the_whole(tmp_path: Path) -> None:
    frame = waves(30).to_frame()
    frame.loc[frame.index[100], "wave"] = np.inf
    frame.to_parquet(tmp_path / "t.parquet")
    name = frame["id"].iloc[100]
    frame.loc[frame.index[100], "time"] = -1.0
    frame.to_parquet(tmp_path / "t.parquet")
    with pytest.raises(DenotsError, match=rf"series '{name}'.*table row 101"):
        shard_table(tmp_path / "t.parquet", PLAIN, tmp_path / "out", shards=5)


def test_empty_series_are_left_out_where_that_is_asked_for(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("id,time,x\na,0,1\nb,0,\nc,0,2\n")
    schema = TableSchema(id="id", time="time", skip_empty=True)
    with pytest.warns(SkippedSeries, match="1 of 3"):
        found = shard_table(tmp_path / "t.csv", schema, tmp_path / "out", shards=3)
    assert len(found) == 2


@pytest.fixture
def shards(tmp_path: Path) -> ShardedSet:
    waves(90).to_frame().to_csv(tmp_path / "t.csv", index=False)
    return shard_table(tmp_path / "t.csv", PLAIN, tmp_path / "shards", shards=4)


def test_shards_are_mapped_and_not_read_into_memory(shards: ShardedSet) -> None:
    base = shards.shard(0).values
    while base.base is not None and not isinstance(base, np.memmap):
        base = base.base
    assert isinstance(base, np.memmap)
    assert not shards.shard(0).values.flags.writeable


def test_any_rows_in_any_order(shards: ShardedSet) -> None:
    whole = shards.select(np.arange(len(shards)))
    rows = np.random.default_rng(0).permutation(len(shards))[:50]
    assert shards.select(rows).same_as(whole.select(rows))
    with pytest.raises(DenotsError, match="from 0 to 89"):
        shards.select([90])


def test_a_sample_does_not_depend_on_the_shards(tmp_path: Path, shards: ShardedSet) -> None:
    other = shard_table(tmp_path / "t.csv", PLAIN, tmp_path / "more", shards=11)
    mine, theirs = (found.select(found.sample_rows(20)).ids.tolist() for found in (shards, other))
    assert set(mine) == set(theirs)
    assert len(mine) == 20
    assert len(shards.sample_rows(1000)) == 90


def test_an_outline_has_every_target_and_no_observation(shards: ShardedSet) -> None:
    outline, whole = shards.outline(), shards.select(np.arange(len(shards)))
    np.testing.assert_array_equal(outline.target, whole.target)
    assert len(outline.times) == len(shards)


def test_statistics_of_shards_add_up_to_those_of_the_whole(shards: ShardedSet) -> None:
    series = shards.select(np.arange(len(shards)))
    found = shards.statistics
    np.testing.assert_allclose(found.mean, np.nanmean(series.values, axis=0))
    np.testing.assert_allclose(found.spread, np.nanstd(series.values, axis=0))
    np.testing.assert_array_equal(found.lowest, np.nanmin(series.values, axis=0))
    np.testing.assert_array_equal(found.highest, np.nanmax(series.values, axis=0))
    np.testing.assert_array_equal(found.lengths, [series.lengths.min(), series.lengths.max()])
    np.testing.assert_allclose(found.gaps, Statistics.of(series).gaps)


def test_statistics_of_a_channel_that_one_part_never_saw(shards: ShardedSet) -> None:
    seen = SeriesSet.from_arrays([[0.0, 1.0]], [[[1.0, 2.0], [3.0, 5.0]]])
    blind = SeriesSet.from_arrays([[0.0]], [[[7.0, np.nan]]])
    for a, b in ((seen, blind), (blind, seen)):
        both = Statistics.of(a).merged(Statistics.of(b))
        np.testing.assert_allclose(both.mean, [11 / 3, 3.5])
        np.testing.assert_allclose(both.spread, [np.std([1, 3, 7]), 1.5])


def test_a_changed_byte_is_noticed_when_its_shard_is_opened(shards: ShardedSet) -> None:
    file = shards.folder / "00002" / "values.npy"
    content = bytearray(file.read_bytes())
    content[-1] ^= 1
    file.write_bytes(content)
    again = ShardedSet.open(shards.folder)
    again.shard(0)
    with pytest.raises(InvalidFolder, match=r"00002/values\.npy was changed"):
        again.shard(2)


def test_a_changed_manifest_is_refused(shards: ShardedSet) -> None:
    file = shards.folder / "manifest.json"
    content = json.loads(file.read_text())
    content["shards"][0]["series"] += 1
    file.write_text(json.dumps(content))
    with pytest.raises(InvalidFolder, match="was changed"):
        ShardedSet.open(shards.folder)


def test_only_shards_are_replaced(tmp_path: Path, shards: ShardedSet) -> None:
    shard_table(tmp_path / "t.csv", PLAIN, shards.folder, shards=2)
    assert ShardedSet.open(shards.folder).shards == 2
    (shards.folder / "note.txt").write_text("mine")
    with pytest.raises(InvalidFolder, match=r"note\.txt"):
        shard_table(tmp_path / "t.csv", PLAIN, shards.folder, shards=2)


def test_no_shard_at_all_is_refused(tmp_path: Path, shards: ShardedSet) -> None:
    with pytest.raises(InvalidOption, match="at least one shard"):
        shard_table(tmp_path / "t.csv", PLAIN, tmp_path / "none", shards=0)


def test_shards_are_not_dealt_out_again(tmp_path: Path, shards: ShardedSet) -> None:
    with pytest.raises(InvalidOption, match="already"):
        shard_table(shards.folder, PLAIN, tmp_path / "again")


def test_a_table_without_rows_is_refused(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("id,time,x\n")
    with pytest.raises(InvalidTable, match="no rows"):
        shard_table(tmp_path / "t.csv", PLAIN, tmp_path / "none")


@pytest.mark.slow
def test_memory_is_bounded_by_a_shard_and_not_by_the_table(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    n, length = 40_000, 100
    pd.DataFrame(
        {"id": np.tile(np.arange(n), length), "time": np.repeat(np.arange(length), n), "x": rng.normal(size=n * length)}
    ).to_csv(tmp_path / "t.csv", index=False)
    code = (
        "import resource, sys; from pathlib import Path; from denots.data.partition import shard_table;"
        "from denots.data.schema import TableSchema; import pandas, pyarrow.dataset, pyarrow.csv;"
        "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss;"
        "shard_table(Path(sys.argv[1]), TableSchema(id='id', time='time'), Path(sys.argv[2]), shards=40);"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)"
    )
    run = [sys.executable, "-c", code, tmp_path / "t.csv", tmp_path / "out"]
    used = int(subprocess.run(run, check=True, capture_output=True, text=True).stdout) * 1024
    in_memory = n * length * 3 * 8
    assert used < 2 * in_memory
    assert len(ShardedSet.open(tmp_path / "out")) == n
