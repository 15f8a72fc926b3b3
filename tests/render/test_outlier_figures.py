"""The figures of the outlier studies."""

import numpy as np
import pandas as pd
import pytest

from joints.render.outlier_figures import BINS, auc_text, edges_of, outlier_figure
from joints.render.saving import save_all
from joints.study.outliers.signals import IMAGE_METHODS, WINE_METHODS


def table(models, kinds, methods, n=60):
    rng = np.random.default_rng(0)
    parts = [
        pd.DataFrame(
            {
                "repetition": 1,
                "model": model,
                "method": method,
                "rows": kind,
                "signal": rng.normal(0 if kind == model else -3, 1, n),
            }
        )
        for model in models
        for method in methods
        for kind in kinds
    ]
    return pd.concat(parts, ignore_index=True)


@pytest.fixture
def wine():
    return table(["red", "white"], ["red", "white"], WINE_METHODS)


@pytest.fixture
def images():
    return table(["mnist"], ["mnist", "Semeion", "SVHN"], IMAGE_METHODS)


def test_wine_has_a_panel_for_each_model_and_method(wine):
    figure = outlier_figure("wine", wine, {"red": "red wine", "white": "white wine"})
    assert len(figure.axes) == 8
    titles = [ax.get_title() for ax in figure.axes]
    assert titles[0].startswith("GeF$^{+}$(LSPN)\nAUC 0.9") and titles[5].startswith("KDE\nAUC 0.9")
    assert {ax.get_ylabel() for ax in figure.axes} == {"", "Model of red wine", "Model of white wine"}


def test_images_have_the_auc_of_each_kind(images):
    figure = outlier_figure("images", images, {"mnist": "MNIST"})
    assert [ax.get_title() for ax in figure.axes] == ["GeF$^{+}$", "KDE", "Class entropy"]
    for ax in figure.axes:
        assert [entry.get_text()[:5] for entry in ax.get_legend().get_texts()] == ["AUC 0", "AUC 0"]
    assert [entry.get_text() for entry in figure.legends[0].get_texts()] == ["MNIST", "Semeion", "SVHN"]


@pytest.mark.parametrize("study", ["wine", "images"])
def test_files_of_figures(study, request, tmp_path):
    signals = request.getfixturevalue(study)
    signals.loc[::7, "signal"] = -np.inf
    paths = [str(tmp_path / f"fx.{kind}") for kind in ("pgf", "pdf", "png")]
    save_all(outlier_figure(study, signals, {}), paths)
    first = [(tmp_path / f"fx.{kind}").read_bytes() for kind in ("pgf", "pdf", "png")]
    assert b"pgfpicture" in first[0] and first[1].startswith(b"%PDF") and first[2].startswith(b"\x89PNG")
    save_all(outlier_figure(study, signals, {}), paths)
    assert first == [(tmp_path / f"fx.{kind}").read_bytes() for kind in ("pgf", "pdf", "png")]


def bar_heights(ax):
    return [patch.get_data().values for patch in ax.patches]


def test_bars_are_fractions_of_all_rows_including_impossible_ones(images):
    """Rows of log p = -inf stand in the first bar, and every outline sums to one."""
    images.loc[images["rows"] == "SVHN", "signal"] = -np.inf
    figure = outlier_figure("images", images, {})
    for ax in figure.axes:
        heights = bar_heights(ax)
        assert len(heights) == 4  # its own kind is filled and outlined
        assert all(values.sum() == pytest.approx(1) for values in heights)
        assert any(values[0] == 1 for values in heights)


def test_edges():
    values = {"a": np.array([0.0, 1.0]), "b": np.array([-np.inf, 5.0])}
    edges = edges_of(values, BINS)
    assert len(edges) == BINS + 1 and edges[-1] == 5 and edges[0] == pytest.approx(0.01)
    assert np.diff(edges_of({"a": np.full(3, 2.0)}, BINS)).tolist() == [1.0]
    assert len(edges_of({"a": np.full(3, -np.inf)}, BINS)) == 2


def test_auc_that_is_almost_one():
    assert [auc_text(value) for value in (0.5, 0.9994, 0.9996, 0.9999996, 1.0)] == [
        "0.500",
        "0.999",
        "0.9996",
        "0.9999996",
        "1",
    ]
