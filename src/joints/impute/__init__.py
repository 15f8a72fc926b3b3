"""The imputation baselines of the paper's experiments: fitted on the training fold, applied to rows with NaN.

Each is imported when it is first asked for: a job that needs one should not wait for what the others import.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from joints.impute.knn import KNNImputer
    from joints.impute.mean import MeanImputer
    from joints.impute.missforest import MissForestImputer
    from joints.impute.refit import MissForestRefitImputer

__all__ = ["KNNImputer", "MeanImputer", "MissForestImputer", "MissForestRefitImputer"]

_HOME = {
    "KNNImputer": "joints.impute.knn",
    "MeanImputer": "joints.impute.mean",
    "MissForestImputer": "joints.impute.missforest",
    "MissForestRefitImputer": "joints.impute.refit",
}


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(import_module(_HOME[name]), name)
    raise AttributeError(f"module 'joints.impute' has no attribute {name!r}")
