"""Nothing imports from an outer ring, and nothing imports another module's private names (docs/design.md)."""

import ast
from collections.abc import Iterator
from pathlib import Path

import coebl

ROOT = Path(coebl.__file__).parent

RINGS = {
    "core": ["core"],
    "model": ["backend", "kernels", "solver", "games", "learners", "search", "metrics", "naming"],
    "engine": ["engine"],
    "lab": ["study", "evidence", "testing"],
    "shows": ["plots", "report", "tournament", "papers", "cli", "__main__"],
}
THEMSELVES = {  # objects that can display themselves: methods of these modules import the ring "shows"
    "games/game.py",
    "engine/player.py",
    "engine/result.py",
    "evidence/compare.py",
    "study/results.py",
}
RANK = {name: rank for rank, names in enumerate(RINGS.values()) for name in names}


def imports(path: Path) -> Iterator[tuple[str, str]]:
    """Every module that a file imports, and each name out of it, also inside functions and for types."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from ((alias.name, "") for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: imports are absolute here"
            yield from ((node.module or "", alias.name) for alias in node.names)


def imported(path: Path) -> set[str]:
    """The parts of coebl that a file imports."""
    names = [f"{module}.{name}" for module, name in imports(path)]
    return {name.split(".")[1] for name in names if name.startswith("coebl.")} - {"", "__version__"}


def modules() -> list[Path]:
    return sorted(ROOT.rglob("*.py"))


def test_every_part_has_a_ring():
    parts = {path.stem for path in ROOT.iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()}
    assert parts - {"__init__"} == set(RANK)


def test_nothing_imports_from_an_outer_ring():
    wrong = []
    for path in modules():
        part = path.relative_to(ROOT).parts[0].removesuffix(".py")
        if part == "__init__":
            continue
        name = path.relative_to(ROOT).as_posix()
        allowed = {"plots", "report"} if name in THEMSELVES else set()
        wrong += [f"{name} imports {other}" for other in imported(path) - allowed if RANK[other] > RANK[part]]
    assert not wrong


def test_no_part_is_imported_from_a_string():
    """The test above would not notice such an import."""
    wrong = []
    for path in modules():
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, (ast.Name, ast.Attribute)):
                name = node.func.id if isinstance(node.func, ast.Name) else node.func.attr
                strings = [argument.value for argument in node.args if isinstance(argument, ast.Constant)]
                if name == "import_module" and any(str(string).startswith("coebl") for string in strings):
                    wrong.append(f"{path.relative_to(ROOT)}: {strings}")
    assert not wrong


def test_few_modules_know_that_there_is_cupy():
    """Those of the backend and the solver on a GPU; core/modules.py stores which extra installs it."""
    known = {"backend/cuda.py", "core/modules.py"}
    known |= {path.relative_to(ROOT).as_posix() for path in (ROOT / "solver" / "cuda").glob("*.py")}
    found = set()
    for path in modules():
        names = [module for module, _ in imports(path)]
        tree = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        names += [node.value for node in tree if isinstance(node, ast.Constant) and isinstance(node.value, str)]
        if any(name.partition(".")[0] in ("cupy", "cupyx") for name in names):
            found.add(path.relative_to(ROOT).as_posix())
    assert found - known == set()


def test_no_private_name_is_imported_by_another_module():
    wrong = [
        f"{path.relative_to(ROOT)}: {module} {name}"
        for path in modules()
        for module, name in imports(path)
        if module.startswith("coebl") and any(map(is_private, (*module.split("."), name)))
    ]
    assert not wrong


def is_private(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__")


def test_no_registry_name_stands_for_something_else():
    checkout = Path(__file__).parents[1]
    homes: dict[str, list[str]] = {"GAMES": [], "LEARNERS": [], "METRICS": [], "NOISES": []}
    for folder in ("src", "benchmarks", "tests"):
        for path in sorted((checkout / folder).rglob("*.py")):
            for name in assigned(path) & homes.keys():
                homes[name].append(path.relative_to(checkout).as_posix())
    assert homes == {
        "GAMES": ["src/coebl/games/registry.py"],
        "LEARNERS": ["src/coebl/learners/registry.py"],
        "METRICS": ["src/coebl/metrics/registry.py"],
        "NOISES": ["src/coebl/games/noise.py"],
    }


def assigned(path: Path) -> set[str]:
    """The names that a file assigns to at its top level."""
    statements = ast.parse(path.read_text(encoding="utf-8")).body
    targets = [one.targets[0] for one in statements if isinstance(one, ast.Assign)]
    targets += [one.target for one in statements if isinstance(one, ast.AnnAssign)]
    return {target.id for target in targets if isinstance(target, ast.Name)}
