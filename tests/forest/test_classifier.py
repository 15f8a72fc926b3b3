"""ForestClassifier keeps scikit-learn's conventions."""

from sklearn.utils.estimator_checks import parametrize_with_checks

from joints import ForestClassifier


@parametrize_with_checks([ForestClassifier(n_estimators=5), ForestClassifier(n_estimators=5, surrogates="text")])
def test_scikit_learn_conventions(estimator, check):
    check(estimator)
