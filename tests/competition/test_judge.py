"""What contenders tell is judged as scikit-learn judges it."""

import numpy as np
import pytest
from sklearn.metrics import accuracy_score, average_precision_score, log_loss, r2_score, roc_auc_score

from denots.competition.judge import Told, judge


def test_probabilities_of_two_and_of_more_classes() -> None:
    rng = np.random.default_rng(0)
    for classes in (np.array(["ill", "well"]), np.array([3, 5, 9])):
        shares = rng.dirichlet(np.ones(len(classes)), 50)
        target = rng.choice(classes, 50)
        found = judge(Told.of_shares(shares, classes), target)
        assert found["accuracy"] == accuracy_score(target, classes[shares.argmax(axis=1)])
        assert found["log loss"] == pytest.approx(log_loss(target, shares, labels=classes))
        if len(classes) == 2:
            assert found["AUROC"] == pytest.approx(roc_auc_score(target == "well", shares[:, 1]))
            assert found["average precision"] == pytest.approx(average_precision_score(target == "well", shares[:, 1]))
        else:
            assert set(found) == {"accuracy", "log loss"}


def test_a_class_that_nobody_learnt_is_wrong_but_not_infinitely() -> None:
    told = Told.of_shares(np.array([[1.0, 0.0], [0.5, 0.5]]), np.array(["a", "b"]))
    found = judge(told, np.array(["c", "a"]))
    assert found["accuracy"] == 0.5
    assert found["log loss"] == pytest.approx((np.log(1e15) + np.log(2)) / 2)


def test_numbers_are_judged_by_r2_and_rmse() -> None:
    rng = np.random.default_rng(1)
    truth, said = rng.normal(size=30), rng.normal(size=30)
    found = judge(Told(said), truth)
    assert found["R2"] == pytest.approx(r2_score(truth, said))
    assert found["RMSE"] == pytest.approx(np.sqrt(((truth - said) ** 2).mean()))
