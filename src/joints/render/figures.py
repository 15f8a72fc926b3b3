"""The figures of the missing-value study: Figure 2, the appendix figures, agreement with the paper, and ranks.

Colours are Okabe and Ito's, which colour-blind readers can tell apart and which also differ in greyscale; highlighted
curves are thicker as well and have markers.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine

from joints.render.saving import paper_style
from joints.study.entries import MethodEntry, MetricEntry

RANK_RATES = [0.1, 0.3, 0.5, 0.7, 0.9]  # those of them that the run has, or all its rates if it has none of them
TEXT_WIDTH = 5.5  # text width of the paper, in inches
APPENDIX_WIDTH = 6.1  # the paper scales the appendix figures by 0.9
BLUE, VERMILION, GREY = "#0072B2", "#D55E00", "0.72"
COLOURS = {"blue": BLUE, "vermilion": VERMILION, "green": "#009E73", "black": "#000000"}


def text(label: str) -> str:
    """A label for both matplotlib and LaTeX: the plus of GeF+ as a superscript.

    >>> text("GeF+(LSPN)")
    'GeF$^{+}$(LSPN)'
    """
    return re.sub(r"GeF\+", "GeF$^{+}$", label)


@paper_style()
def dataset_figure(means: pd.DataFrame, methods: Sequence[MethodEntry], metric: MetricEntry) -> Figure:
    """A metric on one dataset against the missing rate: one panel per method, with that method in colour.

    Parameters
    ----------
    means : DataFrame
        What `joints.study.summarise.means` gives, for one dataset, mechanism and metric.
    methods : sequence of MethodEntry
        In the order of the panels.
    metric : MetricEntry
    """
    curves = _curves(means, "mean")
    columns = min(5, len(methods))
    figure, axes = _panels(len(methods), columns, APPENDIX_WIDTH, 1.35)
    lowest = min(mean.min() for _, mean, _ in curves.values())
    highest = max(mean.max() for _, mean, _ in curves.values())
    margin = 0.06 * max(highest - lowest, metric.scale / 100)
    for ax, entry in zip(axes, methods, strict=False):
        _highlight(ax, curves, entry)
        ax.set_ylim(lowest - margin, highest + margin)
    _label(figure, axes, len(methods), columns, "Missing values (%)", metric.title)
    return figure


@paper_style()
def gain_figure(
    gains: pd.DataFrame, methods: Sequence[MethodEntry], reference: MethodEntry, metric: MetricEntry
) -> Figure:
    """Figure 2: average gain over the reference against the missing rate, one panel per method.

    Parameters
    ----------
    gains : DataFrame
        What `joints.study.summarise.gains` gives, for one mechanism and metric.
    methods : sequence of MethodEntry
        The methods that the run shows; those of Figure 2 get a panel, or all if there are none of them.
    reference : MethodEntry
    metric : MetricEntry
    """
    others = [entry for entry in methods if entry.name != reference.name]
    panels = [entry for entry in others if entry.in_figure2] or others
    names = [entry.name for entry in panels]
    curves = _curves(gains[(gains["over"] == reference.name) & gains["method"].isin(names)], "gain")
    columns = min(3, len(panels))
    figure, axes = _panels(len(panels), columns, TEXT_WIDTH, 1.45)
    ends = np.array([[(mean - width).min(), (mean + width).max()] for _, mean, width in curves.values()])
    margin = 0.5 * metric.scale / 100
    for ax, entry in zip(axes, panels, strict=False):
        ax.axhline(0, color="black", linewidth=0.5, linestyle=(0, (4, 2)), zorder=1)
        _highlight(ax, curves, entry)
        ax.set_ylim(ends[:, 0].min() - margin, ends[:, 1].max() + margin)
    unit = f" ({metric.unit})" if metric.unit else ""
    what = "" if metric.paper else f" in {metric.label[0].lower()}{metric.label[1:]}"
    label = f"Gain{what} over {text(reference.label)}{unit}"
    _label(figure, axes, len(panels), columns, "Missing values (%)", label)
    return figure


@paper_style()
def agreement_figure(agreement: pd.DataFrame, labels: Mapping[str, str], rate: float) -> Figure:
    """Our accuracies minus the paper's for every cell of Table 1, with the interval of the difference."""
    methods = [method for method in labels if method in set(agreement["method"])]
    if not methods:
        figure = Figure(figsize=(TEXT_WIDTH, 0.5))
        figure.text(0.5, 0.5, "No cell of this run is in the paper's Table 1.", ha="center", va="center")
        return figure
    datasets = list(agreement["dataset"].unique())[::-1]
    width = (agreement["ours_interval"] ** 2 + agreement["paper_interval"] ** 2) ** 0.5
    height = {name: i for i, name in enumerate(datasets)}
    figure = Figure(figsize=(7.0, 0.75 + 0.17 * len(datasets)), layout="constrained")
    axes = np.atleast_1d(figure.subplots(1, len(methods), sharey=True, sharex=True))
    reach = max(1.0, 1.05 * float((agreement["difference"].abs() + width).max()))
    for ax, method in zip(axes, methods, strict=True):
        rows = agreement[agreement["method"] == method]
        y = rows["dataset"].map(height).to_numpy()
        difference, half = rows["difference"].to_numpy(), width[rows.index].to_numpy()
        within = (rows["verdict"] == "within").to_numpy()
        ax.axvline(0, color="black", linewidth=0.5)
        ax.hlines(y, difference - half, difference + half, color=GREY, linewidth=1.5, zorder=1)
        ax.scatter(difference[within], y[within], s=9, color=BLUE, zorder=2)
        ax.scatter(difference[~within], y[~within], s=14, color=VERMILION, marker="D", zorder=3)
        ax.set_title(text(labels[method]))
        ax.set_xlim(-reach, reach)
        ax.grid(axis="y")
        ax.set_axisbelow(True)
        ax.tick_params(axis="y", length=0)
    axes[0].set_yticks(range(len(datasets)), datasets)
    axes[0].set_ylim(-0.7, len(datasets) - 0.3)
    figure.supxlabel(
        f"Ours minus the paper's accuracy at {100 * rate:g} % missing, in points "
        "(circle: within both intervals; diamond: not)",
        fontsize=8,
    )
    return figure


