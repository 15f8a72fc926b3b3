"""A picture of what a Generative Forest tried when it chose its settings."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from joints.circuit.infer import strength_of


def draw_choice(model: Any, axes: Any = None) -> Any:
    """Draw what the search for a width found, over the widths of the leaves, with a ring at the choice.

    Rows are those of which features were removed.  By the log-loss of the class there is a line for each way to combine
    the trees; the likelihood of the features has one line.  Where the smoothing of categories is chosen too, that comes
    after the width, with which the ring may then leave its line.

    Parameters
    ----------
    model : fitted GenerativeForestClassifier
        With something that was chosen.
    axes : matplotlib Axes, default=None
        None: those of a new figure.

    Returns
    -------
    matplotlib Axes
    """
    import matplotlib.pyplot as plt

    check_is_fitted(model)
    if not model.tried_:
        raise ValueError("Nothing was tried: give the model min_sd, smoothing or combine 'auto', and fit it.")
    if axes is None:
        axes = plt.subplots(figsize=(5.5, 3), layout="constrained")[1]
    table = model.tried_
    own = ~table["complete"] & (table["leaves"] == model.leaves)  # LearnSPN's smoothing is chosen by other leaves
    tried = {name: column[own] for name, column in table.items()}
    by_class = model.objective == "log_loss"
    value = tried["log_loss" if by_class else "log_likelihood"]
    of_widths = tried["smoothing"] == tried["smoothing"][0]
    for combine in sorted(set(tried["combine"]), key=strength_of)[: None if by_class else 1]:
        here = np.flatnonzero((tried["combine"] == combine) & of_widths)
        here = here[np.argsort(tried["min_sd"][here], kind="stable")]
        label = combine if isinstance(combine, str) else f"weighted, {combine:g} feature{'s' * (combine != 1)}"
        axes.plot(tried["min_sd"][here], value[here], marker=".", label=label)
    best = (tried["min_sd"] == model.min_sd_) & (tried["smoothing"] == model.smoothing_)
    chosen = value[best].min()  # one likelihood, and the smallest log-loss of all ways to combine the trees
    axes.plot(model.min_sd_, chosen, marker="o", markersize=10, fillstyle="none", color="black", linestyle="")
    axes.set(xscale="log", xlabel="smallest standard deviation (min_sd)")
    axes.set_ylabel(f"out-of-bag {'log-loss' if by_class else 'log-likelihood'}")
    widths = np.unique(tried["min_sd"])
    axes.set_xticks(widths, [f"{width:.3g}" for width in widths])
    axes.set_xticks([], minor=True)
    if by_class:
        axes.legend(title="trees", fontsize="small", loc="center left", bbox_to_anchor=(1.0, 0.5))
    return axes
