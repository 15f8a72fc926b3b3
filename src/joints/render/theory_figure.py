"""The figure of the simulations in `joints.study.theory`."""

from __future__ import annotations

from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from joints.render.figures import BLUE, COLOURS, TEXT_WIDTH, VERMILION
from joints.render.saving import paper_style

IMPUTATION = {
    "knn": ("KNN imputation", VERMILION, "-"),
    "gef": ("GeF", BLUE, "-"),
    "best possible": ("best possible", "black", ":"),
}
CONSISTENCY = {
    "l1": ("distance of densities", "black", "-"),
    "both": ("both features", BLUE, "-"),
    "first": ("only the first", VERMILION, "-"),
    "second": ("only the second", COLOURS["green"], "-"),
}


@paper_style()
def theory_figure(found: pd.DataFrame) -> Figure:
    """Two panels: errors against the width of the example, and the distance from the truth against training rows."""
    figure = Figure(figsize=(TEXT_WIDTH, 2.2), layout="constrained")
    left, right = figure.subplots(1, 2)
    _curves(left, found[found["statement"] == "imputation"], IMPUTATION)
    left.set(xscale="log", xlabel=r"$\epsilon$", ylabel="Error", ylim=(0, 1))
    left.invert_xaxis()
    _curves(right, found[found["statement"] == "consistency"], CONSISTENCY)
    right.set(xscale="log", yscale="log", xlabel="Training rows", ylabel="Above the best possible", ylim=(3e-5, 1))
    for ax in (left, right):
        ax.legend(frameon=False, fontsize="small", handlelength=1.6)
    return figure


def _curves(ax: Any, found: pd.DataFrame, looks: dict[str, tuple[str, str, str]]) -> None:
    """Averages over the simulations as lines, from the smallest to the largest value as bands."""
    for method, (label, colour, line) in looks.items():
        values = found[found["method"] == method].groupby("x")["value"].agg(["mean", "min", "max"])
        ax.plot(values.index, values["mean"], line, color=colour, label=label)
        ax.fill_between(values.index, values["min"], values["max"], color=colour, alpha=0.15, linewidth=0)
