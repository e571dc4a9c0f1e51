"""Ray clusters of several nodes on this machine, and what they have written."""

import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def cluster(nodes: int) -> Iterator[str]:
    """Nodes with one processor each."""
    os.environ["RAY_worker_niceness"] = "0"  # noqa: SIM112 (its name; by default workers give way to all other programs)
    from ray.cluster_utils import Cluster

    one = {"num_cpus": 1, "object_store_memory": 400 * 2**20}
    found = Cluster(initialize_head=True, head_node_args={**one, "include_dashboard": False})
    try:
        for _ in range(nodes - 1):
            found.add_node(**one)
        found.wait_for_nodes()
        yield found.address
    finally:
        found.shutdown()


def content(place: Path, pattern: str) -> dict[str, str]:
    """Hashes of files by their names."""
    return {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in sorted(place.glob(pattern))}
