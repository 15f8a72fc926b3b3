"""Simulations of section 4: their distributions against numerical integration, their outcomes against the paper's."""

import numpy as np
import pytest

from joints.forest.classifier import ForestClassifier
from joints.render.theory_figure import theory_figure
from joints.study.theory import Square, cells_of, consistency_at, imputation_errors, simulate, uniform_density

MIDDLE = (np.arange(100) + 0.5) / 100
GRID = np.stack(np.meshgrid(MIDDLE, MIDDLE, indexing="ij"), axis=-1).reshape(-1, 2)


@pytest.fixture(scope="module")
def tree():
    X, y = Square().draw(2000, np.random.default_rng(0))
    forest = ForestClassifier(1, min_samples_leaf=40, bootstrap=False, random_state=0).fit(X, y).forest_
    return X, y, forest


def test_the_true_density_is_one_of_rows_that_are_drawn():
    truth = Square()
    density = truth.density(GRID, (0, 1))
    assert density.sum(axis=1).mean() == pytest.approx(1, abs=1e-3)
    for feature in (0, 1):
        alone = truth.density(MIDDLE[:, None], (feature,))
        assert np.allclose(alone, density.reshape(100, 100, 2).mean(axis=1 - feature), atol=1e-3)
    X, y = truth.draw(200_000, np.random.default_rng(1))
    for corner in ((0.3, 0.6), (0.7, 0.2)):
        for label in (0, 1):
            drawn = np.mean((corner > X).all(axis=1) & (y == label))
            expected = density[(corner > GRID).all(axis=1), label].sum() / len(GRID)
            assert drawn == pytest.approx(expected, abs=0.005)


def test_cells_are_those_of_the_training_rows(tree):
    X, y, forest = tree
    low, high = cells_of(forest)
    assert np.prod(high - low, axis=1).sum() == pytest.approx(1)
    inside = ((X[:, None] > low) & (X[:, None] <= high)).all(axis=2)
    assert (inside.sum(axis=1) == 1).all()
    for label in (0, 1):
        assert np.array_equal(inside[y == label].sum(axis=0), forest.leaf_counts[:, label])


def test_uniform_leaves_are_densities_and_marginalise(tree):
    _, _, forest = tree
    low, high = cells_of(forest)
    weights = forest.leaf_counts / forest.leaf_counts.sum()
    both = uniform_density(GRID, low, high, weights).reshape(100, 100, 2)
    assert both.sum() / 10_000 == pytest.approx(1, abs=0.02)
    for feature in (0, 1):
        alone = uniform_density(MIDDLE[:, None], low[:, [feature]], high[:, [feature]], weights)
        assert np.allclose(alone, both.mean(axis=1 - feature), atol=0.15)
        assert alone.sum() / 100 == pytest.approx(1, abs=0.02)


def test_knn_imputation_is_worse_the_easier_the_problem_becomes():
    wide, narrow = (imputation_errors(epsilon, 5000, 0, 7) for epsilon in (0.5, 0.2))
    assert narrow["best possible"] < wide["best possible"] and narrow["knn"] > wide["knn"] > 0.5
    for errors in (wide, narrow):
        assert errors["gef"] == pytest.approx(errors["best possible"], abs=0.06)


def test_trees_approach_the_truth():
    few, many = consistency_at(500, 0, 7), consistency_at(50_000, 0, 7)
    assert many["l1"] < 0.6 * few["l1"] and many["diameter"] < 0.6 * few["diameter"]
    assert all(0 <= many[name] < 0.03 for name in ("first", "second", "both"))


def test_the_table_and_its_figure():
    found = simulate([0.5, 0.3], 500, [200, 400], 2, seed=1)
    assert len(found) == 2 * (2 * 3 + 2 * (5 + 3)) and not found.isna().any(axis=None)
    again = simulate([0.5, 0.3], 500, [200, 400], 2, seed=1)
    times = found["statement"] == "complexity"
    assert found[~times].equals(again[~times]) and (found.loc[times, "value"] > 0).all()
    left, right = theory_figure(found).axes
    assert [line.get_label() for line in left.lines] == ["KNN imputation", "GeF", "best possible"]
    assert len(right.lines) == 4
