"""Arrays are packed as the safetensors library does, and what it packs is read."""

import numpy as np
import pytest
import safetensors.numpy

from denots.errors import InvalidFile
from denots.tensors import pack, unpack

ARRAYS = {
    "weight": np.random.default_rng(0).normal(size=(3, 4)).astype(np.float32),
    "a": np.arange(5),
    "flags": np.array([True, False]),
    "bytes": np.arange(7, dtype=np.uint8),
    "small": np.arange(3, dtype=np.int32),
    "nothing": np.zeros((0, 4)),
    "one": np.array(2.5),
}


def test_both_read_what_the_other_packs() -> None:
    ours, theirs = pack(ARRAYS), safetensors.numpy.save({k: np.asarray(v, order="C") for k, v in ARRAYS.items()})
    for found in (safetensors.numpy.load(ours), unpack(theirs), unpack(ours)):
        assert set(found) == set(ARRAYS)
        for name, array in ARRAYS.items():
            np.testing.assert_array_equal(found[name], array)
            assert (found[name].dtype, found[name].shape) == (array.dtype, array.shape)
    assert len(ours) == len(theirs)


@pytest.mark.parametrize("cut", [0, 4, 8, 40, -1])
def test_what_is_cut_short_is_refused(cut: int) -> None:
    with pytest.raises(InvalidFile):
        unpack(pack(ARRAYS)[:cut])


def test_what_lies_about_its_arrays_is_refused() -> None:
    packed = pack({"a": np.arange(4)})
    for old, new in (
        (b"[4]", b"[5]"),
        (b"[0,32]", b"[0,99]"),
        (b"I64", b"X64"),
        (b'"shape"', b'"shapo"'),
        (b"{", b"["),
    ):
        with pytest.raises(InvalidFile):
            unpack(packed.replace(old, new, 1))
    with pytest.raises(InvalidFile, match="end at byte 32 of 33"):
        unpack(packed + b"x")


def test_a_type_that_the_format_does_not_know_is_refused() -> None:
    with pytest.raises(TypeError, match="complex128"):
        pack({"a": np.ones(2, complex)})
