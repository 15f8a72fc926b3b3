"""The mean baseline against its definition."""

import numpy as np

from joints.impute import MeanImputer


def test_mean_and_most_frequent_value():
    nan = np.nan
    X = np.array([[1.0, 0.0, nan], [2.0, 1.0, nan], [6.0, 1.0, nan], [nan, nan, nan]])
    imputer = MeanImputer(categorical_features={1: 2}).fit(X)
    np.testing.assert_array_equal(imputer.statistics_, [3.0, 1.0, 0.0])


def test_of_equally_frequent_categories_the_first():
    imputer = MeanImputer(categorical_features=[0]).fit([[2.0], [1.0], [1.0], [2.0]])
    np.testing.assert_array_equal(imputer.transform([[np.nan]]), [[1.0]])
