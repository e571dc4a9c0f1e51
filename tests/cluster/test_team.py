"""Several processes that train one model: gradients of the whole batch, the same bytes whatever happens to a process."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from cli.conftest import invoked
from cluster.conftest import NODE, QUIET, weights
from denots.cluster import on_ray
from denots.cluster.team import Team
from denots.cluster.workers import workers_on
from denots.errors import InvalidOption, WorkerLost
from denots.training.config import TrainConfig
from denots.training.fit import fit
from denots.training.model import Output

from training_runs import SHORT, examples, waves

pytestmark = QUIET
TRAINED = ["--system", "denots", "--set", "state_size=8", "--set", "batches_per_epoch=4", "--quiet"]


@dataclass
class Table:
    """Where threads lay down what they have, and wait for each other."""

    size: int
    laid: dict[int, Tensor] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.barrier = threading.Barrier(self.size)

    def run(self, work: Callable[[Team], Any]) -> list[Any]:
        found: dict[int, Any] = {}

        def one(rank: int) -> None:
            found[rank] = work(_Threads(rank, self.size, self))

        threads = [threading.Thread(target=one, args=(rank,)) for rank in range(self.size)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return [found[rank] for rank in range(self.size)]


@dataclass(frozen=True)
class _Threads(Team):
    table: Table | None = None

    def gather(self, own: Tensor) -> list[Tensor]:
        assert self.table is not None
        self.table.laid[self.rank] = own.clone()
        self.table.barrier.wait()
        found = [self.table.laid[rank] for rank in range(self.size)]
        self.table.barrier.wait()
        return found


@pytest.mark.parametrize("size", [1, 2, 3])
def test_the_gradient_of_a_team_is_that_of_the_whole_batch(size: int) -> None:
    rng = torch.Generator().manual_seed(0)
    inputs, target = torch.randn(10, 4, generator=rng), torch.randn(10, 1, generator=rng)
    ok = torch.arange(10) != 7
    start = torch.randn(1, 4, generator=rng)

    def gradient(team: Team) -> Tensor:
        layer = nn.Linear(4, 1, bias=False)
        layer.weight.data.copy_(start)
        rows = team.piece(torch.arange(10))
        output = Output(layer(inputs[rows]), ok[rows], rows).joined(team, 10)
        assert torch.equal(output.ok, ok)
        assert torch.equal(output.evaluations, torch.arange(10))
        loss = ((output.outputs - target)[output.ok] ** 2).mean()
        loss.backward()
        team.add_gradients(layer.parameters())
        return layer.weight.grad

    residual = (inputs @ start.T - target)[ok]
    expected = 2 * (residual * inputs[ok]).mean(dim=0, keepdim=True)
    found = Table(size).run(gradient)
    torch.testing.assert_close(found[0], expected)
    assert all(torch.equal(each, found[0]) for each in found)


def test_processes_that_stand_at_different_epochs_stop() -> None:
    def stop(team: Team) -> str:
        with pytest.raises(WorkerLost, match="different epochs"):
            team.agree(team.rank)
        team.agree(3)
        return "agreed"

    assert Table(2).run(stop) == ["agreed", "agreed"]


def command(*words: object) -> list[str]:
    return [sys.executable, "-c", "from denots.cli import main; main()", *map(str, words)]


def processes(name: str) -> list[int]:
    """Of the workers that do something, as Ray calls them."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            title = (entry / "cmdline").read_bytes()
        except OSError:
            continue
        if title.startswith(f"ray::{name}".encode()):
            found.append(int(entry.name))
    return sorted(found)


@pytest.mark.slow
def test_one_worker_trains_as_a_local_run_does_byte_for_byte(nodes: Any, place: Path, tmp_path: Path) -> None:
    words = [*TRAINED, "--set", "max_epochs=3"]
    invoked("fit", place / "shards", *words, "-o", tmp_path / "here")
    on = ["--on", f"ray={nodes.address}", "--workers", "1"]
    invoked("fit", place / "shards", *words, *on, "-o", tmp_path / "there")
    assert weights(tmp_path / "there") == weights(tmp_path / "here")


@pytest.mark.slow
def test_two_workers_train_to_the_same_bytes_though_one_of_them_is_killed(
    nodes: Any, place: Path, tmp_path: Path
) -> None:
    on = ["--on", f"ray={nodes.address}", "--workers", "2", "--set", "max_epochs=7"]
    told = invoked("fit", place / "shards", *TRAINED, *on, "-o", tmp_path / "whole")
    assert "training with 2 workers" in told.stderr
    words = command("fit", place / "shards", *TRAINED, *on, "-o", tmp_path / "again")
    curve = tmp_path / ".again.fit" / "run" / "curve.csv"
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    process = subprocess.Popen(words, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    while process.poll() is None and not (curve.exists() and processes("_Member")):
        time.sleep(0.02)
    os.kill(processes("_Member")[-1], signal.SIGKILL)
    _, told = process.communicate(timeout=300)
    assert process.returncode == 0
    assert "a worker was lost" in told
    assert weights(tmp_path / "again") == weights(tmp_path / "whole")


@pytest.mark.slow
def test_a_training_of_four_workers_goes_on_with_one_when_a_node_is_gone(
    nodes: Any, place: Path, tmp_path: Path
) -> None:
    lost = nodes.add_node(**{**NODE, "num_cpus": 2})
    on = f"ray={nodes.address}"
    words = [*TRAINED, "--set", "max_epochs=7", "--on", on]
    process = subprocess.Popen(
        command("fit", place / "shards", *words, "--workers", "4", "-o", tmp_path / "model"),
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    curve = tmp_path / ".model.fit" / "run" / "curve.csv"
    while process.poll() is None and not curve.exists():
        time.sleep(0.02)
    nodes.remove_node(lost, allow_graceful=False)
    process.kill()
    process.wait()
    before = curve.read_text().splitlines()
    invoked("fit", place / "shards", *words, "--workers", "1", "-o", tmp_path / "model")
    after = (tmp_path / "model" / "curve.csv").read_text().splitlines()
    assert after[: len(before)] == before
    assert len(after) == 8


def test_more_workers_than_a_batch_has_series_are_refused() -> None:
    model, data = examples(waves())
    with pytest.raises(InvalidOption, match="fewer workers"):
        fit(model, data, data, TrainConfig(batch_size=2), team=Team(0, 3))


def test_a_team_learns_what_one_process_learns_to_rounding_and_all_have_the_same_weights() -> None:
    def learn(team: Team) -> tuple[dict[str, Tensor], list[dict[str, float]]]:
        model, data = examples(waves())
        history = fit(model, data, data, SHORT, team=team)
        return model.state_dict(), history.rows

    (alone, rows), *_ = Table(1).run(learn)
    (first, shared), (second, _) = Table(2).run(learn)
    for name, value in alone.items():
        torch.testing.assert_close(first[name], value, atol=1e-4, rtol=1e-3)
        assert torch.equal(first[name], second[name])
    assert [row["loss"] for row in shared] == pytest.approx([row["loss"] for row in rows], abs=1e-4)


@pytest.mark.slow
def test_more_workers_than_there_is_room_for_are_refused(nodes: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those that a cluster believes it has room for, too: it counts a lost node for a while."""
    monkeypatch.setattr(on_ray, "BEGIN", 30.0)
    with pytest.raises(InvalidOption, match="give fewer workers"):
        workers_on(f"ray={nodes.address}", members=3).together(lambda team: team.rank)
