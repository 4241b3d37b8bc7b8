"""Nothing imports from a layer to its right (docs/design.md)."""

import ast
from pathlib import Path

import coebl

ROOT = Path(coebl.__file__).parent

FOUNDATION = {"core"}
LAYERS = [
    {"games", "solver"},
    {"learners"},
    {"metrics"},
    {"engine"},
    {"statistics", "testing"},
    {"study"},
    {"claims"},
    {"report", "papers"},
    {"cli"},
]
RANK = dict.fromkeys(FOUNDATION, -1) | {name: rank for rank, names in enumerate(LAYERS) for name in names}


def imported(path: Path) -> set[str]:
    """The parts of coebl that a file imports, also inside functions and for types."""
    parts = set()
    for node in ast.walk(ast.parse(path.read_text())):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: imports are absolute here"
            names = [node.module or ""]
            if node.module == "coebl":
                names = [f"coebl.{alias.name}" for alias in node.names]
        parts |= {name.split(".")[1] for name in names if name.startswith("coebl.")} - {"__version__"}
    return parts


def test_every_part_has_a_layer():
    parts = {path.stem for path in ROOT.iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()}
    assert parts - {"__init__"} <= set(RANK)


def test_nothing_imports_from_the_right():
    wrong = []
    for path in sorted(ROOT.rglob("*.py")):
        part = path.relative_to(ROOT).parts[0].removesuffix(".py")
        if part == "__init__":
            continue
        wrong += [f"{path.relative_to(ROOT)} imports {other}" for other in imported(path) if RANK[other] > RANK[part]]
    assert not wrong


def test_the_foundation_stands_alone():
    for name in FOUNDATION:
        assert imported(ROOT / f"{name}.py") <= FOUNDATION
