"""Small maps of rows give the same bits wherever a row stands, and what other libraries give."""

import numpy as np
import pytest
from scipy.special import softmax

from denots import kernels


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("inputs", [1, 7, 16, 33, 1000])
def test_a_linear_map_is_right_and_does_not_depend_on_the_other_rows(dtype: type, inputs: int) -> None:
    rng = np.random.default_rng(inputs)
    x, weight = rng.normal(size=(37, inputs)).astype(dtype), rng.normal(size=(3, inputs)).astype(dtype)
    for bias in (rng.normal(size=3).astype(dtype), rng.normal(size=(37, 3)).astype(dtype)):
        found = kernels.linear_rows(x, weight, bias)
        exact = x.astype(np.longdouble) @ weight.T.astype(np.longdouble) + bias
        np.testing.assert_allclose(found, exact.astype(np.float64), atol=50 * np.finfo(dtype).eps * np.sqrt(inputs))
        alone = [
            kernels.linear_rows(x[k : k + 1], weight, bias if bias.ndim == 1 else bias[k : k + 1]) for k in range(37)
        ]
        np.testing.assert_array_equal(np.concatenate(alone), found)


@pytest.mark.parametrize("classes", [2, 3, 20])
def test_shares_are_those_of_scipy_and_do_not_depend_on_the_other_rows(classes: int) -> None:
    logits = np.random.default_rng(classes).normal(size=(70, classes)) * 30
    logits[5, 0] = np.nan
    found = kernels.softmax_rows(logits)
    np.testing.assert_allclose(found, softmax(logits, axis=1), rtol=1e-13)
    np.testing.assert_array_equal(np.concatenate([kernels.softmax_rows(row[None]) for row in logits]), found)
    assert np.isnan(found[5]).all()
    assert not np.isnan(np.delete(found, 5, axis=0)).any()