@paper_style()
def rank_figure(ranks: pd.DataFrame, labels: Mapping[str, str]) -> Figure:
    """Critical-difference diagrams at some rates: methods joined by a bar do not differ by Nemenyi's test."""
    found = sorted(ranks["rate"].unique())
    rates = [rate for rate in RANK_RATES if rate in found] or found
    k = ranks["method"].nunique()
    figure = Figure(figsize=(TEXT_WIDTH, (0.68 + 0.075 * k) * len(rates) + 0.1), layout="constrained")
    axes = np.atleast_1d(figure.subplots(len(rates), 1))
    for ax, rate in zip(axes, rates, strict=True):
        rows = ranks[ranks["rate"] == rate].sort_values("rank", kind="stable")
        _critical_difference(ax, rows, labels, rate)
    return figure


def _critical_difference(ax: Any, rows: pd.DataFrame, labels: Mapping[str, str], rate: float) -> None:
    names = [text(labels[method]) for method in rows["method"]]
    values = rows["rank"].to_numpy()
    difference = float(rows["critical_difference"].iloc[0])
    k = len(values)
    half = -(-k // 2)
    cliques = _cliques(values, difference)
    below = 0.35 * len(cliques) + 0.5
    ax.set_xlim(1 - 0.42 * (k - 1), k + 0.42 * (k - 1))
    ax.set_ylim(-below - half - 0.4, 3.2)
    ax.axis("off")
    ax.plot([1, k], [0, 0], color="black", linewidth=0.7)
    for tick in range(1, k + 1):
        ax.plot([tick, tick], [0, 0.25], color="black", linewidth=0.7)
        ax.text(tick, 0.35, str(tick), ha="center", va="bottom", fontsize=7)
    for i, (name, value) in enumerate(zip(names, values, strict=True)):
        left = i < half
        level = -below - (i if left else k - 1 - i)
        end = 1 - 0.1 * (k - 1) if left else k + 0.1 * (k - 1)
        ax.plot([value, value, end], [0, level, level], color="black", linewidth=0.5)
        side = {"ha": "right", "x": end - 0.06} if left else {"ha": "left", "x": end + 0.06}
        label = f"{name}  {value:.2f}" if left else f"{value:.2f}  {name}"
        ax.text(s=label, y=level, va="center", fontsize=7, **side)
    for i, (first, last) in enumerate(cliques):
        y = -0.3 - 0.35 * i
        ax.plot([values[first] - 0.05, values[last] + 0.05], [y, y], color=BLUE, linewidth=2, solid_capstyle="round")
    shown = min(difference, k - 1)
    ax.plot([1, 1 + shown], [1.75, 1.75], color="black", linewidth=0.7, marker="|", markersize=4)
    # above the line, which may be as long as the axis
    ax.text(1, 2.1, f"critical difference {difference:.2f}", ha="left", va="bottom", fontsize=7)
    p_value = float(rows["p_value"].iloc[0])
    p_text = "p < 0.001" if p_value < 0.001 else f"p = {p_value:.3f}"
    ax.text(
        k + 0.42 * (k - 1),
        2.1,
        f"{100 * rate:g} % missing, Friedman test {p_text}",
        ha="right",
        va="bottom",
        fontsize=7,
    )


def _cliques(values: np.ndarray, difference: float) -> list[tuple[int, int]]:
    """Longest runs of sorted ranks that lie within the critical difference, as first and last index."""
    runs: list[tuple[int, int]] = []
    for first in range(len(values)):
        last = int(np.searchsorted(values, values[first] + difference, side="right")) - 1
        if last > first and (not runs or last > runs[-1][1]):
            runs.append((first, last))
    return runs


def _panels(n: int, columns: int, width: float, height: float) -> tuple[Figure, list[Any]]:
    rows = -(-n // columns)
    layout = ConstrainedLayoutEngine(w_pad=0.02, h_pad=0.02, wspace=0.02, hspace=0.02)
    figure = Figure(figsize=(width, height * rows + 0.2), layout=layout)
    return figure, list(figure.subplots(rows, columns, sharex=True, sharey=True, squeeze=False).flat)


def _curves(table: pd.DataFrame, value: str) -> dict[str, tuple[np.ndarray, ...]]:
    """For each method, its rates in percent, its values, and the half-widths of their intervals."""
    return {
        str(method): (100 * rows["rate"].to_numpy(), rows[value].to_numpy(), rows["interval"].to_numpy())
        for method, rows in table.groupby("method", sort=False)
    }


def _highlight(ax: Any, curves: Mapping[str, tuple[np.ndarray, ...]], entry: MethodEntry) -> None:
    for other, (x, mean, _) in curves.items():
        if other != entry.name:
            ax.plot(x, mean, color=GREY, linewidth=0.6, zorder=2)
    ax.set_title(text(entry.label))
    if entry.name in curves:
        x, mean, width = curves[entry.name]
        colour = COLOURS[entry.colour]
        ax.fill_between(x, mean - width, mean + width, color=colour, alpha=0.25, linewidth=0, zorder=3)
        ax.plot(x, mean, color=colour, linewidth=1.3, marker="o", markersize=2, zorder=4)


def _label(figure: Figure, axes: Sequence[Any], n: int, columns: int, x: str, y: str) -> None:
    for i, ax in enumerate(axes):
        if i >= n:
            ax.axis("off")
        elif i + columns >= n:  # the lowest panel of its column, even if the last row is not full
            ax.tick_params(labelbottom=True)
    rates = [float(rate) for line in axes[0].lines for rate in line.get_xdata() if line.get_marker() == "o"]
    ticks = [tick for tick in (0, 30, 60, 90) if min(rates) <= tick <= max(rates)]
    axes[0].set_xticks(ticks if len(ticks) > 1 else sorted(set(rates)))
    figure.supxlabel(x, fontsize=8)
    figure.supylabel(y, fontsize=8)
