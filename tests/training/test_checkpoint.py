"""A checkpoint comes back bit for bit, and one that is damaged in any way is refused with a remedy."""

import json
import zipfile
from pathlib import Path

import pytest
import torch

from denots.errors import InvalidFolder
from denots.training.checkpoint import Checkpoint
from denots.training.fit import CHECKPOINT, completed_epochs

from training_runs import SHORT, examples, fit, trained, waves

ROWS = [{"epoch": 0, "loss": float("nan"), "val_metric": 0.1, "seconds": 1 / 3}]


def table() -> Checkpoint:
    square = torch.arange(6.0).reshape(2, 3)
    weights = {"a.b": square.T, "count": torch.tensor(3), "same": square}
    return Checkpoint(ROWS, weights, {"a.b": square.double()}, {"0.step": torch.tensor(1.0)})


def test_a_checkpoint_comes_back_bit_for_bit(tmp_path: Path) -> None:
    written = table()
    written.write(tmp_path / "c")
    found = Checkpoint.read(tmp_path / "c")
    assert json.dumps(found.rows) == json.dumps(ROWS)
    for part in ("weights", "best", "optimiser"):
        before, after = getattr(written, part), getattr(found, part)
        assert set(before) == set(after)
        assert all(torch.equal(before[k], after[k]) and before[k].dtype == after[k].dtype for k in before)


def test_every_flipped_bit_is_noticed(tmp_path: Path) -> None:
    file = tmp_path / "c"
    table().write(file)
    content = file.read_bytes()
    for place in range(len(content)):
        damaged = bytearray(content)
        damaged[place] ^= 1 << (place % 8)
        file.write_bytes(damaged)
        with pytest.raises(InvalidFolder, match="--restart"):
            Checkpoint.read(file)


def lightning(file: Path) -> None:
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("archive/data.pkl", b"\x80\x02}q\x00.")


DAMAGES = {
    "empty": lambda file: file.write_bytes(b""),
    "truncated": lambda file: file.write_bytes(file.read_bytes()[:-7]),
    "headless": lambda file: file.write_bytes(file.read_bytes()[40:]),
    "first line only": lambda file: file.write_bytes(file.read_bytes().split(b"\n")[0]),
    "text": lambda file: file.write_text("epoch,loss\n"),
    "of an earlier version": lightning,
    "longer": lambda file: file.write_bytes(file.read_bytes() + b"\0"),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_run_does_not_go_on_from_a_damaged_checkpoint(tmp_path: Path, damage: str) -> None:
    trained(tmp_path)
    DAMAGES[damage](tmp_path / CHECKPOINT)
    with pytest.raises(InvalidFolder, match=f"{CHECKPOINT} .*--restart, or delete "):
        trained(tmp_path)
    with pytest.raises(InvalidFolder, match="--restart"):
        completed_epochs(tmp_path)


def test_the_checkpoint_of_another_model_is_refused(tmp_path: Path) -> None:
    trained(tmp_path)
    model, data = examples(waves(), state_size=7)
    with pytest.raises(InvalidFolder, match="belongs to another model"):
        fit(model, data, data, SHORT, folder=tmp_path)
