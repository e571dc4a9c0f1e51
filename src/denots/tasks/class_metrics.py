"""How good probabilities of classes are: whether they are right, whether they rank, whether they mean what they say."""

import numpy as np

from denots.shapes import BoolArray, FloatArray, IntArray
from denots.tasks.scores import NAN, Bin, Judge

FIXED = 0.9  # the specificity at which sensitivity is told, and the reverse
BINS = 10
SMALLEST = 1e-15  # a probability of zero that came true would cost infinitely much
NEWTON_STEPS = 25


def judge_classes(shares: FloatArray, truth: IntArray) -> Judge:
    """Metrics of the probabilities [n, classes] of classes that are known; with two classes, also of their order."""
    binary = shares.shape[1] == 2
    right = shares.argmax(axis=1) == truth
    wrong = np.square(shares - np.eye(shares.shape[1])[truth]).sum(axis=1) / (2 if binary else 1)
    surprise = -np.log(np.clip(shares[np.arange(len(truth)), truth], SMALLEST, 1.0))
    predicted, came_true = _confidence(shares, truth)
    logits = np.log(np.clip(predicted, SMALLEST, 1.0)) - np.log(np.clip(1 - predicted, SMALLEST, 1.0))

    def judge(rows: IntArray) -> dict[str, float]:
        own, hit = truth[rows], right[rows]
        found = {
            "accuracy": float(hit.mean()),
            "balanced accuracy": float(np.mean([hit[own == k].mean() for k in np.unique(own)])),
        }
        if binary:
            found |= _ranking(predicted[rows], came_true[rows])
        found |= {
            "Brier": float(wrong[rows].mean()),
            "log loss": float(surprise[rows].mean()),
            "calibration error": calibration_error(predicted[rows], came_true[rows]),
        }
        if binary:
            found["calibration slope"] = calibration_slope(logits[rows], came_true[rows])
            found["calibration intercept"] = calibration_intercept(logits[rows], came_true[rows])
        return found

    return judge


def _confidence(shares: FloatArray, truth: IntArray) -> tuple[FloatArray, BoolArray]:
    """Probabilities whose meaning can be checked: of the second of two classes, of the chosen one of several."""
    if shares.shape[1] == 2:
        return shares[:, 1], truth == 1
    return shares.max(axis=1), shares.argmax(axis=1) == truth


def _ranking(predicted: FloatArray, positive: BoolArray) -> dict[str, float]:
    """From one sort, because resampling asks hundreds of times and a library checks its input every time."""
    names = ("AUROC", "average precision", f"sensitivity at specificity {FIXED}", f"specificity at sensitivity {FIXED}")
    if positive.all() or not positive.any():
        return dict.fromkeys(names, NAN)
    order = np.argsort(-predicted)
    last = np.append(np.flatnonzero(np.diff(predicted[order])), len(order) - 1)  # of equal probabilities
    hits, called = np.cumsum(positive[order])[last], last + 1
    true = np.append(0.0, hits / hits[-1])
    false = np.append(0.0, (called - hits) / (called[-1] - hits[-1]))
    values = (
        np.trapezoid(true, false),
        (np.diff(true) * hits / called).sum(),
        true[false <= 1 - FIXED + 1e-12].max(),
        1 - false[true >= FIXED - 1e-12].min(),
    )
    return dict(zip(names, map(float, values), strict=True))


def calibration_error(predicted: FloatArray, came_true: BoolArray) -> float:
    """Expected calibration error: how far predicted and observed shares lie apart, over bins of equally many series.

    Shares of small bins scatter, so that few series make even right probabilities look wrong.
    """
    bins = _bins(predicted)
    gaps = np.bincount(bins, predicted - came_true)
    return float(np.abs(gaps).sum() / len(predicted))


def reliability(shares: FloatArray, truth: IntArray) -> tuple[Bin, ...]:
    """Predicted beside observed shares in the same bins; the interval of 95 % is Wilson's."""
    from scipy.stats import binomtest

    predicted, came_true = _confidence(shares, truth)
    bins, found = _bins(predicted), []
    for own in (bins == k for k in np.unique(bins)):
        hits, count = int(came_true[own].sum()), int(own.sum())
        low, high = binomtest(hits, count).proportion_ci(method="wilson")
        found.append(Bin(count, float(predicted[own].mean()), hits / count, float(low), float(high)))
    return tuple(found)


def _bins(predicted: FloatArray) -> IntArray:
    """The bin of each series, by its quantile; equal probabilities share one."""
    cuts = np.unique(np.quantile(predicted, np.arange(1, BINS) / BINS))
    return np.searchsorted(cuts, predicted, side="left")


def calibration_slope(logits: FloatArray, positive: BoolArray) -> float:
    """By what logits would have to be multiplied; below 1 where they are too certain, NaN where all are the same."""
    if np.ptp(logits) == 0:
        return NAN
    return float(_logistic(np.column_stack([np.ones_like(logits), logits]), positive, np.zeros_like(logits))[1])


def calibration_intercept(logits: FloatArray, positive: BoolArray) -> float:
    """What would have to be added to all logits; above 0 where the second class comes more often than it is told."""
    return float(_logistic(np.ones((len(logits), 1)), positive, logits)[0])


def _logistic(design: FloatArray, positive: BoolArray, offset: FloatArray) -> FloatArray:
    """Weights of a logistic regression by Newton's method; NaN where the classes can be told apart without error."""
    weights = np.zeros(design.shape[1])
    nothing = np.full_like(weights, NAN)
    if positive.all() or not positive.any():
        return nothing
    for _ in range(NEWTON_STEPS):
        shares = 1 / (1 + np.exp(-np.clip(design @ weights + offset, -500, 500)))
        curvature = (design.T * (shares * (1 - shares))) @ design
        if np.linalg.cond(curvature) > 1e12:
            return nothing
        step = np.linalg.solve(curvature, design.T @ (positive - shares))
        weights = weights + step
        if np.abs(step).max() < 1e-8 * (1 + np.abs(weights).max()):
            return weights
    return nothing
