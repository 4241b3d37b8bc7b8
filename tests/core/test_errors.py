import runpy

import pytest

from coebl.core.errors import where


def test_the_line_that_is_named_is_the_users_not_one_of_a_compiled_library(tmp_path):
    file = tmp_path / "mine.py"
    file.write_text("import numpy as np\n\nnp.random.default_rng(0).choice(-1)\n")
    with pytest.raises(ValueError, match="a must be") as raised:
        runpy.run_path(str(file))
    assert where(raised.value) == f"{file}, line 3"
