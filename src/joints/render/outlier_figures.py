"""The figures of the outlier studies, `fx_wine` and `fx_images`: normalised histograms of every method's signal.

Histograms of rows like the training data are filled, those of foreign rows are outlines; each kind of rows has the same
colour in all panels.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.artist import Artist
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from joints.render.figures import TEXT_WIDTH, text
from joints.render.saving import paper_style
from joints.study.outliers.measures import summarise
from joints.study.outliers.signals import LABELS

WINE_PANELS = ["gefp_lspn", "kde", "entropy", "max_probability"]
IMAGE_PANELS = ["gefp", "kde", "entropy"]
# Four of Okabe and Ito's colours, with different line styles.
COLOURS = ["#D55E00", "#0072B2", "#009E73", "#000000"]
LINES: list[Any] = ["-", "-", (0, (4, 1.2)), (0, (1, 1))]
AXES = {"entropy": r"$-H(Y\,|\,\mathbf{x})$", "max_probability": r"$\max_y\,p(y\,|\,\mathbf{x})$"}
DENSITY = r"$\log\,p(\mathbf{x})$"
BINS = 25  # with 100 trees, certainties are multiples of 0.01: from a half to 1, two of them per bar
LOWEST_SHARE = 0.01  # of each kind of rows that may lie below the range shown; they are counted in the first bar


@paper_style()
def wine_figure(signals: pd.DataFrame, names: Mapping[str, str]) -> Figure:
    """One row of panels per model, one column per method, with the mean AUC in the titles.

    Parameters
    ----------
    signals : DataFrame
        What `joints.study.outliers.studies.exchange` gives; the histograms are over all its repetitions.
    names : mapping from dataset to its name in the figure
    """
    models = list(signals["model"].unique())
    figure = Figure(figsize=(TEXT_WIDTH, 1.4 * len(models) + 0.3), layout="constrained")
    axes = figure.subplots(len(models), len(WINE_PANELS), squeeze=False)
    looks = _looks(models)
    aucs = summarise(signals).set_index(["model", "method"])["auc"]
    for row, model in zip(axes, models, strict=True):
        for ax, method in zip(row, WINE_PANELS, strict=True):
            chosen = signals[(signals["model"] == model) & (signals["method"] == method)]
            _histograms(ax, _by_rows(chosen), model, looks)
            ax.set_title(f"{text(LABELS[method])}\nAUC {auc_text(aucs[model, method])}")
            if ax.get_subplotspec().is_last_row():
                ax.set_xlabel(AXES.get(method, DENSITY))
        row[0].set_ylabel(f"Model of {names.get(model, model)}")
    handles: list[Artist] = [Patch(color=looks[model][0], alpha=0.6, label=names.get(model, model)) for model in models]
    handles += [
        Patch(facecolor="0.75", edgecolor="none", label="model's own kind"),
        Line2D([], [], color="0.35", label="other kind"),
    ]
    figure.legend(handles=handles, loc="outside upper center", ncols=len(handles), frameon=False)
    return figure


@paper_style()
def image_figure(signals: pd.DataFrame, names: Mapping[str, str]) -> Figure:
    """One panel per method; the AUC of each kind of foreign images is in the panel's legend.

    Parameters
    ----------
    signals : DataFrame
        What `joints.study.outliers.studies.foreign_digits` gives.
    names : mapping from dataset to its name in the figure
    """
    (model,) = signals["model"].unique()
    kinds = list(signals["rows"].unique())
    looks = _looks(kinds)
    figure = Figure(figsize=(TEXT_WIDTH, 2.1), layout="constrained")
    aucs = summarise(signals).set_index(["method", "outliers"])["auc"]
    for ax, method in zip(figure.subplots(1, len(IMAGE_PANELS)), IMAGE_PANELS, strict=True):
        _histograms(ax, _by_rows(signals[signals["method"] == method]), model, looks, 2 * BINS)
        ax.set_title(text(LABELS[method]))
        ax.set_xlabel(AXES.get(method, DENSITY))
        aucs_here = [
            Line2D([], [], color=looks[kind][0], linestyle=looks[kind][1], label=f"AUC {auc_text(aucs[method, kind])}")
            for kind in kinds
            if kind != model
        ]
        ax.legend(handles=aucs_here, loc="upper left", frameon=False, handlelength=1.8, borderaxespad=0.1)
        ax.set_ylim(top=ax.get_ylim()[1] * (1.05 + 0.15 * len(aucs_here)))
    figure.axes[0].set_ylabel("Fraction of images")
    handles: list[Artist] = [
        Patch(color=looks[kind][0], alpha=0.6, label=names.get(kind, kind))
        if kind == model
        else Line2D([], [], color=looks[kind][0], linestyle=looks[kind][1], label=names.get(kind, kind))
        for kind in kinds
    ]
    figure.legend(handles=handles, loc="outside upper center", ncols=len(handles), frameon=False)
    return figure


def outlier_figure(study: str, signals: pd.DataFrame, names: Mapping[str, str]) -> Figure:
    """The figure of a study, ``wine`` or ``images``."""
    return {"wine": wine_figure, "images": image_figure}[study](signals, names)


def auc_text(auc: float) -> str:
    """An AUC to three decimals, or to as many as it takes to see that it is not quite 1.

    >>> auc_text(0.97812), auc_text(0.999958), auc_text(1.0)
    ('0.978', '0.99996', '1')
    """
    if auc == 1.0:
        return "1"
    decimals = next((n for n in range(3, 8) if float(f"{auc:.{n}f}") < 1.0), 8)
    return f"{auc:.{decimals}f}"


def _looks(kinds: Sequence[str]) -> dict[str, tuple[str, Any]]:
    return {kind: (COLOURS[i % len(COLOURS)], LINES[i % len(LINES)]) for i, kind in enumerate(kinds)}


def _by_rows(chosen: pd.DataFrame) -> dict[str, np.ndarray]:
    return {str(rows): part.to_numpy() for rows, part in chosen.groupby("rows", sort=False)["signal"]}


def edges_of(values: Mapping[str, np.ndarray], bins: int) -> np.ndarray:
    """Shared bin edges for several kinds of rows; values below the first edge belong to the first bar."""
    finite = [part[np.isfinite(part)] for part in values.values()]
    finite = [part for part in finite if len(part)]
    if not finite:
        return np.array([-1.0, 0.0])
    low = min(float(np.quantile(part, LOWEST_SHARE)) for part in finite)
    high = max(float(part.max()) for part in finite)
    return np.linspace(low, high, bins + 1) if high > low else np.array([low - 0.5, low + 0.5])


def _histograms(
    ax: Any, values: Mapping[str, np.ndarray], own: str, looks: Mapping[str, Any], bins: int = BINS
) -> None:
    """Histograms of the fractions of each kind of rows, with shared bins; the model's own kind is filled."""
    edges = edges_of(values, bins)
    for kind, part in values.items():
        counts, _ = np.histogram(np.clip(part, edges[0], edges[-1]), edges)
        colour, line = looks[kind]
        if kind == own:
            ax.stairs(counts / len(part), edges, fill=True, color=colour, alpha=0.45, linewidth=0)
        ax.stairs(counts / len(part), edges, linestyle=line, color=colour, linewidth=0.9)
    ax.set_xlim(edges[0], edges[-1])
    ax.set_ylim(0, 1.05 * ax.get_ylim()[1])
    ax.set_yticks([])
    ax.spines["left"].set_visible(False)
    ax.locator_params(axis="x", nbins=4)
