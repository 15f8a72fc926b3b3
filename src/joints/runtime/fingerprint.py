"""Fingerprints of code, so that results know which code made them.

Snakemake notices an edit of a script but not of the modules that the script imports.  A rule that has the fingerprint
of its modules among its parameters is run again when one of them, or one that they import, changes its meaning.
"""

from __future__ import annotations

import ast
import functools
import hashlib
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2]  # the folder that holds the package


def code_digest(*modules: str) -> str:
    """Digest of the named modules and of all modules of this package that they import, directly or not.

    Comments, docstrings and layout do not count.  The ``__init__`` of a package counts only where code imports names
    from that package: else the collection of public names at the top would tie everything to everything.

    >>> code_digest("joints.errors") == code_digest("joints.errors")
    True
    >>> sorted(import_closure("joints.runtime.log"))
    ['joints.errors', 'joints.patches.scipy_stats', 'joints.patches.versions', 'joints.runtime.log']
    """
    digest = hashlib.sha256()
    for name in sorted(import_closure(*modules)):
        digest.update(f"{name}\n{_meaning(_file(name))}\n".encode())
    return digest.hexdigest()[:16]


def import_closure(*modules: str) -> set[str]:
    """Names of the given modules and of all modules of the package reached by their imports."""
    found: set[str] = set()
    waiting = list(modules)
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting.extend(_imports(name))
    return found


def _file(name: str) -> Path:
    base = SOURCE.joinpath(*name.split("."))
    for path in (base.with_suffix(".py"), base / "__init__.py"):
        if path.is_file():
            return path
    raise ModuleNotFoundError(f"no module {name!r} under {SOURCE}")


def _exists(name: str) -> bool:
    try:
        _file(name)
    except ModuleNotFoundError:
        return False
    return True


def _imports(name: str) -> set[str]:
    path = _file(name)
    package = name.split(".") if path.name == "__init__.py" else name.split(".")[:-1]
    found: set[str] = set()
    for node in ast.walk(_tree(path)):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            module = ".".join([*base, *(node.module.split(".") if node.module else [])])
            children = {f"{module}.{alias.name}" for alias in node.names}
            submodules = {child for child in children if _ours(child)}
            found |= submodules
            if submodules != children:
                found.add(module)
    return {module for module in found if _ours(module)}


def _ours(name: str) -> bool:
    return name.split(".")[0] == __name__.split(".")[0] and _exists(name)


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
    return ast.unparse(tree)
