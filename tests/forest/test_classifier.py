"""ForestClassifier keeps scikit-learn's conventions."""

from mixed import weights_in_bootstrap_samples
from sklearn.utils.estimator_checks import parametrize_with_checks

from joints import ForestClassifier


@parametrize_with_checks(
    [
        ForestClassifier(n_estimators=5),
        ForestClassifier(n_estimators=5, bootstrap=False),
        ForestClassifier.published(n_estimators=5),
    ],
    expected_failed_checks=weights_in_bootstrap_samples,
)
def test_scikit_learn_conventions(estimator, check):
    check(estimator)
