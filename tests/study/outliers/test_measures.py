"""How well a signal separates two kinds of rows."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import average_precision_score, roc_auc_score

from joints.study.outliers.measures import separation, summarise

values = st.lists(st.one_of(st.integers(-3, 3).map(float), st.just(-np.inf)), min_size=1, max_size=12)


@given(values, values)
def test_auc_counts_pairs(inside, outside):
    pairs = [1.0 if a > b else 0.5 if a == b else 0.0 for a in inside for b in outside]
    assert separation(np.array(inside), np.array(outside))["auc"] == pytest.approx(np.mean(pairs))


@given(values, values)
def test_false_positives_by_definition(inside, outside):
    inside, outside = np.array(inside), np.array(outside)
    threshold = max(t for t in inside if (inside >= t).mean() >= 0.95)
    assert separation(inside, outside)["fpr95"] == pytest.approx((outside >= threshold).mean())


def test_finite_values_give_the_numbers_of_scikit_learn():
    rng = np.random.default_rng(0)
    inside, outside = rng.normal(1, 1, 80), rng.normal(0, 1, 50)
    truth, values = np.repeat([1, 0], [80, 50]), np.concatenate([inside, outside])
    found = separation(inside, outside)
    assert found["auc"] == pytest.approx(roc_auc_score(truth, values))
    assert found["aupr"] == pytest.approx(average_precision_score(truth, values))


def test_minus_infinity_is_the_lowest_value():
    outside = np.array([-np.inf, -np.inf, -1e308])
    assert separation(np.array([0.0, 1.0]), outside) == {"auc": 1.0, "aupr": 1.0, "fpr95": 0.0}
    assert separation(np.array([-np.inf]), np.array([-np.inf]))["auc"] == 0.5


def test_nan_and_empty_sides_are_refused():
    with pytest.raises(ValueError, match="1 of 3 values are NaN"):
        separation(np.array([0.0, np.nan]), np.array([1.0]))
    with pytest.raises(ValueError, match="Both kinds of rows are needed: there are 0 from inside"):
        separation(np.empty(0), np.array([1.0]))


def test_means_and_intervals_over_repetitions():
    signals = pd.DataFrame(
        [
            (1, "a", "m", "a", 1.0),
            (1, "a", "m", "b", 0.0),
            (2, "a", "m", "a", 0.0),
            (2, "a", "m", "b", 0.0),
            (1, "a", "m", "c", 2.0),
            (2, "a", "m", "c", -np.inf),
        ],
        columns=["repetition", "model", "method", "rows", "signal"],
    )
    table = summarise(signals).set_index("outliers")
    assert table["auc"].to_dict() == {"b": 0.75, "c": 0.5} and (table["repetitions"] == 2).all()
    # Student's t with one degree of freedom: 12.706 standard errors
    assert table.loc["b", "auc_interval"] == pytest.approx(12.706 * 0.25, rel=1e-4)
    assert (summarise(signals[signals["repetition"] == 1])["auc_interval"] == 0).all()
