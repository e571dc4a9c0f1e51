"""Several processes share one journal, and none is lost with another."""

from pathlib import Path

import pytest
import torch

from denots.errors import InvalidFolder
from denots.estimators import SeriesRegressor
from denots.processors import limited_to
from denots.tuning import SeriesSearch
from denots.tuning.study import locked
from wave_series import waves

QUICK = {"max_epochs": 2, "batches_per_epoch": 1, "batch_size": 16, "state_size": 6, "copies": 0}


def searched(**arguments: object) -> SeriesSearch:
    return SeriesSearch(SeriesRegressor("denots", options=QUICK), n_trials=3, **arguments).fit(waves(24))


@pytest.mark.slow  # two processes import everything
def test_two_processes_make_all_trials_once_and_each_as_one_process_does(tmp_path: Path) -> None:
    both, one = searched(n_jobs=2, study=tmp_path), searched()
    assert both.trials_["trial"].tolist() == [0, 1, 2]
    assert (both.trials_["state"] == "complete").all()
    # No trial is ended early here, and the first ten are drawn without regard to others.
    assert both.trials_["loss"].tolist() == one.trials_["loss"].tolist()
    assert both.best_params_ == one.best_params_


def test_a_study_is_held_by_one_search_at_a_time(tmp_path: Path) -> None:
    with locked(tmp_path), pytest.raises(InvalidFolder, match="another process searches"):
        searched(study=tmp_path)


def test_jobs_limit_threads_and_give_them_back() -> None:
    from threadpoolctl import threadpool_info

    before = torch.get_num_threads()
    with limited_to(1):
        assert torch.get_num_threads() == 1
        assert {pool["num_threads"] for pool in threadpool_info()} == {1}
    assert torch.get_num_threads() == before
