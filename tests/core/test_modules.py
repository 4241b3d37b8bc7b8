"""A missing package is reported in one line, with the command that installs it."""

import sys
from pathlib import Path

import pytest

from coebl.core.errors import InputError
from coebl.core.modules import load_file, require


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


def test_a_file_that_changes_the_current_folder_moves_nothing(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "elsewhere").mkdir()
    for name, end in (("good.py", ""), ("bad.py", "raise ValueError")):
        (tmp_path / name).write_text(f"import os\nos.chdir('elsewhere')\nhere = os.getcwd()\n{end}\n")
    assert load_file("good.py").here == str(tmp_path / "elsewhere")
    with pytest.raises(InputError, match=r"bad\.py, line 4: ValueError"):
        load_file("bad.py")
    assert Path.cwd() == tmp_path
