"""Defaults serve users; `published` has the settings behind the paper's numbers, and the study takes those."""

from pathlib import Path

import numpy as np
import pytest
from mixed import mixed_table

from joints import ForestClassifier, GenerativeForestClassifier, LearnSPNClassifier
from joints.circuit.generative import PUBLISHED_DENSITIES
from joints.runtime.config import read_yaml
from joints.study.methods.gef import GenerativeForest

ROOT = Path(__file__).resolve().parents[1]


@pytest.mark.parametrize("Model", [ForestClassifier, GenerativeForestClassifier, LearnSPNClassifier])
def test_published_settings_all_at_once(Model):
    published, usual = Model.published(random_state=3), Model()
    published._validate_params()
    for name, value in Model.PUBLISHED.items():
        assert getattr(published, name) == value
    assert Model.published(random_state=3, **{next(iter(Model.PUBLISHED)): 0.5}).get_params() != published.get_params()
    untouched = set(usual.get_params()) - set(Model.PUBLISHED) - {"random_state"}
    assert all(getattr(published, name) == getattr(usual, name) for name in untouched)


def test_defaults_are_those_of_the_text_and_normalised():
    forest, gef = ForestClassifier(), GenerativeForestClassifier(leaves="lspn")
    assert (forest.category_order, forest.surrogates) == ("proportion", "text")
    assert (gef.category_order, gef.truncate, gef.count_missing) == ("proportion", True, False)
    forest, gef = ForestClassifier.published(), GenerativeForestClassifier.published()
    assert (forest.category_order, forest.surrogates) == ("published", "published")
    assert (gef.category_order, gef.truncate, gef.count_missing, gef.relative_sd) == ("published", False, True, False)


def test_the_catalogue_states_the_published_densities():
    catalogue = read_yaml(ROOT / "config/methods.yaml")
    for name in ("gef", "gef_lspn"):
        stated = {key: value for key, value in catalogue[name]["parameters"].items() if key != "leaves"}
        assert {**PUBLISHED_DENSITIES, **stated} == PUBLISHED_DENSITIES
        assert {"min_sd", "smoothing", "relative_sd", "count_missing"} <= set(stated)
    assert GenerativeForest().parameters == PUBLISHED_DENSITIES


def test_published_is_the_forest_that_it_names():
    X, y, _ = mixed_table(np.random.default_rng(0), n=200, categories=(6,), n_classes=2)
    options = {"n_estimators": 5, "categorical_features": {2: 6}, "random_state": 0}
    named = ForestClassifier(**options, category_order="published", surrogates="published").fit(X, y)
    published = ForestClassifier.published(**options).fit(X, y)
    np.testing.assert_array_equal(published.forest_.goes_left, named.forest_.goes_left)
    generative = GenerativeForestClassifier.published(**options).fit(X, y)
    np.testing.assert_array_equal(generative.forest_.threshold, named.forest_.threshold)
