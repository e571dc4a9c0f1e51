"""Work on a Ray cluster of several nodes on one machine: the bytes of a local run, whatever is lost on the way."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
import torch

from cli.conftest import invoked
from cluster.conftest import NODE, QUIET, RIDGE, answers, weights
from denots.cluster import workers as places
from denots.cluster.workers import Here, workers_on
from denots.errors import InvalidOption, InvalidTable, MissingExtra, WorkerLost

from published_files import gestures, write_ts

pytestmark = QUIET


@pytest.fixture(scope="module", autouse=True)
def sent_by_value() -> None:
    """Workers do not find tests."""
    from ray import cloudpickle

    cloudpickle.register_pickle_by_value(sys.modules[__name__])


def die_once(file: str) -> int:
    """Ends its process without a word the first time it is called."""
    if not Path(file).exists():
        Path(file).touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return torch.get_num_threads()


def die(_: str) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def complain(_: str) -> None:
    raise InvalidTable("no such column")


def wait(seconds: float) -> float:
    time.sleep(seconds)
    return seconds


def test_answers_are_those_of_a_local_run_byte_for_byte_though_a_worker_is_killed(
    nodes: Any, place: Path, tmp_path: Path
) -> None:
    invoked("predict", place / "model", place / "shards", "-o", tmp_path / "here")
    on = f"ray={nodes.address}"
    told = invoked("predict", place / "model", place / "shards", "--on", on, "-o", tmp_path / "there")
    assert "each piece of work asks for 1 and runs as many threads" in told.stderr
    assert answers(tmp_path / "there") == answers(tmp_path / "here")
    found = list(workers_on(on).each(die_once, [str(tmp_path / "a"), str(tmp_path / "b")]))
    assert sorted(item for item, _ in found) == [str(tmp_path / "a"), str(tmp_path / "b")]
    assert {threads for _, threads in found} == {1}


@pytest.mark.slow
def test_a_ridge_from_sums_of_a_cluster_is_that_of_a_local_run_byte_for_byte(
    nodes: Any, place: Path, tmp_path: Path
) -> None:
    invoked("fit", place / "shards", *RIDGE, "--on", f"ray={nodes.address}", "-o", tmp_path / "model")
    assert weights(tmp_path / "model") == weights(place / "model")


def test_without_ray_it_is_said_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(MissingExtra, match=r"pip install 'denots\[ray\]'"):
        workers_on("ray")
    assert isinstance(workers_on("local"), Here)


def test_an_unknown_place_is_refused() -> None:
    with pytest.raises(InvalidOption, match="local, ray or ray=ADDRESS"):
        workers_on("moon")


def test_local_work_ends_at_its_deadline() -> None:
    late = time.monotonic() - 1
    assert list(places.Here().each(wait, [0.0, 0.0], deadline=late)) == []
    assert [found for _, found in places.Here().each(wait, [0.0, 0.0])] == [0.0, 0.0]


@pytest.mark.slow
def test_an_error_of_the_work_arrives_as_it_is_and_a_piece_that_always_dies_is_named(nodes: Any) -> None:
    workers = workers_on(f"ray={nodes.address}")
    with pytest.raises(InvalidTable, match="no such column"):
        list(workers.each(complain, ["x"]))
    with pytest.raises(WorkerLost, match="'x'"):
        list(workers.each(die, ["x"]))


@pytest.mark.slow
def test_work_of_a_node_that_is_removed_is_done_by_another(nodes: Any) -> None:
    lost = nodes.add_node(**NODE)
    workers = workers_on(f"ray={nodes.address}")
    found = []
    for _, seconds in workers.each(wait, [0.1, 6.0, 6.01, 6.02, 0.2]):
        if not found:
            nodes.remove_node(lost, allow_graceful=False)
        found.append(seconds)
    assert sorted(found) == [0.1, 0.2, 6.0, 6.01, 6.02]


@pytest.mark.slow
def test_a_driver_that_is_killed_and_started_again_makes_only_what_is_missing(
    nodes: Any, place: Path, tmp_path: Path
) -> None:
    invoked("predict", place / "model", place / "shards", "-o", tmp_path / "here")
    words = ["predict", place / "model", place / "shards", "--on", f"ray={nodes.address}", "-o", tmp_path / "there"]
    command = [sys.executable, "-c", "from denots.cli import main; main()", *map(str, words)]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while process.poll() is None and not answers(tmp_path / "there"):
        time.sleep(0.02)
    process.kill()
    process.wait()
    time.sleep(2)  # what its tasks were about to write
    kept = {name: (tmp_path / "there" / name).stat().st_mtime_ns for name in answers(tmp_path / "there")}
    assert kept
    subprocess.run(command, env=environment, check=True, capture_output=True)
    assert answers(tmp_path / "there") == answers(tmp_path / "here")
    assert {name: (tmp_path / "there" / name).stat().st_mtime_ns for name in kept} == kept


@pytest.mark.slow
def test_matches_on_a_cluster_have_the_metrics_of_local_ones(nodes: Any, tmp_path: Path) -> None:
    from denots.competition.match import MatchStore
    from denots.competition.tournament import Tournament, hold
    from denots.datasets.archive import import_archives

    write_ts(tmp_path, "Waves", gestures(train=32, test=16, steps=12, channels=2))
    import_archives([tmp_path])
    tournament = Tournament(("uea-Waves",), ("summary", "constant"), (0.5,), draws=2)
    here, there = MatchStore(tmp_path / "here.jsonl"), MatchStore(tmp_path / "there.jsonl")
    assert hold(tournament, here) == []
    assert hold(tournament, there, workers=workers_on(f"ray={nodes.address}")) == []
    found, expected = there.records(), here.records()
    assert {match: record.metrics for match, record in found.items()} == {
        match: record.metrics for match, record in expected.items()
    }
