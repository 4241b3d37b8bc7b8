"""Nothing imports from an outer ring, and nothing imports another module's private names (docs/design.md)."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import coebl
from coebl.backend import DEVICES

ROOT = Path(coebl.__file__).parent

RINGS = {
    "core": ["core"],
    "model": ["backend", "kernels", "solver", "games", "learners", "search", "metrics", "naming"],
    "engine": ["engine"],
    "lab": ["study", "evidence", "testing"],
    "shows": ["plots", "report", "tournament", "papers", "cli", "__main__"],
}
THEMSELVES = {  # objects that can display themselves: methods of these modules import plots and reports
    "games/game.py",
    "engine/player.py",
    "engine/result.py",
    "evidence/compare.py",
    "study/results.py",
}
RANK = {name: rank for rank, names in enumerate(RINGS.values()) for name in names}
HOMES = {name: home.split(".")[1] for home, names in coebl._HOMES.items() for name in names}  # of public names
IN_STRINGS = re.compile(r"coebl([.:]\w+)+")  # "coebl.report.page", "coebl.papers:load_paper"


def parse(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def imports(tree: ast.AST) -> Iterator[tuple[str, str]]:
    """Every module that code imports, and each name out of it, also inside functions and for types."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name, "") for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"line {node.lineno}: imports are absolute here"
            yield from ((node.module or "", alias.name) for alias in node.names)


def imported(tree: ast.AST) -> list[str]:
    """The parts of coebl that code imports: in statements, as attributes, or by a string. "" is any part."""
    names = [f"{module}.{name}" if name else module for module, name in imports(tree)]
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            names.append(f"{node.value.id}.{node.attr}")
        elif isinstance(node, ast.alias) and node.name == "coebl":
            assert node.asname is None, "coebl keeps its name, so that its attributes are found here"
        elif isinstance(node, ast.Constant) and IN_STRINGS.fullmatch(str(node.value)):
            names.append(str(node.value).replace(":", "."))
        elif isinstance(node, (ast.JoinedStr, ast.BinOp)):  # f"coebl.{name}" and "coebl." + name
            first = node.left if isinstance(node, ast.BinOp) else next(iter(node.values), None)
            names += [str(first.value)] if isinstance(first, ast.Constant) else []
    parts = [name.split(".")[1] for name in names if name.startswith("coebl.") and name != "coebl.__version__"]
    return [HOMES.get(part, part.strip("*")) for part in parts]


def outward(ring: int, tree: ast.AST) -> set[str]:
    """The parts of outer rings among those that code imports; specs of learners, such as "coebl:c", are not counted."""
    return {part for part in imported(tree) if RANK.get(part, 0 if part else len(RINGS) - 1) > ring}


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
        name, tree = path.relative_to(ROOT).as_posix(), parse(path)
        outer = outward(RANK[part], tree)
        if name in THEMSELVES:
            outer = (outer - {"plots", "report"}) | outward(RANK[part], without_bodies(tree))
        wrong += [f"{name} imports {other or 'by a string'}" for other in outer]
    assert not wrong


def without_bodies(tree: ast.Module) -> ast.Module:
    """The code outside functions."""
    for node in list(ast.walk(tree)):
        if isinstance(node, ast.FunctionDef):
            node.body = []
    return tree


@pytest.mark.parametrize(
    ("code", "part"),
    [
        ('require("coebl.report.page")', "report"),
        ('load("coebl.papers:load_paper")', "papers"),
        ('Lazy(f"coebl.{name}")', ""),
        ('Lazy("coebl." + name)', ""),
        ('load("coebl:Study")', "study"),
        ("import coebl\ncoebl.Study", "study"),
        ("from coebl import Study", "study"),
        ("from coebl import *", ""),
        ("from coebl.report.page import *", "report"),
    ],
)
def test_every_way_to_import_is_found(code, part):
    assert outward(0, ast.parse(code)) == {part}


def test_few_modules_import_cupy():
    """Only the backend and the GPU solver do; core/modules.py stores which extra installs it."""
    known = {"backend/cuda.py", "core/modules.py"}
    known |= {path.relative_to(ROOT).as_posix() for path in (ROOT / "solver" / "cuda").glob("*.py")}
    importers = set()
    for path in modules():
        tree = parse(path)
        names = [module for module, _ in imports(tree)]
        names += [
            node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)
        ]
        if any(name.partition(".")[0] in ("cupy", "cupyx") for name in names):
            importers.add(path.relative_to(ROOT).as_posix())
    assert importers - known == set()


def test_only_the_backend_depends_on_the_device():
    """No other module compares with the name of a device, or has a table of them; defaults and messages are allowed."""
    allowed = {"core/modules.py"}  # the extra that installs CuPy is called cuda too
    dependents = set()
    for path in modules():
        name = path.relative_to(ROOT).as_posix()
        if not name.startswith(("backend/", "solver/cuda/")) and any(map(is_device, compared_values(path))):
            dependents.add(name)
    assert dependents == allowed


def compared_values(path: Path) -> Iterator[ast.expr | None]:
    """Yield every operand of a comparison and every key of a lookup in a file."""
    for node in ast.walk(parse(path)):
        if isinstance(node, ast.Compare):
            for operand in (node.left, *node.comparators):
                yield from operand.elts if isinstance(operand, (ast.Tuple, ast.List, ast.Set)) else [operand]
        elif isinstance(node, ast.Dict):
            yield from node.keys
        elif isinstance(node, ast.Subscript):
            yield node.slice
        elif isinstance(node, ast.MatchValue):
            yield node.value


def is_device(node: ast.expr | None) -> bool:
    return isinstance(node, ast.Constant) and node.value in DEVICES


def test_no_private_name_is_imported_by_another_module():
    wrong = [
        f"{path.relative_to(ROOT)}: {module} {name}"
        for path in modules()
        for module, name in imports(parse(path))
        if module.startswith("coebl") and any(map(is_private, (*module.split("."), name)))
    ]
    assert not wrong


def is_private(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__")


def test_no_registry_name_has_another_meaning():
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
    statements = parse(path).body
    targets = [statement.targets[0] for statement in statements if isinstance(statement, ast.Assign)]
    targets += [statement.target for statement in statements if isinstance(statement, ast.AnnAssign)]
    return {target.id for target in targets if isinstance(target, ast.Name)}
