"""How the site is built: ``make docs`` writes it to docs/_build/html, without a network."""

from __future__ import annotations

import contextlib
import importlib
import inspect
import os
import re
import sys
import tomllib
import warnings
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "src"))

import joints  # noqa: E402

project = "joints"
author = "The joints developers"
release = version = joints.__version__
address = tomllib.loads((HERE.parent / "pyproject.toml").read_text(encoding="utf-8"))["project"]["urls"]["Homepage"]

extensions = ["myst_parser", "numpydoc", "sphinx.ext.autodoc", "sphinx_gallery.gen_gallery"]
exclude_patterns = ["_build", "examples", "**/GALLERY_HEADER.rst", "conf.py", "sg_execution_times.rst"]
nitpicky = False
myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3
# [text](repo:path) is a file of the repository
myst_url_schemes = {"http": None, "https": None, "mailto": None, "repo": address + "/blob/main/{{path}}"}
suppress_warnings = ["config.cache"]

autodoc_typehints = "none"  # docstrings say it
autodoc_class_signature = "mixed"
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False
toc_object_entries_show_parents = "hide"

html_theme = "pydata_sphinx_theme"
html_title = "joints"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_sidebars = {"index": [], "start": [], "inside": [], "changes": []}
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "logo": {"text": "joints"},
    "navbar_align": "left",
    "navbar_end": ["theme-switcher"],
    "show_prev_next": False,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "show_toc_level": 2,
    "header_links_before_dropdown": 7,
}
html_context = {"default_mode": "light"}
copyright = "The joints developers, MIT licence"

os.environ.setdefault("JOINTS_COMPILING", os.devnull)  # a page need not say that kernels were compiled
warnings.filterwarnings("ignore", category=DeprecationWarning)

sphinx_gallery_conf = {
    "examples_dirs": "examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"/plot_",
    "abort_on_example_error": True,
    "download_all_examples": False,
    "show_memory": False,
    "show_signature": False,
    "min_reported_time": 1e9,
    "within_subsection_order": "FileNameSortKey",
    "remove_config_comments": True,
    "capture_repr": (),
}

# ------------------------------------------------------------------------------------------- the reference of the API

API = {
    "Estimators": "joints",
    "Imputation": "joints.impute",
    "Looking into circuits": "joints.inspect",
    "Pictures of trees and circuits": "joints.render.diagrams",
    "Pictures of choices": "joints.render.choice_plot",
    "What a study can be extended by": "joints.interface",
}
INTRODUCTIONS = {
    "joints.render.diagrams": "These need matplotlib: ``pip install joints[plot]``.",
    "joints.render.choice_plot": "This needs matplotlib as well.",
    "joints.interface": "Methods and mechanisms of your own: see :doc:`extend`.",
}


def public_names(module: Any) -> list[str]:
    """What a module offers: its ``__all__``, or the functions and classes that it defines."""
    own = [
        name
        for name, value in vars(module).items()
        if not name.startswith("_")
        and (inspect.isclass(value) or inspect.isfunction(value))
        and value.__module__ == module.__name__
        and value.__doc__
    ]
    return sorted(getattr(module, "__all__", own))


def members(kind: type) -> list[str]:
    """The public methods of a class that are ours."""
    found = inspect.getmembers(kind, lambda value: callable(value) and not inspect.isclass(value))
    return [
        name
        for name, value in found
        if not name.startswith("_")
        and (getattr(value, "__module__", None) or "").startswith("joints")
        and value.__doc__
    ]


def entry(module: Any, name: str) -> list[str]:
    value = getattr(module, name)
    if not inspect.isclass(value):
        return [f".. autofunction:: {module.__name__}.{name}", ""]
    methods = [f"   .. automethod:: {method}" for method in members(value)]  # scikit-learn documents its own
    return [f".. autoclass:: {module.__name__}.{name}", "", *methods, ""]


def write_reference(app: Any) -> None:
    """One page per public name, and one that lists them: a name that is added to the package is found here."""
    folder = HERE / "api"
    folder.mkdir(exist_ok=True)
    lines = ["API reference", "=============", ""]
    for title, path in API.items():
        module = importlib.import_module(path)
        lines += [
            title,
            "-" * len(title),
            "",
            INTRODUCTIONS.get(path, ""),
            "",
            ".. list-table::",
            "   :widths: 35 65",
            "",
        ]
        for name in public_names(module):
            summary = " ".join(inspect.getdoc(getattr(module, name)).partition("\n\n")[0].split())
            lines += [f"   * - :doc:`{name} <api/{path}.{name}>`", f"     - {summary.replace('*', chr(92) + '*')}"]
            text = [name, "=" * len(name), "", *entry(module, name)]
            replace(folder / f"{path}.{name}.rst", "\n".join(text))
        lines.append("")
    lines += [".. toctree::", "   :hidden:", "   :glob:", "", "   api/*", ""]
    replace(HERE / "api.rst", "\n".join(lines))


# ------------------------------------------------------------------------------------------ documents of the repository


def write_documents(app: Any) -> None:
    """The repository's own documents as pages: reports of studies, and what changes."""
    folder = HERE / "reports"
    folder.mkdir(exist_ok=True)
    for path in sorted(HERE.parent.glob("*.md")):
        if path.name not in ("README.md", "CHANGELOG.md"):
            replace(folder / f"{path.stem.lower()}.md", with_links(path.read_text(encoding="utf-8"), "../../"))
    replace(HERE / "changes.md", with_links((HERE.parent / "CHANGELOG.md").read_text(encoding="utf-8"), "../"))


def write_reference_run(app: Any) -> None:
    """The page of the committed run, as `make reference` would write it."""
    from joints.render.documents import page_of
    from joints.study.plan import Plan

    with contextlib.chdir(HERE.parent):
        replace(HERE / "_static" / "reference.html", page_of(Plan.read(["config/reference.yaml"]), links=False))


def with_links(text: str, root: str) -> str:
    """A document with links that work from the site: pictures are taken along, files are in the repository."""
    text = re.sub(r"(!\[[^\]]*\])\((?!https?:)([^)]+)\)", rf"\1({root}\2)", text)
    return re.sub(r"(?<!!)(\[[^\]]*\])\((?!https?:|#)([^)]+)\)", r"\1(repo:\2)", text)


def replace(path: Path, text: str) -> None:
    """Write a file if it would change, so that only what changed is built again."""
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


def setup(app: Any) -> None:
    app.connect("builder-inited", write_reference, priority=100)
    app.connect("builder-inited", write_documents, priority=100)
    app.connect("builder-inited", write_reference_run, priority=100)
