"""The imputation baselines of the paper's experiments: fitted on the training fold, applied to rows with NaN."""

from joints.impute.knn import KNNImputer
from joints.impute.mean import MeanImputer
from joints.impute.missforest import MissForestImputer
from joints.impute.refit import MissForestRefitImputer

__all__ = ["KNNImputer", "MeanImputer", "MissForestImputer", "MissForestRefitImputer"]
