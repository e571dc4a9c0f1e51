"""`denots data convert`: from a table to shards, with the words of `fit`."""

from pathlib import Path

from cli.conftest import COLUMNS, Run
from denots.data.shards import ShardedSet

OPTIONS = [*COLUMNS, "--static", "age", "--target", "outcome", "--shards", "3"]


def test_convert_tells_what_it_found_and_where_it_is(run: Run, visits: Path, tmp_path: Path) -> None:
    told = run("data", "convert", visits, *OPTIONS, "-o", tmp_path / "shards").stdout
    assert "8 in 3 shards, 2 to 5 rows each" in told
    assert str(tmp_path / "shards") in told
    assert ShardedSet.open(tmp_path / "shards").channels == ("pulse", "temperature")


def test_convert_replaces_nothing_unasked(run: Run, visits: Path, tmp_path: Path) -> None:
    run("data", "convert", visits, *OPTIONS, "-o", tmp_path / "shards")
    told = run("data", "convert", visits, *OPTIONS, "-o", tmp_path / "shards", code=1)
    assert "--overwrite" in told.stderr
    run("data", "convert", visits, *OPTIONS, "--overwrite", "-o", tmp_path / "shards")


def test_a_misspelt_column_is_told_with_the_nearest_name(run: Run, visits: Path, tmp_path: Path) -> None:
    told = run("data", "convert", visits, "--id", "patent", "--time", "when", "-o", tmp_path / "shards", code=2)
    assert "'patient'" in told.stderr
    assert "Traceback" not in told.stderr
