"""Ranks, judged by scipy and by the paper's own table."""

import pytest
from scipy.stats import ttest_ind_from_stats

from denots.experiments import published
from denots.experiments.ranks import ranks


@pytest.mark.parametrize("dataset", published.RANKS["denots"])
def test_the_papers_table_gives_the_papers_ranks(dataset: str) -> None:
    found = ranks({name: scores[dataset] for name, scores in published.MAIN.items()})
    assert found == {name: published.RANKS[name][dataset] for name in published.MAIN}


def test_better_means_a_one_sided_t_test_with_pooled_variance() -> None:
    own, other = (0.70, 0.04), (0.74, 0.03)
    p = ttest_ind_from_stats(*other, 3, *own, 3, equal_var=True, alternative="greater").pvalue
    assert ranks({"own": own, "other": other})["own"] == (2 if p < 0.1 else 1)
    near = (0.76, 0.03)
    p = ttest_ind_from_stats(*near, 3, *own, 3, equal_var=True, alternative="greater").pvalue
    assert ranks({"own": own, "other": near})["own"] == (2 if p < 0.1 else 1)


def test_a_system_that_failed_comes_last() -> None:
    assert ranks({"a": (0.5, 0.1), "b": None, "c": (0.9, 0.01)}) == {"a": 2, "b": 3, "c": 1}
