"""Figures as files: `.pgf` for LaTeX, `.pdf` and `.png`; the same bytes on every machine, with or without TeX.

TeX is not needed to write a file, and its presence changes nothing: see `joints.patches.matplotlib_pgf`.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.figure import Figure

from joints.patches.matplotlib_pgf import metrics_without_tex
from joints.runtime.files import replacing

STYLE = Path(__file__).with_name("paper.mplstyle")
FORMATS = ("pgf", "pdf", "png")


@contextmanager
def paper_style() -> Iterator[None]:
    """The paper's style for all figures made inside."""
    with mpl.rc_context(fname=STYLE):
        yield


def save(figure: Figure, path: str | Path) -> None:
    """Write a figure in the format of the path's extension."""
    path = Path(path)
    options: dict[str, Any] = {"format": path.suffix[1:]}
    if options["format"] == "pdf":
        options["metadata"] = {"CreationDate": None}
    with replacing(path) as temporary, paper_style():
        if options["format"] == "pgf":
            with metrics_without_tex():
                figure.savefig(temporary, **options)
        else:
            figure.savefig(temporary, **options)


def save_all(figure: Figure, paths: list[str] | tuple[str, ...]) -> None:
    """Write a figure to several files."""
    for path in paths:
        save(figure, path)
