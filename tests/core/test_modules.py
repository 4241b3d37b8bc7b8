"""A missing package is reported in one line, with the command that installs it."""

import re
import sys
import tomllib
from pathlib import Path

import pytest

import coebl
from coebl.core.errors import InputError
from coebl.core.modules import load_file, require

ROOT = Path(__file__).parents[2]
SOURCE = "".join(path.read_text("utf-8") for path in Path(coebl.__file__).parent.rglob("*.py"))
OPTIONAL = set(re.findall(r'(?:require|Lazy)\("([\w.]+)"', SOURCE))


@pytest.mark.parametrize("module", sorted(OPTIONAL))
def test_a_missing_package_is_named_with_its_extra(module, monkeypatch):
    package = module.partition(".")[0]
    monkeypatch.delitem(sys.modules, module, raising=False)  # another test may have imported it
    monkeypatch.setitem(sys.modules, package, None)  # as if it were not installed
    with pytest.raises(InputError, match=rf"^this needs {package}; run: pip install 'coebl\[\w+\]'$") as caught:
        require(module)
    extra = str(caught.value).partition("[")[2].partition("]")[0]
    assert extra in tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]


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
