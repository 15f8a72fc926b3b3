"""missingpy on current releases of scikit-learn and NumPy.

Upstream: missingpy 0.2.0, which the paper's MissForest was adapted from, imports a module that scikit-learn has removed
(epsilon-machine/missingpy#27, epsilon-machine/missingpy#38), and uses names and settings that scikit-learn and NumPy
have renamed.

Seen: `import missingpy` stops with "No module named 'sklearn.neighbors.base'".

`load` imports it as it is installed: the missing module stands in only while the import runs, and the old names are
supplied in missingpy's own modules alone.  missingpy is an optional extra (``pip install joints[missingpy]``, GPL-3);
none of it is part of this package.

Tested with missingpy 0.2.0 and scikit-learn 1.9.0 and 1.9.1.  Another version of missingpy is refused.  With another
version of scikit-learn there is a warning, and a refusal if its private function is gone.
"""

from __future__ import annotations

import importlib
import logging
import sys
from functools import cache, wraps
from importlib.util import find_spec
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import sklearn.neighbors
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.utils import check_array

from joints.patches.versions import Tested, warn

logger = logging.getLogger(__name__)

TESTED = Tested("missingpy", "0.2.0", "0.2.0")
TESTED_SKLEARN = Tested("scikit-learn", "1.9.0", "1.9.1")
REMOVED_MODULE = "sklearn.neighbors.base"


@cache
def load() -> ModuleType:
    """Import missingpy; its `MissForest` and `KNNImputer` then work, here and wherever else it is imported."""
    if find_spec("missingpy") is None:
        raise ModuleNotFoundError("missingpy is not installed: pip install 'joints[missingpy]'.")
    if doubt := TESTED.doubt():
        raise ImportError(f"{doubt}: pip install 'joints[missingpy]'.")
    doubt = TESTED_SKLEARN.doubt()
    try:  # private: whoever does not load missingpy shall not depend on it
        from sklearn.neighbors._base import _get_weights
    except ImportError as error:
        raise ImportError(f"{doubt or 'scikit-learn has changed'}, and missingpy does not run with it.") from error
    if doubt:
        warn(f"{doubt}: missingpy is loaded as with the tested versions.")

    stand_in = ModuleType(REMOVED_MODULE)
    vars(stand_in).update(_check_weights=_check_weights, _get_weights=_get_weights)
    sys.modules[REMOVED_MODULE] = stand_in
    try:
        missingpy = importlib.import_module("missingpy")
    finally:
        del sys.modules[REMOVED_MODULE]
        vars(sklearn.neighbors).pop("base", None)

    for name in ("missforest", "knnimpute", "pairwise_external"):
        vars(sys.modules[f"missingpy.{name}"]).update(check_array=_check_array)
    vars(sys.modules["missingpy.missforest"]).update(
        np=_NumPy(),
        RandomForestRegressor=_renamed(RandomForestRegressor, {"mse": "squared_error"}, max_features=1.0),
        RandomForestClassifier=_renamed(RandomForestClassifier, {}, max_features="sqrt"),
        print=lambda *words: logger.debug(" ".join(map(str, words))),
    )
    return missingpy


def _check_weights(weights: Any) -> Any:
    if weights not in (None, "uniform", "distance") and not callable(weights):
        raise ValueError(f"weights is {weights!r}: give 'uniform', 'distance' or a function.")
    return weights


@wraps(check_array)
def _check_array(array: Any, *, force_all_finite: Any = True, warn_on_dtype: Any = None, **settings: Any) -> Any:
    return check_array(array, ensure_all_finite=force_all_finite, **settings)


class _NumPy(SimpleNamespace):
    """NumPy with the name that it has dropped."""

    in1d = staticmethod(np.isin)

    def __getattr__(self, name: str) -> Any:
        return getattr(np, name)


def _renamed(forest: Any, criteria: dict[str, str], max_features: Any) -> Any:
    """A maker of forests that takes the settings of missingpy's time; `max_features` is what "auto" meant."""

    def make(**settings: Any) -> Any:
        settings["criterion"] = criteria.get(settings["criterion"], settings["criterion"])
        if settings["max_features"] == "auto":
            settings["max_features"] = max_features
        return forest(**settings)

    return make
