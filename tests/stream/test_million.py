"""A million series in one stream: memory grows with their number alone, and is told."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from denots import RowPredictor, SeriesSet

PROGRAM = """
import json, resource, sys
from denots import load

def megabytes():
    return int(open("/proc/self/statm").read().split()[1]) * resource.getpagesize() / 2**20

stream, count, sizes = load(sys.argv[1]).stream(), int(sys.argv[2]), []
begun = megabytes()
for hour in range(3):
    for id in range(count):
        stream.push(id, hour + 0.5, {"pulse": id % 7 - 3.0, "breath": None if id % 3 else 1.0})
    answers = stream.now(hour + 1.0)
    assert len(answers) == len(stream) == count and all(answer.status == "ok" for answer in answers)
    shares = {answer.id: answer.columns["p_1"] for answer in answers[::9973]}
    del answers
    sizes.append(megabytes() - begun)
print(*sizes)
print(json.dumps(shares))
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    rng = np.random.default_rng(0)
    values = [rng.normal(size=(6, 2)).cumsum(axis=0) for _ in range(40)]
    series = SeriesSet.from_arrays(
        [np.arange(6.0) for _ in values], values, row_target=[x[:, 0] > 0 for x in values], channels=["pulse", "breath"]
    )
    place = tmp_path_factory.mktemp("model") / "model"
    options = {"max_epochs": 1, "batches_per_epoch": 3, "state_size": 16}
    RowPredictor("running-gru", options=options, random_state=0).fit(series).save(place)
    return place


def run(folder: Path, count: int) -> tuple[list[float], dict[int, float]]:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(folder), str(count)], capture_output=True, text=True, check=True
    )
    sizes, shares = done.stdout.splitlines()
    return [float(size) for size in sizes.split()], {int(id): share for id, share in json.loads(shares).items()}


def test_memory_grows_with_the_series_and_not_with_their_rows(folder: Path) -> None:
    sizes, _ = run(folder, 20_000)
    assert sizes[2] < 1.3 * sizes[1]


@pytest.mark.slow
def test_a_million_series_fit_into_three_gigabytes(folder: Path) -> None:
    """About 2 kB a series, where the model has 16 states and 2 channels: what Python keeps for an id and its latest row."""
    sizes, shares = run(folder, 1_000_000)
    _, fewer = run(folder, 100_000)
    assert max(sizes) < 3000
    assert {id: share for id, share in shares.items() if id in fewer} == fewer
