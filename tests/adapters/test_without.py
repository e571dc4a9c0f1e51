"""Adapters without their library."""

import importlib
import sys

import pytest

from denots.errors import MissingExtra


@pytest.mark.parametrize("library", ["aeon", "sktime"])
def test_an_adapter_says_how_to_install_its_library(library: str, monkeypatch: pytest.MonkeyPatch) -> None:
    gone = [name for name in sys.modules if name.split(".")[0] == library]
    for name in (*gone, library):
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.delitem(sys.modules, f"denots.adapters.{library}", raising=False)
    with pytest.raises(MissingExtra, match=rf"needs {library}.*pip install 'denots\[{library}\]'"):
        importlib.import_module(f"denots.adapters.{library}")
