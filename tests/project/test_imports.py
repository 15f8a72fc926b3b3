"""The packages depend on each other in one direction, and no name is used for two different things."""

import ast
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src" / "joints"

# What each part of the package may import; modules directly under `joints` are parts of their own.
LEAVES = {"errors", "features", "frames", "interface", "lazy", "parameters", "patches"}
LIBRARY = LEAVES | {"numerics"}
ALLOWED = {
    "numerics": {"patches"},
    "features": {"frames", "parameters"},
    "forest": LIBRARY,
    "circuit": LIBRARY | {"forest"},
    "impute": LIBRARY | {"forest", "circuit"},
    "runtime": {"errors", "patches"},
    "data": {"errors", "runtime"},
    "study": LIBRARY | {"forest", "circuit", "impute", "data", "runtime"},
    "render": LIBRARY | {"forest", "circuit", "impute", "data", "runtime", "study"},
    "__init__": {"lazy", "forest", "circuit"},
    "inspect": LIBRARY | {"forest", "circuit"},
    "prepare": LIBRARY | {"forest", "circuit", "impute", "inspect"},
}
STEMS = {"__init__"}  # one per package


def modules():
    return sorted(SOURCE.rglob("*.py"))


def part_of(path):
    relative = path.relative_to(SOURCE)
    return relative.parts[0] if len(relative.parts) > 1 else relative.stem


def imports(path):
    """The parts of the package that a module imports."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            names = [node.module] if node.module != "joints" else [f"joints.{alias.name}" for alias in node.names]
        for name in names:
            if name.startswith("joints."):
                yield name.split(".")[1]
        assert not (isinstance(node, ast.ImportFrom) and node.level), f"{path} has a relative import"


@pytest.mark.parametrize("path", modules(), ids=lambda path: path.relative_to(SOURCE).as_posix())
def test_imports_go_one_way(path):
    part = part_of(path)
    allowed = ALLOWED.get(part, set()) | {part}
    assert set(imports(path)) <= allowed, f"{part} must not import {sorted(set(imports(path)) - allowed)}"


def test_no_two_modules_have_one_name():
    # a method of the study is named after what it stands for
    others = [path for path in modules() if path.stem not in STEMS and path.parent != SOURCE / "study" / "methods"]
    stems = Counter(path.stem for path in others)
    assert {stem for stem, n in stems.items() if n > 1} == set()


def test_no_two_public_functions_or_classes_have_one_name():
    """Within the package a name means one thing; methods of classes and private names are free."""
    found = {}
    for path in modules():
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.FunctionDef | ast.ClassDef) and not node.name.startswith("_"):
                found.setdefault(node.name, []).append(path.relative_to(SOURCE).as_posix())
    twice = {name: paths for name, paths in found.items() if len(paths) > 1 and name != "main"}
    assert twice == {}
