"""The figures of the modern study: gains over the best imputation, costs, reliability, and a map of all results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from joints.render.figures import COLOURS, GREY, text
from joints.render.saving import paper_style
from joints.study.entries import MechanismEntry, MethodEntry, MetricEntry, View
from joints.study.modern import IMPUTATION
from joints.study.summarise import at

WIDTH = 7.0
FEWEST_SHOWN = 0.001  # the share of rows that a bin needs to be drawn
# Okabe and Ito's, with a line style each, so that they differ in greyscale as well
LINES: list[tuple[str, Any]] = [
    ("#0072B2", "-"),
    ("#D55E00", "--"),
    ("#009E73", "-."),
    ("#CC79A7", ":"),
    ("#000000", (0, (5, 1))),
    ("#E69F00", (0, (1, 1))),
    ("#56B4E9", (0, (3, 1, 1, 1))),
]


def modern_figures(
    frames: Mapping[str, pd.DataFrame],
    methods: Sequence[MethodEntry],
    mechanisms: Sequence[MechanismEntry],
    datasets: Mapping[str, str],
    view: View,
    rate: float,
) -> dict[str, Figure]:
    """All of them by name, for the metric, and where it is one, the mechanism and the rate of the run's first view.

    Parameters
    ----------
    frames : mapping
        The tables `means`, `gains`, `costs` and `reliability` of the run.
    methods, mechanisms : sequence of MethodEntry and of MechanismEntry
    datasets : mapping from dataset to its label
    view : View
    rate : float
    """
    metric = view.metric
    means, gains = (at(frames[name], metric=metric.name) for name in ("means", "gains"))
    confidences = at(frames["reliability"], mechanism=view.mechanism.name, rate=rate)
    return {
        "best_gains": best_gain_figure(gains, methods, mechanisms, metric),
        "costs": cost_figure(frames["costs"], at(means, **view.keys, rate=rate), methods, metric),
        "reliability": reliability_figure(confidences, methods, rate),
        "heat_map": heat_map(means, methods, datasets, metric),
    }


@paper_style()
def best_gain_figure(
    gains: pd.DataFrame, methods: Sequence[MethodEntry], mechanisms: Sequence[MechanismEntry], metric: MetricEntry
) -> Figure:
    """Gain over the best imputation against the missing rate: one panel per method, one line per mechanism.

    Parameters
    ----------
    gains : DataFrame
        What `joints.study.modern.gains_over_best` gives, for one metric.
    methods : sequence of MethodEntry
        Those that are not imputations get a panel.
    mechanisms : sequence of MechanismEntry
    metric : MetricEntry
    """
    panels = [entry for entry in methods if entry.family != IMPUTATION]
    columns = min(4, max(1, len(panels)))
    rows = -(-len(panels) // columns)
    figure = Figure(figsize=(WIDTH, 1.35 * rows + 0.55), layout="constrained")
    axes = figure.subplots(rows, columns, sharex=True, sharey=True, squeeze=False)
    for ax, entry in zip(axes.flat, panels, strict=False):
        ax.axhline(0, color="black", linewidth=0.5)
        for (colour, style), mechanism in zip(LINES, mechanisms, strict=False):
            own = gains[(gains["method"] == entry.name) & (gains["mechanism"] == mechanism.name)].sort_values("rate")
            ax.plot(100 * own["rate"], own["gain"], color=colour, linestyle=style, linewidth=1.1, marker="o", ms=2)
        ax.set_title(text(entry.label), fontsize=8)
        ax.grid(axis="y")
    for ax in axes.flat[len(panels) :]:
        ax.axis("off")
    axes[0, 0].set_xticks(sorted(100 * gains["rate"].unique()))
    what = metric.label[0].lower() + metric.label[1:]
    figure.supxlabel("Missing values (%)", fontsize=8)
    figure.supylabel(f"Gain in {what} over the best imputation{f' ({metric.unit})' if metric.unit else ''}", fontsize=8)
    _mechanism_legend(figure, mechanisms)
    return figure


def _mechanism_legend(figure: Figure, mechanisms: Sequence[MechanismEntry]) -> None:
    handles = [
        Line2D([], [], color=colour, linestyle=style, linewidth=1.1, label=entry.label)
        for (colour, style), entry in zip(LINES, mechanisms, strict=False)
    ]
    figure.legend(handles=handles, loc="outside upper center", ncols=3, fontsize=7, frameon=False)


@paper_style()
def cost_figure(
    costs: pd.DataFrame, means: pd.DataFrame, methods: Sequence[MethodEntry], metric: MetricEntry
) -> Figure:
    """A metric against CPU seconds per fold, averages over the datasets: one point per method.

    Parameters
    ----------
    costs : DataFrame
        What `joints.study.modern.costs` gives.
    means : DataFrame
        Means of one mechanism, rate and metric.
    methods : sequence of MethodEntry
    metric : MetricEntry
    """
    total = costs.set_index(["dataset", "model"])[["forest_seconds", "fit_seconds", "predict_seconds"]].sum(axis=1)
    x = total.groupby("model").mean()
    y = means.groupby("method")["mean"].mean()
    figure = Figure(figsize=(WIDTH, 4.2), layout="constrained")
    ax = figure.subplots()
    points = [(entry, x[entry.model], y[entry.name]) for entry in methods if entry.model in x and entry.name in y]
    for entry, seconds, value in points:
        ax.scatter(seconds, value, s=22, color=COLOURS[entry.colour], zorder=3)
    ax.set_xscale("log")
    low, high = min(point[1] for point in points), max(point[1] for point in points)
    ax.set_xlim(low / 1.6, high * 4.5)  # room for the labels
    _place_labels(ax, points)
    ax.grid(True)
    ax.set_axisbelow(True)
    ax.set_xlabel("CPU seconds per fold: growing or training, and predicting one test fold (mean over the datasets)")
    ax.set_ylabel(f"{metric.title}, mean over the datasets")
    return figure


def _place_labels(ax: Any, points: Sequence[tuple[MethodEntry, float, float]]) -> None:
    """Labels to the right of their points, moved up or down as little as possible where they would overlap."""
    values = np.array([value for *_, value in points])
    span = max(float(np.ptp(values)), 1e-9)
    step, taken = 0.04 * span, list[tuple[float, float]]()

    def is_free(seconds: float, y: float) -> bool:
        labels = (abs(y - other) < step and 1 / 6 < seconds / at < 6 for at, other in taken)
        dots = (abs(y - value) < step / 2 and 1.05 < at / seconds < 4 for _, at, value in points)
        return not (any(labels) or any(dots))

    for entry, seconds, value in sorted(points, key=lambda point: (-point[1], point[2])):
        places = (value + sign * k * step / 4 for k in range(400) for sign in (1, -1))
        y = next(place for place in places if is_free(seconds, place))
        taken.append((seconds, y))
        ax.annotate(
            text(entry.label),
            (seconds, value),
            xytext=(seconds * 1.12, y),
            fontsize=7,
            va="center",
            color=COLOURS[entry.colour],
            arrowprops={"arrowstyle": "-", "linewidth": 0.3, "color": GREY, "shrinkA": 0, "shrinkB": 0},
        )
    heights = [*values, *(y for _, y in taken)]
    ax.set_ylim(min(heights) - 2 * step, max(heights) + 2 * step)


@paper_style()
def reliability_figure(reliability: pd.DataFrame, methods: Sequence[MethodEntry], rate: float) -> Figure:
    """Share of correct predictions against confidence, one panel per method; the area of a point is its share of rows.

    Bins with less than a thousandth of the rows are not drawn, but count in the calibration error in the corner.

    Parameters
    ----------
    reliability : DataFrame
        What `joints.study.modern.reliability` gives, for one mechanism and rate.
    methods : sequence of MethodEntry
    rate : float
    """
    columns = min(5, len(methods))
    rows = -(-len(methods) // columns)
    figure = Figure(figsize=(WIDTH, 1.5 * rows + 0.3), layout="constrained")
    axes = figure.subplots(rows, columns, sharex=True, sharey=True, squeeze=False)
    for ax, entry in zip(axes.flat, methods, strict=False):
        own = reliability[reliability["method"] == entry.name].sort_values("bin")
        seen = own[own["weight"] >= FEWEST_SHOWN]
        colour = COLOURS[entry.colour]
        ax.plot([0, 1], [0, 1], color=GREY, linewidth=0.7)
        ax.plot(seen["confidence"], seen["correct"], color=colour, linewidth=0.9)
        ax.scatter(seen["confidence"], seen["correct"], s=120 * seen["weight"], color=colour, linewidth=0, zorder=3)
        error = float((own["weight"] * (own["confidence"] - own["correct"]).abs()).sum())
        ax.text(0.03, 0.96, f"{100 * error:.1f} %", transform=ax.transAxes, va="top", fontsize=7)
        ax.set_title(text(entry.label), fontsize=7)
        ax.set_xlim(0, 1.02)
        ax.set_ylim(0, 1.02)
    for ax in axes.flat[len(methods) :]:
        ax.axis("off")
    figure.supxlabel(f"Confidence at {100 * rate:g} % missing values", fontsize=8)
    figure.supylabel("Share of correct predictions", fontsize=8)
    return figure


@paper_style()
def heat_map(
    means: pd.DataFrame, methods: Sequence[MethodEntry], datasets: Mapping[str, str], metric: MetricEntry
) -> Figure:
    """Datasets by methods: a metric, averaged over whatever the means are of, coloured by the distance from the best.

    Parameters
    ----------
    means : DataFrame
        Means of one metric, of several mechanisms and rates.
    methods : sequence of MethodEntry
    datasets : mapping from dataset to its label
    metric : MetricEntry
    """
    wide = means.pivot_table(index="dataset", columns="method", values="mean")
    wide = wide.reindex(index=list(datasets), columns=[entry.name for entry in methods])
    values = wide.to_numpy()
    best = np.nanmax(metric.sign * values, axis=1, keepdims=True)
    behind = best - metric.sign * values
    reach = max(10 * metric.scale / 100, 1e-9)
    figure = Figure(figsize=(WIDTH + 1.0, 0.22 * len(wide) + 1.5), layout="constrained")
    ax = figure.subplots()
    cells = np.ma.masked_invalid(behind)
    places = range(len(methods)), range(len(wide))
    image = ax.pcolormesh(*places, cells, cmap="cividis_r", vmin=0, vmax=reach, shading="nearest")
    ax.invert_yaxis()
    for (i, j), value in np.ndenumerate(values):
        if np.isfinite(value):
            weight = "bold" if behind[i, j] < 1e-9 else "normal"
            colour = "white" if behind[i, j] > 0.6 * reach else "black"
            form = f"{value:.{1 if metric.scale == 100 else 2}f}"
            ax.text(j, i, form, ha="center", va="center", fontsize=5.5, color=colour, fontweight=weight)
    ax.set_xticks(range(len(methods)), [text(entry.label) for entry in methods], rotation=60, ha="right", fontsize=7)
    ax.set_yticks(range(len(wide)), list(datasets.values()), fontsize=7)
    ax.tick_params(length=0)
    bar = figure.colorbar(image, ax=ax, shrink=0.6, pad=0.01, extend="max")
    bar.set_label(f"behind the best of the row ({metric.unit or metric.label})", fontsize=7)
    bar.ax.tick_params(labelsize=7)
    for mesh in bar.ax.collections:
        mesh.set_rasterized(False)  # an image would need LaTeX, and another file, in pgf
    return figure
