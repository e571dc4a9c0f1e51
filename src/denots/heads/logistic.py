"""Multinomial logistic regression, fitted by scikit-learn and kept as a linear map."""

import warnings

import numpy as np

from denots.shapes import FloatArray, IntArray

PENALTIES = 10.0 ** np.linspace(0, -4, 9)  # for each row; the strongest first, so that each starts from the one before


def fit_logistic(
    features: FloatArray, target: IntArray, judged: FloatArray, truth: IntArray, *, classes: int
) -> tuple[FloatArray, FloatArray]:
    """Weights [outputs, features] and biases of the map with the least log loss on the judged rows.

    There is one output for two classes, the log-odds of the second, and else one for each. A class that no row has
    seems as likely as if one row more had it. A feature that never varies has no weight.
    """
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.linear_model import LogisticRegression

    features = np.where(features.min(axis=0) < features.max(axis=0), features, 0.0)
    known = np.unique(target)
    unseen = -np.log(len(target) + 1.0)
    weight, bias = np.zeros((classes, features.shape[1])), np.full(classes, unseen)
    bias[known] = 0.0
    best = (weight.copy(), bias.copy())
    least = np.inf
    head = LogisticRegression(warm_start=True, max_iter=200)
    for penalty in PENALTIES if len(known) > 1 else ():
        head.set_params(C=1 / (penalty * len(target)))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # the next penalty goes on from here
            head.fit(features, target)
        own, level = head.coef_, head.intercept_
        if len(known) == 2:  # scikit-learn has one row for two classes
            own, level = np.stack([-own[0], own[0]]) / 2, np.array([-level[0], level[0]]) / 2
        weight[known], bias[known] = own, level
        loss = _log_loss(judged @ weight.T + bias, truth)
        if loss < least:
            best, least = (weight.copy(), bias.copy()), loss
    weight, bias = best
    return (weight, bias) if classes > 2 else (weight[1:] - weight[:1], bias[1:] - bias[:1])


def _log_loss(logits: FloatArray, truth: IntArray) -> float:
    shifted = logits - logits.max(axis=1, keepdims=True)
    told = shifted[np.arange(len(truth)), truth] - np.log(np.exp(shifted).sum(axis=1))
    return float(-told.mean())
