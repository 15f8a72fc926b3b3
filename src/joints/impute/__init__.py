"""The imputation baselines of the paper's experiments: fitted on the training fold, applied to rows with NaN.

Each is imported when it is first asked for: a job that needs one should not wait for what the others import.
"""

from typing import TYPE_CHECKING

from joints.lazy import names_of

if TYPE_CHECKING:
    from joints.impute.generative_imputer import GenerativeForestImputer
    from joints.impute.knn import KNNImputer
    from joints.impute.mean import MeanImputer
    from joints.impute.missforest import MissForestImputer
    from joints.impute.refit import MissForestRefitImputer

__all__ = ["GenerativeForestImputer", "KNNImputer", "MeanImputer", "MissForestImputer", "MissForestRefitImputer"]

_HOME = {
    "GenerativeForestImputer": "joints.impute.generative_imputer",
    "KNNImputer": "joints.impute.knn",
    "MeanImputer": "joints.impute.mean",
    "MissForestImputer": "joints.impute.missforest",
    "MissForestRefitImputer": "joints.impute.refit",
}

__getattr__ = names_of(__name__, _HOME)
