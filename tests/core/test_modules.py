"""Packages that are missing are asked for in one line."""

import sys

import pytest

from coebl.core.errors import InputError
from coebl.core.modules import require


def test_a_missing_package_is_named_with_its_extra(monkeypatch):
    monkeypatch.delitem(sys.modules, "nashpy.game", raising=False)  # another test may have imported it
    monkeypatch.setitem(sys.modules, "nashpy", None)  # as if it were not installed
    with pytest.raises(InputError, match=r"^this needs nashpy; run: pip install 'coebl\[interchange\]'$"):
        require("nashpy.game")


def test_a_fault_inside_a_package_is_not_hidden(monkeypatch, tmp_path):
    (tmp_path / "pandas.py").write_text("import something_that_is_not_there")
    monkeypatch.delitem(sys.modules, "pandas", raising=False)
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ModuleNotFoundError, match="something_that_is_not_there"):
        require("pandas")
