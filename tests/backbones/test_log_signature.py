"""Depth-2 log-signatures, judged by Chen's identity and by a library for signatures."""

import numpy as np
import pysiglib
import pytest

from denots.backbones.log_signature import log_signature_size, log_signatures


def by_chen(points: np.ndarray) -> np.ndarray:
    """The truncated signature, segment by segment with Chen's identity; then its logarithm."""
    d = points.shape[1]
    level1, level2 = np.zeros(d), np.zeros((d, d))
    for step in np.diff(points, axis=0):
        level2 = level2 + np.outer(level1, step) + 0.5 * np.outer(step, step)
        level1 = level1 + step
    logarithm = level2 - 0.5 * np.outer(level1, level1)
    np.testing.assert_allclose(logarithm, -logarithm.T, atol=1e-12)  # what is left lies in the Lie algebra
    return np.concatenate([level1, logarithm[np.triu_indices(d, 1)]])


@pytest.mark.parametrize("channels", [1, 2, 3, 6])
def test_windows_have_the_log_signatures_of_chens_identity(channels: int) -> None:
    points = np.random.default_rng(1).normal(size=(30, channels)).cumsum(axis=0) + 50
    first, last = np.array([0, 4, 4, 20, 11]), np.array([4, 5, 17, 29, 12])
    found = log_signatures(points, first, last)
    assert found.shape == (5, log_signature_size(channels))
    for window, (a, b) in enumerate(zip(first, last, strict=True)):
        np.testing.assert_allclose(found[window], by_chen(points[a : b + 1]), atol=1e-11)


def test_a_unit_square_sweeps_its_area() -> None:
    square = np.array([[0.0, 0], [1, 0], [1, 1], [0, 1], [0, 0]])
    np.testing.assert_allclose(log_signatures(square, np.array([0]), np.array([4])), [[0.0, 0.0, 1.0]])


def test_windows_equal_those_of_a_signature_library() -> None:
    points = np.random.default_rng(2).normal(size=(25, 4)).cumsum(axis=0)
    pysiglib.prepare_log_sig(4, 2, method=2)
    expected = pysiglib.log_sig(points, 2, method=2)
    np.testing.assert_allclose(log_signatures(points, np.array([0]), np.array([24]))[0], expected, atol=1e-12)
