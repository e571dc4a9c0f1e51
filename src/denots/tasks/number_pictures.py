"""Pictures by which numbers are judged: answers beside the truth, and how far and where they miss it."""

import numpy as np

from denots.pages.chart import Chart, Line, Picture, thinned
from denots.shapes import FloatArray

BINS = 30


def number_pictures(name: str, answers: FloatArray, truth: FloatArray) -> tuple[Picture, ...]:
    """Of one number a series, or a question; what is not known is left out."""
    known = np.isfinite(answers) & np.isfinite(truth)
    answers, truth = answers[known], truth[known]
    if not len(truth):
        return ()
    rank = np.argsort(truth, kind="stable")
    x, y = thinned(truth[rank], answers[rank])
    more = f"{len(x)} of {len(truth)}, evenly chosen." if len(x) < len(truth) else ""
    of = f" of {name}" if name else ""
    ends = np.array([min(x.min(), y.min()), max(x.max(), y.max())])
    right = Line("answers that are right", ends, ends, "guide")
    level = Line("answers that are right", np.array([y.min(), y.max()]), np.zeros(2), "guide")
    return (
        Chart(f"Answers beside the truth{of}.", "truth", "answer", (right, Line("answers", x, y, "dots")), more),
        Chart(f"Residuals{of}.", "answer", "answer - truth", (level, Line("residuals", y, y - x, "dots")), more),
        _histogram(f"Distribution of residuals{of}.", answers - truth),
    )


def _histogram(title: str, residuals: FloatArray) -> Chart:
    """Between the quantiles of 0.5 and 99.5 %, so that one miss does not hide the others."""
    low, high = np.quantile(residuals, [0.005, 0.995])
    space = max(1e-6 * np.abs([low, high]).max(), 1e-12)  # so that residuals that are all the same have bins, too
    counts, edges = np.histogram(residuals, BINS, (low - space, high + space))
    outside = len(residuals) - int(counts.sum())
    note = f"Mean {residuals.mean():.3g}, standard deviation {residuals.std():.3g}."
    note += f" {outside} of {len(residuals)} lie further out." if outside else ""
    bars = Line("count", (edges[1:] + edges[:-1]) / 2, counts.astype(np.float64), "bars")
    return Chart(title, "answer - truth", "count", (bars,), note)
