"""The imputation baselines of the paper's experiments: fitted on the training fold, applied to rows with NaN."""

from joints.impute.knn import KNNImputer
from joints.impute.mean import MeanImputer

__all__ = ["KNNImputer", "MeanImputer"]
