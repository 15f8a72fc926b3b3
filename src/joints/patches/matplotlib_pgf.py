"""matplotlib's pgf backend measures text without LaTeX.

Upstream: to write a `.pgf` file, matplotlib asks a running LaTeX for the size of every text.  Without TeX there is no
file (matplotlib/matplotlib#3051, matplotlib/matplotlib#13682), and with TeX the file depends on the machine's fonts and
packages.  That is how matplotlib means it, and there is no option.

Seen: `savefig("figure.pgf")` on a machine without TeX stops because the program is not found.

Tested with matplotlib 3.11.0 to 3.11.2.  With another version text is measured in the same way, with a warning, if the
backend's classes and methods are still the expected ones; if they are not, LaTeX is asked, also with a warning.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from matplotlib.backends import backend_pgf
from matplotlib.font_manager import FontProperties
from matplotlib.textpath import text_to_path

from joints.patches.versions import Tested, warn

TESTED = Tested("matplotlib", "3.11.0", "3.11.2")


@contextmanager
def metrics_without_tex() -> Iterator[None]:
    """Inside, text is measured with matplotlib's fonts where the pgf backend would ask LaTeX."""
    doubt = TESTED.doubt()
    if not _backend_is_as_expected():
        warn(f"{doubt or 'matplotlib has changed'} and has another pgf backend: LaTeX measures the text.")
        yield
        return
    if doubt:
        warn(f"{doubt}: text in pgf files is measured without LaTeX, as in the tested versions.")
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


def _backend_is_as_expected() -> bool:
    """The backend finds the one that measures by this method, and asks it by that one."""
    try:
        methods = vars(backend_pgf.LatexManager)
        asks = [*inspect.signature(methods["get_width_height_descent"]).parameters]
        measures = [*inspect.signature(text_to_path.get_text_width_height_descent).parameters]
    except (AttributeError, KeyError, TypeError):
        return False
    found = isinstance(methods.get("_get_cached_or_new"), classmethod)
    return found and asks == ["self", "text", "prop"] and measures == ["s", "prop", "ismath"]
