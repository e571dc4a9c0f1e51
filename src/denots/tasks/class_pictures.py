"""Pictures by which probabilities of classes are judged: ROC, precision and recall, and who was taken for whom."""

from collections.abc import Sequence

import numpy as np

from denots.pages.chart import Chart, Grid, Line, Picture, thinned
from denots.shapes import FloatArray, IntArray

MOST_CURVES, MOST_CLASSES = 8, 12  # of which curves and cells are shown, the most frequent ones


def class_pictures(names: Sequence[str], shares: FloatArray, truth: IntArray) -> tuple[Picture, ...]:
    """For two classes the curves of the second one, for more those of each against all others; classes never seen have none."""
    counts = np.bincount(truth, minlength=len(names))
    classes = np.argsort(-counts, kind="stable")[:MOST_CURVES] if len(names) > 2 else np.array([1])
    known = [int(k) for k in classes if 0 < counts[k] < len(truth)]
    grid = _confusion(names, shares.argmax(axis=1), truth)
    if not known:
        return (grid,)
    note = "Each class against all others."
    if len(names) > MOST_CURVES:
        note += f" The {MOST_CURVES} most frequent of {len(names)} classes."
    note = note if len(names) > 2 else f"For the class {names[1]}."
    return (
        _roc([(names[k], shares[:, k], truth == k) for k in known], note),
        _precision_recall([(names[k], shares[:, k], truth == k) for k in known], note),
        grid,
    )


def _roc(curves: Sequence[tuple[str, FloatArray, np.ndarray]], note: str) -> Chart:
    from sklearn.metrics import auc, roc_curve

    lines = [Line("without knowledge", np.array([0.0, 1.0]), np.array([0.0, 1.0]), "guide")]
    for name, share, positive in curves:
        false, true, _ = roc_curve(positive, share)
        x, y = thinned(false, true)
        lines.append(Line(f"{name}, area {auc(false, true):.3f}", x, y))
    return Chart("ROC curve.", "1 - specificity", "sensitivity", tuple(lines), note, (0.0, 1.0), (0.0, 1.0))


def _precision_recall(curves: Sequence[tuple[str, FloatArray, np.ndarray]], note: str) -> Chart:
    from sklearn.metrics import average_precision_score, precision_recall_curve

    lines = []
    for name, share, positive in curves:
        precision, recall, _ = precision_recall_curve(positive, share)
        x, y = thinned(recall, precision)
        lines.append(Line(f"{name}, average precision {average_precision_score(positive, share):.3f}", x, y))
    if len(curves) == 1:
        level = float(curves[0][2].mean())
        lines.insert(0, Line(f"without knowledge, {level:.3f}", np.array([0.0, 1.0]), np.full(2, level), "guide"))
    return Chart("Precision and recall.", "recall", "precision", tuple(lines), note, (0.0, 1.0), (0.0, 1.0))


def _confusion(names: Sequence[str], told: IntArray, truth: IntArray) -> Grid:
    """Counts of series by true and told class; of many classes the rarest ones are joined."""
    order = np.argsort(-np.bincount(truth, minlength=len(names)), kind="stable")
    shown = np.sort(order if len(names) <= MOST_CLASSES else order[: MOST_CLASSES - 1])
    place = np.full(len(names), len(shown))
    place[shown] = np.arange(len(shown))
    labels = [str(names[k]) for k in shown] + ([] if len(shown) == len(names) else ["others"])
    counts = np.zeros((len(labels), len(labels)), dtype=np.int64)
    np.add.at(counts, (place[truth], place[told]), 1)
    rows = tuple((name, tuple(row)) for name, row in zip(labels, counts.tolist(), strict=True))
    return Grid(
        "Confusion.", "truth \\ told", tuple(labels), rows, "Series by their class and by the most probable one."
    )
