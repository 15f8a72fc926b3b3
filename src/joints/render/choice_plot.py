"""A picture of what a Generative Forest tried when it chose its settings."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from joints.circuit.infer import strength_of


def draw_choice(model: Any, axes: Any = None) -> Any:
    """Draw the out-of-bag log-loss over the width of the leaves, one line for each way to combine the trees.

    Rows are those of which features were removed.  Where several smoothings of categories were tried, lines have the
    chosen one's trials and those of the search for a width.  A ring marks the choice.

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
    axes = plt.subplots(figsize=(4.5, 3), layout="constrained")[1] if axes is None else axes
    removed = ~model.tried_["complete"]
    tried = {name: column[removed] for name, column in model.tried_.items()}
    for combine in sorted(set(tried["combine"]), key=strength_of):
        here = np.flatnonzero((tried["combine"] == combine) & (tried["smoothing"] == tried["smoothing"][0]))
        here = here[np.argsort(tried["min_sd"][here], kind="stable")]
        label = combine if isinstance(combine, str) else f"weighted, {combine:g} features"
        axes.plot(tried["min_sd"][here], tried["log_loss"][here], marker=".", label=label)
    axes.plot(
        model.min_sd_, model.oob_log_loss_, marker="o", markersize=10, fillstyle="none", color="black", linestyle=""
    )
    axes.set(xscale="log", xlabel="smallest standard deviation (min_sd)", ylabel="out-of-bag log-loss")
    axes.legend(title="trees", fontsize="small")
    return axes
