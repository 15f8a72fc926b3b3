"""Figures as files: `.pgf` for LaTeX, `.pdf` and `.png`; the same bytes on every machine, with or without TeX.

matplotlib's pgf backend asks LaTeX for the size of every text.  Here matplotlib's own fonts answer instead, so that no
TeX is needed to write a file and its presence changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.backends import backend_pgf
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.textpath import text_to_path

from joints.runtime.files import replacing

STYLE = Path(__file__).with_name("paper.mplstyle")
FORMATS = ("pgf", "pdf", "png")


@contextmanager
def paper_style() -> Iterator[None]:
    """The paper's look for all figures that are made inside."""
    with mpl.rc_context(fname=STYLE):
        yield


def save(figure: Figure, path: str | Path) -> None:
    """Write a figure, in the format that the path's ending says."""
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


@contextmanager
def metrics_without_tex() -> Iterator[None]:
    """Inside, text is measured with matplotlib's fonts where the pgf backend would ask LaTeX."""
    manager: Any = backend_pgf.LatexManager
    asked = vars(manager)["_get_cached_or_new"]
    manager._get_cached_or_new = staticmethod(_FontMetrics)
    try:
        yield
    finally:
        manager._get_cached_or_new = asked


class _FontMetrics:
    """What the pgf backend wants to know about a text: width, height and descent in points."""

    def get_width_height_descent(self, text: str, prop: FontProperties) -> tuple[float, float, float]:
        # one line with an ascender and a descender, so that labels with and without them are placed alike
        _, height, descent = text_to_path.get_text_width_height_descent("lp", prop, False)
        width, own_height, own_descent = text_to_path.get_text_width_height_descent(text, prop, "$" in text)
        return float(width), float(max(height, own_height)), float(max(descent, own_descent))
