"""The workflow for a public forge runs the commands of the README, on every Python that pyproject.toml allows."""

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture
def jobs():
    yaml = pytest.importorskip("yaml")  # comes with MkDocs
    return yaml.safe_load((ROOT / ".github" / "workflows" / "test.yml").read_text("utf-8"))["jobs"]


def commands(job):
    return [step["run"] for step in job["steps"] if "run" in step]


def test_its_commands_are_targets_of_the_makefile_with_a_checkout_and_a_python_before_them(jobs):
    targets = re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE)
    for job in jobs.values():
        used = [step["uses"].partition("@")[0] for step in job["steps"] if "uses" in step]
        assert used == ["actions/checkout", "actions/setup-python"]
        assert "run" in job["steps"][-1]
        for command in commands(job):
            make, target = command.split()
            assert make == "make"
            assert target in targets


def test_it_tests_as_the_readme_and_the_local_ci_do(jobs):
    assert commands(jobs["test"]) == ["make test"]
    assert re.search(r"^    make test  ", (ROOT / "README.md").read_text("utf-8"), re.MULTILINE)
    assert (ROOT / ".ci" / "run").read_text("utf-8").splitlines()[-1] == "make test"


def test_it_tests_every_supported_python(jobs):
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    classifiers = re.findall(r"Python :: (3\.\d+)", "\n".join(project["classifiers"]))
    assert jobs["test"]["strategy"]["matrix"]["python"] == classifiers
    assert project["requires-python"] == f">={classifiers[0]}"
    [setup] = [step for step in jobs["test"]["steps"] if "setup-python" in step.get("uses", "")]
    for path in setup["with"]["cache-dependency-path"].split():
        assert (ROOT / path).is_file()


def test_the_hook_for_types_covers_what_make_lint_does():
    """The source distribution contains the hooks too."""
    yaml = pytest.importorskip("yaml")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    [repo] = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text("utf-8"))["repos"]
    [pattern] = [hook["files"] for hook in repo["hooks"] if hook["id"] == "mypy"]
    for folder in project["tool"]["mypy"]["files"]:
        assert re.search(pattern, f"{folder}/some/file.py")
    assert ".pre-commit-config.yaml" in project["tool"]["hatch"]["build"]["targets"]["sdist"]["include"]
