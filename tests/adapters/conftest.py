"""Suites of other libraries: they look at signatures, and what they found is told at the end of the tests."""

import inspect
from collections.abc import Callable

import pytest


@pytest.fixture
def plain_signature(monkeypatch: pytest.MonkeyPatch) -> Callable[[type], type]:
    """The class as it is without the checker of shapes that all tests install, which hides its signature."""

    def plain(kind: type) -> type:
        monkeypatch.setattr(kind, "__init__", inspect.unwrap(kind.__init__))  # type: ignore[misc]
        return kind

    return plain
