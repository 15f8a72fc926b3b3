"""Fingerprints of code, so that results are tied to the code that made them.

Snakemake notices an edit to a script but not to the modules that the script imports.  A rule whose parameters include
the fingerprint of its script's imports is rerun when the meaning of one of them changes.
"""

from __future__ import annotations

import ast
import functools
import hashlib
import importlib.util
from pathlib import Path
from typing import NamedTuple

from joints.runtime.checksums import sha256

PACKAGE = __name__.split(".")[0]
SOURCE = Path(__file__).resolve().parents[2]  # the folder that holds the package
# How jobs run and how data is downloaded has no effect on the content of results.
COMPILED = (".pyc", ".nbi", ".nbc", ".tmp")
WITHOUT = tuple(f"{PACKAGE}.{name}." for name in ("runtime", "data.fetch", "data.sources"))


class Code(NamedTuple):
    """The fingerprint of a script's code, with the modules that it loads by name."""

    digest: str
    script: str
    modules: tuple[str, ...] = ()


def script_digest(script: str | Path, *modules: str) -> str:
    """Digest of a script, of everything that it imports, and of modules that it loads by name from a catalogue."""
    path = Path(script)
    return _short(_meaning(path) + code_digest(*modules, *_imports_of(path, [])))


def source_stamp(scripts: str | Path) -> str:
    """Digest of every byte of the package and of a folder of scripts: fast, and equal only if nothing changed."""
    digest = hashlib.sha256()
    for path in sorted([*(SOURCE / PACKAGE).rglob("*"), *Path(scripts).glob("*.py")]):
        if path.is_file() and path.suffix not in COMPILED:
            digest.update(f"{path.name}\n".encode() + path.read_bytes())
    return digest.hexdigest()[:16]


def code_digest(*modules: str) -> str:
    """Digest of the named modules and of all modules of this package, or of the user, that they import.

    Comments, docstrings and layout do not count; files next to a module that its code names, such as a style, do.  The
    ``__init__`` of a package counts only where code imports names from that package: otherwise the public names
    collected at the top level would tie everything to everything.

    >>> code_digest("joints.interface") == code_digest("joints.interface")
    True
    >>> sorted(import_closure("joints.study.mechanisms.mcar"))
    ['joints.interface', 'joints.study.mechanisms.mcar']
    """
    return _short("".join(f"{name}\n{_meaning(_file(name))}\n" for name in sorted(import_closure(*modules))))


def import_closure(*modules: str) -> set[str]:
    """Names of the given modules and of all that they import, directly or indirectly, except those in `WITHOUT`."""
    found: set[str] = set()
    waiting = list(modules)
    while waiting:
        name = waiting.pop()
        if name not in found and not f"{name}.".startswith(WITHOUT):
            found.add(name)
            path = _file(name)
            parts = name.split(".")
            waiting.extend(_imports_of(path, parts if path.name == "__init__.py" else parts[:-1]))
    return found


def _short(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _file(name: str) -> Path:
    """The file of a module: in this package, in the working directory, or in any other installed package."""
    path = _own_file(name)
    if path is None:
        try:
            spec = importlib.util.find_spec(name)
        except ModuleNotFoundError:
            spec = None
        if spec is None or spec.origin is None or not spec.origin.endswith(".py"):
            raise ModuleNotFoundError(f"there is no module {name!r}")
        path = Path(spec.origin)
    return path


def _own_file(name: str) -> Path | None:
    folder = SOURCE if name.split(".")[0] == PACKAGE else Path.cwd()
    base = folder.joinpath(*name.split("."))
    return next((path for path in (base.with_suffix(".py"), base / "__init__.py") if path.is_file()), None)


def _imports_of(path: Path, package: list[str]) -> set[str]:
    """The modules of this package, and of the user, that a file in a package imports."""
    found: set[str] = set()
    for node in ast.walk(_tree(path)):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            module = ".".join([*base, *(node.module.split(".") if node.module else [])])
            children = {f"{module}.{alias.name}" for alias in node.names}
            submodules = {child for child in children if _own_file(child)}
            found |= submodules
            if submodules != children:
                found.add(module)
    return {module for module in found if _own_file(module)}


@functools.cache
def _tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


@functools.cache
def _meaning(path: Path) -> str:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            first = node.body[0] if node.body else None
            if (
                isinstance(first, ast.Expr)
                and isinstance(first.value, ast.Constant)
                and isinstance(first.value.value, str)
            ):
                node.body[0] = ast.Pass()
    named = {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)}
    beside = sorted(other for other in path.parent.iterdir() if other.is_file() and other.name in named)
    return "\n".join([ast.unparse(tree), *(sha256(other) for other in beside)])
