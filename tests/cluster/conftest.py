"""A Ray cluster of several nodes on one machine, and what is learnt and told on it."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

from cli.conftest import invoked
from denots.heads import ridge_sums
from wave_series import waves

RIDGE = ["--system", "oscillators", "--set", "oscillators=16", "--quiet"]
QUIET = [
    pytest.mark.filterwarnings(f"ignore::{name}")
    for name in ("FutureWarning", "DeprecationWarning", "ResourceWarning", "pytest.PytestUnraisableExceptionWarning")
]
NODE = {"num_cpus": 1, "object_store_memory": 80 * 2**20}


@pytest.fixture(scope="package", autouse=True)
def many() -> Iterator[None]:
    """A few series are as many."""
    patch = pytest.MonkeyPatch()
    patch.setattr(ridge_sums, "FEW", 0)
    yield
    patch.undo()


@pytest.fixture(scope="package")
def nodes() -> Iterator[Any]:
    """A cluster of two nodes with one processor each."""
    import ray
    from ray.cluster_utils import Cluster

    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    patch = pytest.MonkeyPatch()
    patch.setenv("RAY_worker_niceness", "0")  # by default its workers give way to all others
    cluster = Cluster(initialize_head=True, head_node_args={**NODE, "include_dashboard": False})
    cluster.add_node(**NODE)
    yield cluster
    ray.shutdown()
    cluster.shutdown()
    patch.undo()
    torch.set_num_threads(threads)


@pytest.fixture(scope="package")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Shards and a model, to be read only."""
    folder = tmp_path_factory.mktemp("ray")
    waves(160).to_frame().to_parquet(folder / "table.parquet")
    invoked("data", "convert", folder / "table.parquet", "--target", "target", "--shards", "6", "-o", folder / "shards")
    invoked("fit", folder / "shards", *RIDGE, "-o", folder / "model")
    return folder


def answers(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in sorted(folder.glob("*.parquet"))}


def weights(folder: Path) -> bytes:
    """The arrays of a model."""
    return (folder / "arrays.safetensors").read_bytes()
