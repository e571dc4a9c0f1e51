"""Another model takes the place of the one that is served once it is verified, and not before."""

import shutil
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import denots
from denots.server.keeper import Keeper
from server.conftest import as_csv, finished, served, wait_for
from server.test_server_answers import alone, sample


def replaced(folder: Path, by: Path) -> None:
    shutil.rmtree(folder)
    shutil.copytree(by, folder)


def test_a_watched_folder_is_reloaded_and_a_damaged_one_is_not(ward: Path, new: pd.DataFrame, tmp_path: Path) -> None:
    folder = tmp_path / "model"
    shutil.copytree(ward / "classifier", folder)
    first, second = alone(ward / "classifier", new), alone(ward / "other", new)
    assert first != second
    with served(folder, watch=0.1) as (client, keeper):
        before = keeper.served
        assert client("POST", "/predict", as_csv(new)).json["answers"] == first
        replaced(folder, ward / "other")
        wait_for(lambda: keeper.served is not before)
        after = client("POST", "/predict", as_csv(new))
        assert after.json["answers"] == second
        assert after.headers["denots-model"] == client("GET", "/model").json["digest"] == keeper.served.digest
        arrays = folder / "arrays.safetensors"
        arrays.write_bytes(arrays.read_bytes()[:-1])
        (folder / "manifest.json").write_text((folder / "manifest.json").read_text() + " ")
        wait_for(lambda: sample(client, "denots_reloads_total") == 2)
        assert client("POST", "/predict", as_csv(new)).json["answers"] == second


def test_a_model_that_does_not_answer_is_not_taken(ward: Path, tmp_path: Path) -> None:
    outcomes: list[bool] = []
    shutil.copytree(ward / "classifier", tmp_path / "model")
    keeper = Keeper(tmp_path / "model", outcomes.append)
    old = keeper.served
    broken = denots.load(ward / "other")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(type(broken), "predict_table", fails)
        finished(keeper.reload())
    assert keeper.served is old
    finished(keeper.reload())
    assert keeper.served is not old
    assert outcomes == [False, True]


def fails(*_: Any, **__: Any) -> Any:
    raise RuntimeError("no answer")
