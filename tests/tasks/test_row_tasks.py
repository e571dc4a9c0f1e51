"""A question asked of every row: unknown rows count nowhere, the others as scikit-learn and torch count them."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from sklearn.metrics import log_loss, mean_absolute_error, r2_score, roc_auc_score
from torch.nn.functional import binary_cross_entropy_with_logits, cross_entropy

from denots.data import SeriesSet
from denots.errors import InvalidTarget
from denots.tasks import TASKS, RowClassification, RowRegression, suggest_row_task

RNG = np.random.default_rng(0)
LENGTHS = (3, 8, 1, 6, 5, 7)


def labelled(labels: np.ndarray) -> SeriesSet:
    times = [np.arange(length, dtype=float) for length in LENGTHS]
    cuts = np.cumsum(LENGTHS)[:-1]
    return SeriesSet.from_arrays(times, [np.ones(length) for length in LENGTHS], row_target=np.split(labels, cuts))


def classes(count: int) -> np.ndarray:
    labels = RNG.integers(0, count, sum(LENGTHS)).astype(float)
    labels[[1, 5, 11, 20]] = np.nan
    return labels


def known_pairs(series: SeriesSet, outputs: torch.Tensor) -> tuple[torch.Tensor, np.ndarray]:
    """Outputs and labels of the rows that have one, row by row."""
    rows = [(outputs[k, j], one.row_target[j]) for k, one in enumerate(series) for j in range(len(one.times))]
    kept = [(told, label) for told, label in rows if not np.isnan(label)]
    return torch.stack([told for told, _ in kept]), np.array([label for _, label in kept])


def test_a_part_asks_at_every_row_and_knows_what_is_known() -> None:
    series = labelled(classes(2))
    part = RowClassification.read(series).pose(series)
    assert part.at.shape == part.target.shape == (6, 8)
    for k, one in enumerate(series):
        np.testing.assert_array_equal(part.at[k, : len(one.times)], one.times)
        np.testing.assert_array_equal(part.target[k, : len(one.times)], one.row_target)
        assert (part.at[k, len(one.times) :] == one.times[-1]).all()
        assert part.target[k, len(one.times) :].isnan().all()


@pytest.mark.parametrize("count", [2, 4])
def test_the_loss_of_classes_is_that_of_torch_over_known_rows(count: int) -> None:
    series = labelled(classes(count))
    task = RowClassification.read(series)
    part = task.pose(series)
    outputs = torch.randn(6, 8, task.outputs, dtype=torch.float64)
    told, label = known_pairs(series, outputs)
    truth = torch.from_numpy(label.astype(np.int64))
    wanted = cross_entropy(told, truth) if count > 2 else binary_cross_entropy_with_logits(told[:, 0], truth.double())
    torch.testing.assert_close(task.loss(outputs, part.target), wanted)
    balanced = task.weighted(part, "balanced")
    weight = 1 / truth.bincount()[truth].double()
    each = (
        cross_entropy(told, truth, reduction="none")
        if count > 2
        else binary_cross_entropy_with_logits(told[:, 0], truth.double(), reduction="none")
    )
    torch.testing.assert_close(balanced.loss(outputs, part.target), (weight * each).sum() / weight.sum())
    of_row = torch.rand(6, 8, dtype=torch.float64)
    own = torch.cat([of_row[k, : LENGTHS[k]][~np.isnan(one.row_target)] for k, one in enumerate(series)])
    both = own * weight
    torch.testing.assert_close(task.weighed_loss(outputs, part.target, of_row), (own * each).sum() / own.sum())
    torch.testing.assert_close(balanced.weighed_loss(outputs, part.target, of_row), (both * each).sum() / both.sum())
    of_series = torch.arange(1.0, 7.0, dtype=torch.float64)
    rows = torch.cat([of_series[k].repeat(int((~np.isnan(one.row_target)).sum())) for k, one in enumerate(series)])
    torch.testing.assert_close(
        task.weighed_loss(outputs, part.target, of_series), (rows * each).sum() / rows.sum(), check_dtype=False
    )


def test_metrics_of_classes_are_those_of_scikit_learn_over_known_rows_and_over_series() -> None:
    series = labelled(classes(2))
    task = RowClassification.read(series)
    part = task.pose(series)
    outputs = torch.randn(6, 8, 1, dtype=torch.float64)
    told, label = known_pairs(series, outputs)
    share = torch.sigmoid(told[:, 0]).numpy()
    found = {name: score.model for name, score in task.scores(outputs, part).metrics.items()}
    assert found["AUROC"] == pytest.approx(roc_auc_score(label, share))
    assert found["log loss"] == pytest.approx(log_loss(label, share))
    assert float(task.metric(outputs, part.target)) == pytest.approx(roc_auc_score(label, share))
    known = [k for k, one in enumerate(series) if not np.isnan(one.row_target).all()]
    ever = [np.nanmax(series[k].row_target) for k in known]
    top = [max(float(outputs[k, j]) for j in range(LENGTHS[k]) if not np.isnan(series[k].row_target[j])) for k in known]
    wanted = roc_auc_score(ever, top) if len(set(ever)) > 1 else np.nan
    np.testing.assert_allclose(found["AUROC of series"], wanted)


def test_metrics_of_numbers_are_those_of_scikit_learn_over_known_rows() -> None:
    labels = RNG.normal(5, 3, sum(LENGTHS))
    labels[[0, 9, 13]] = np.nan
    series = labelled(labels)
    task = RowRegression.read(series)
    part = task.pose(series)
    task.check(part)
    task = task.calibrated(part)
    np.testing.assert_allclose(
        [task.of.scale.centre[0], task.of.scale.spread[0]], [np.nanmean(labels), np.nanstd(labels)]
    )
    outputs = torch.randn(6, 8, 1, dtype=torch.float64)
    told, label = known_pairs(series, task.answer(outputs))
    found = {name: score.model for name, score in task.scores(outputs, part).metrics.items()}
    assert found["R2"] == pytest.approx(r2_score(label, told[:, 0]))
    assert found["MAE"] == pytest.approx(mean_absolute_error(label, told[:, 0]))


def test_the_kind_of_label_decides_about_the_task() -> None:
    assert suggest_row_task(labelled(classes(2)))[0] is RowClassification
    assert suggest_row_task(labelled(classes(2) / 2))[0] is RowClassification
    assert suggest_row_task(labelled(RNG.normal(size=sum(LENGTHS))))[0] is RowRegression
    assert suggest_row_task(labelled(np.arange(sum(LENGTHS))))[0] is RowRegression


def test_a_stored_task_is_the_same() -> None:
    import json

    series = labelled(classes(3))
    for kind in (RowClassification, RowRegression):
        task = kind.read(series).calibrated(kind.read(series).pose(series))
        assert TASKS[task.name].restore(json.loads(json.dumps(task.state()))) == task


def test_what_cannot_be_learnt_is_refused() -> None:
    series = labelled(classes(2))
    with pytest.raises(InvalidTarget, match="the set has no row target"):
        RowClassification.read(replace(series, row_target=None))
    with pytest.raises(InvalidTarget, match="missing in every row"):
        RowClassification.read(labelled(np.full(sum(LENGTHS), np.nan)))
    with pytest.raises(InvalidTarget, match="Use task row-regression"):
        RowClassification.read(labelled(RNG.normal(size=sum(LENGTHS))))
    with pytest.raises(InvalidTarget, match="the class 7, which the model does not know"):
        RowClassification.read(series).pose(labelled(np.full(sum(LENGTHS), 7.0)))
    constant = labelled(np.ones(sum(LENGTHS)))
    for kind in (RowClassification, RowRegression):
        task = kind.read(constant)
        with pytest.raises(InvalidTarget):
            task.check(task.pose(constant))
