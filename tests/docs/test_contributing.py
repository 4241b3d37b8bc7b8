"""The examples of CONTRIBUTING.md work as printed: a learner, a metric, a game and an operator, one file each."""

import re
import shlex
from pathlib import Path

import pytest

PAGE = (Path(__file__).parents[2] / "CONTRIBUTING.md").read_text("utf-8")
FILES = dict(re.findall(r'^```python title="([^"]+)"\n(.*?)^```$', PAGE, re.MULTILINE | re.DOTALL))
COMMANDS = re.findall(r"^    coebl (.+)$", PAGE, re.MULTILINE)


@pytest.mark.parametrize("command", COMMANDS)
def test_the_commands_of_the_examples_succeed(command, coebl, tmp_path):
    for name, content in FILES.items():
        (tmp_path / name).write_text(content, "utf-8")
    done = coebl(*shlex.split(command), cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_example_is_checked():
    assert list(FILES) == ["greedy.py", "surprise.py", "tables.py", "constant.py"]
    checked = " ".join(command for command in COMMANDS if command.startswith("check"))
    assert [name for name in FILES if name not in checked] == []
