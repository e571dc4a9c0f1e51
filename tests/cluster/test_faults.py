"""What happens to single machines of a cluster: a full disk, a slow one. Nothing is lost, nothing is made twice, no byte changes."""

import resource
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from cli.conftest import invoked
from cluster.conftest import NODE, QUIET, answers
from denots.cluster.workers import workers_on
from denots.data.shards import ShardedSet
from denots.errors import WorkerLost
from denots.estimators.partitions import Job, Piece, answer_piece

pytestmark = [*QUIET, pytest.mark.slow]


@pytest.fixture(scope="module", autouse=True)
def sent_by_value() -> None:
    """Workers do not find tests."""
    from ray import cloudpickle

    cloudpickle.register_pickle_by_value(sys.modules[__name__])


def machine() -> str:
    import ray

    return str(ray.get_runtime_context().get_node_id())


@dataclass(frozen=True)
class Noted:
    """Answers for a shard, and leaves an empty file that names the machine."""

    notes: Path

    def __call__(self, piece: Piece) -> None:
        (self.notes / f"{piece.shard}-{machine()}").touch()
        soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        self.suffer(hard)
        try:
            answer_piece(piece)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))

    def suffer(self, hard: int) -> None:
        """What is wrong with the machine."""


@dataclass(frozen=True)
class FullDisk(Noted):
    """On some machines no file can grow beyond a kilobyte; the system says so, not the test."""

    full: tuple[str, ...]

    def suffer(self, hard: int) -> None:
        if machine() in self.full:
            resource.setrlimit(resource.RLIMIT_FSIZE, (1024, hard))


@dataclass(frozen=True)
class Slow(Noted):
    """One machine needs seconds for what others do at once."""

    slow: str

    def suffer(self, hard: int) -> None:
        if machine() == self.slow:
            time.sleep(8)


def pieces(place: Path, out: Path) -> list[Piece]:
    job = Job.begin(out, place / "model", ShardedSet.open(place / "shards"), {"coverage": None, "groups": None})
    return [Piece(str(place / "model"), str(place / "shards"), str(out), shard) for shard in job.left]


@pytest.fixture
def expected(place: Path, tmp_path: Path) -> dict[str, bytes]:
    invoked("predict", place / "model", place / "shards", "-o", tmp_path / "here")
    return answers(tmp_path / "here")


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    (tmp_path / "notes").mkdir()
    return tmp_path / "notes"


def made_by(notes: Path) -> dict[str, list[int]]:
    """The shards that each machine was asked for."""
    found: dict[str, list[int]] = {}
    for file in sorted(notes.iterdir()):
        shard, _, name = file.name.partition("-")
        found.setdefault(name, []).append(int(shard))
    return found


def test_answers_that_a_machine_with_a_full_disk_cannot_write_are_written_by_another_byte_for_byte(
    nodes: Any, place: Path, tmp_path: Path, expected: dict[str, bytes], notes: Path
) -> None:
    full = nodes.add_node(**NODE)
    try:
        workers, out = workers_on(f"ray={nodes.address}"), tmp_path / "there"
        found = list(workers.each(FullDisk(notes, (full.node_id,)), pieces(place, out)))
    finally:
        nodes.remove_node(full)
    tried = made_by(notes)
    assert tried[full.node_id]
    others = {shard for name, shards in tried.items() if name != full.node_id for shard in shards}
    assert others == set(range(6))
    assert len(found) == 6
    assert answers(out) == expected
    assert not [file for file in out.iterdir() if file.name.endswith(".partial")]


def test_where_every_disk_is_full_what_is_missing_is_named_and_made_when_there_is_room(
    nodes: Any, place: Path, tmp_path: Path, expected: dict[str, bytes], notes: Path
) -> None:
    import ray

    workers, out = workers_on(f"ray={nodes.address}"), tmp_path / "there"
    everyone = tuple(node["NodeID"] for node in ray.nodes() if node["Alive"])
    with pytest.raises(WorkerLost, match=r"no machine could write.*Make room on the disk"):
        list(workers.each(FullDisk(notes, everyone), pieces(place, out)))
    assert answers(out) == {}
    invoked("predict", place / "model", place / "shards", "-o", out)
    assert answers(out) == expected


def test_a_slow_machine_delays_its_own_shards_and_changes_no_answer(
    nodes: Any, place: Path, tmp_path: Path, expected: dict[str, bytes], notes: Path
) -> None:
    slow = nodes.add_node(**NODE)
    try:
        workers, out = workers_on(f"ray={nodes.address}"), tmp_path / "there"
        found = list(workers.each(Slow(notes, slow.node_id), pieces(place, out)))
    finally:
        nodes.remove_node(slow)
    tried = made_by(notes)
    assert sorted(shard for shards in tried.values() for shard in shards) == list(range(6))
    assert len(tried[slow.node_id]) < 6 == len(found)
    assert answers(out) == expected
