"""Gaussians that share what few series can tell: classes with a mean and a covariance each, fitted to incomplete evidence."""

from dataclasses import dataclass

import numpy as np

from denots.inference.discriminant import Evidence, Weights
from denots.shapes import FloatArray, IntArray

ROUNDS = 12  # of expectation and maximisation
LEAST_NOISE = 1e-3  # of the variance of a value
TO_MIDDLE = 1.0  # series that the mean of all is worth beside the mean of a class
TO_START = 0.5  # the same for what the covariance was before, in directions


@dataclass(frozen=True, slots=True, eq=False)
class Groups:
    """What all classes share, and the sums of each.

    shared [R, R]: the covariance within classes. scatter [classes, R, R]: sums of squares around each mean. counts [classes].
    """

    means: FloatArray
    shared: FloatArray
    noise: float
    scatter: FloatArray
    counts: FloatArray

    def gaussians(self, strength: float) -> Weights:
        """Those of each class, the covariance drawn to the shared one as if that had been seen so many times."""
        total = self.counts + strength
        own = (self.scatter + strength * self.shared) / total[:, None, None]
        return Weights(self.means, np.linalg.cholesky(own))


def fit_groups(evidence: Evidence, labels: IntArray, classes: int, weight: FloatArray, sample: IntArray) -> Groups:
    """Expectation and maximisation on a sample tell what is shared; all series then tell what is their class's own."""
    size = evidence.told.shape[1]
    some, its, own = evidence.select(sample), labels[sample], weight[sample]
    shared: FloatArray = np.eye(size)
    means: FloatArray = np.zeros((classes, size))
    noise = 0.2
    held = TO_START * size
    for _ in range(ROUNDS):
        centre, spread = _posteriors(some, its, means, shared, noise)
        means = _means(centre, its, own, classes)
        apart = centre - means[its]
        total = np.einsum("n,ni,nj->ij", own, apart, apart) + np.einsum("n,nij->ij", own, spread)
        usual = np.trace(total) / size / own.sum()
        shared = (total + held * usual * np.eye(size)) / (own.sum() + held)
        left = some.square - 2 * (some.told * centre).sum(axis=1) + np.einsum("nij,nij->n", some.gram, spread)
        left += np.einsum("ni,nij,nj->n", centre, some.gram, centre)
        noise = max(LEAST_NOISE, float((own * left).sum() / (own * some.seen).sum()))
    centre, spread = _posteriors(evidence, labels, means, shared, noise)
    means = _means(centre, labels, weight, classes)
    apart = centre - means[labels]
    scatter = np.zeros((classes, size, size))
    for k in range(classes):
        rows = labels == k
        scatter[k] = np.einsum("n,ni,nj->ij", weight[rows], apart[rows], apart[rows])
        scatter[k] += np.einsum("n,nij->ij", weight[rows], spread[rows])
    return Groups(means, shared, noise, scatter, np.bincount(labels, weight, classes).astype(np.float64))


def _posteriors(
    evidence: Evidence, labels: IntArray, means: FloatArray, shared: FloatArray, noise: float
) -> tuple[FloatArray, FloatArray]:
    factors = np.repeat(np.linalg.cholesky(shared)[None], len(means), axis=0)
    return Weights(means, factors).posteriors(evidence, labels, noise)


def _means(centre: FloatArray, labels: IntArray, weight: FloatArray, classes: int) -> FloatArray:
    middle = np.average(centre, axis=0, weights=weight)
    sums = np.zeros((classes, centre.shape[1]))
    np.add.at(sums, labels, weight[:, None] * centre)
    counts = np.bincount(labels, weight, classes)
    return np.asarray((sums + TO_MIDDLE * middle) / (counts + TO_MIDDLE)[:, None])
