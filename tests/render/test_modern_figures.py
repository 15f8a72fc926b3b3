"""The figures of the modern study, from made-up scores of all its methods: complete, legible and reproducible."""

import contextlib
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg

from joints.render.modern_blocks import MODERN_BLOCKS
from joints.render.modern_figures import modern_figures
from joints.study import statistics, summarise
from joints.study.modern import costs, gains_over_best, reliability
from joints.study.pairs import pairs
from joints.study.plan import Plan
from joints.study.scores import read_published, write_scores

ROOT = Path(__file__).resolve().parents[2]
with contextlib.chdir(ROOT):
    PLAN = Plan.read(["config/modern.yaml"], {"protocol": {"training": ["mcar"]}})

MECHANISMS = PLAN.mechanism_names
RATES = PLAN.config["protocol"]["rates"]
METRICS = PLAN.all_metrics


def made_up(datasets=6):
    """Scores, seconds, forest seconds and confidences."""
    rng = np.random.default_rng(0)
    rows, seconds, bins = [], [], []
    names = PLAN.names[:datasets]
    for d, dataset in enumerate(names):
        for m, method in enumerate(PLAN.used):
            for mechanism in MECHANISMS:
                for rate in RATES:
                    level = 0.9 - 0.3 * rate - 0.02 * d + 0.01 * (m % 7) * rate
                    for repetition, fold in ((1, 1), (1, 2), (2, 1), (2, 2)):
                        a = np.clip(level + rng.normal(0, 0.01), 0, 1)
                        rows.append((dataset, method, mechanism, rate, repetition, fold, a, 2 - 2 * a, 1 - a, a, 0.05))
        for m, model in enumerate(PLAN.models):
            answers = {entry.answer for entry in PLAN.used.values() if entry.model == model}
            for mechanism in MECHANISMS:
                for rate in RATES:
                    fit = 0.01 * 2.0**m
                    seconds += [(dataset, model, mechanism, rate, 1, f, fit, 0.05 * (1 + m % 3)) for f in (1, 2)]
                    for answer in answers:
                        for b in range(4, 15):
                            c = (b + 0.5) / 15
                            keys = (dataset, model, mechanism, rate, 1, answer, b)
                            bins.append((*keys, 10 + b, (10 + b) * c, (10 + b) * c * 0.9))
    keys = ["dataset", "method", "mechanism", "rate", "repetition", "fold"]
    scores = pd.DataFrame(rows, columns=[*keys, *PLAN.metrics])
    of_model = ["dataset", "model", "mechanism", "rate", "repetition", "fold", "fit_seconds", "predict_seconds"]
    of_bins = ["dataset", "model", "mechanism", "rate", "repetition", "answer", "bin", "rows", "confidence", "correct"]
    forests = pd.DataFrame({"dataset": names, "repetition": 1, "fold": 1, "forest_seconds": 0.5})
    return scores, pd.DataFrame(seconds, columns=of_model), forests, pd.DataFrame(bins, columns=of_bins)


@pytest.fixture(scope="module")
def frames():
    scores, seconds, forests, bins = made_up()
    needs = {model: model in ("mean", "gef", "gef_lspn") for model in PLAN.models}
    return {
        "means": summarise.means(scores, list(PLAN.used), METRICS),
        "gains": gains_over_best(scores, PLAN.used, METRICS),
        "costs": costs(seconds, forests, needs, "mcar"),
        "reliability": reliability(bins, PLAN.used),
    }


@pytest.fixture(scope="module")
def figures(frames):
    datasets = {name: PLAN.label(name) for name in PLAN.names[:6]}
    mechanisms = list(PLAN.used_mechanisms.values())
    return modern_figures(frames, PLAN.shown, mechanisms, datasets, PLAN.views[0], 0.3)


def texts(figure):
    return {item.get_text() for item in figure.findobj(lambda item: hasattr(item, "get_text"))}


def test_every_figure_names_what_it_shows(figures):
    assert set(figures) == {path.stem for path in PLAN.modern_figures}
    for name, figure in figures.items():
        shown = texts(figure)
        labels = {entry.label.replace("GeF+", "GeF$^{+}$") for entry in PLAN.shown}
        if name == "best_gains":
            labels -= {entry.label for entry in PLAN.shown if entry.family == "imputation"}
            assert {entry.label for entry in PLAN.used_mechanisms.values()} <= shown
        assert labels <= shown, name
    assert {PLAN.label(name) for name in PLAN.names[:6]} <= texts(figures["heat_map"])


def test_nothing_is_cut_off_and_labels_do_not_overlap(figures):
    for name, figure in figures.items():
        canvas = FigureCanvasAgg(figure)
        canvas.draw()
        renderer = canvas.get_renderer()
        width, height = figure.bbox.width, figure.bbox.height
        drawn = [*figure.texts, *(item for ax in figure.axes for item in (*ax.texts, ax.title))]
        boxes = [item.get_window_extent(renderer) for item in drawn if item.get_text()]
        for box in boxes:
            assert box.x0 >= -2 and box.x1 <= width + 2 and box.y0 >= -2 and box.y1 <= height + 2, name
    labels = figures["costs"].axes[0].texts
    boxes = [label.get_window_extent() for label in labels]
    for i, one in enumerate(boxes):
        for other in boxes[i + 1 :]:
            apart = one.x1 <= other.x0 or other.x1 <= one.x0 or one.y1 <= other.y0 + 2 or other.y1 <= one.y0 + 2
            assert apart


def test_gains_over_the_best_imputation(frames):
    gains = frames["gains"].query("metric == 'accuracy'")
    imputations = [name for name, entry in PLAN.used.items() if entry.family == "imputation"]
    means = frames["means"].query("metric == 'accuracy'")
    for key, group in gains.groupby(["mechanism", "rate"]):
        cells = means[(means["mechanism"] == key[0]) & (means["rate"] == key[1])]
        average = cells.groupby("method")["mean"].mean()
        (best,) = group["best"].unique()
        assert best == average[imputations].idxmax()
        found = group.set_index("method")["gain"]
        np.testing.assert_allclose(found, (average - average[best])[found.index], atol=1e-9)
        assert found[best] == 0 and (found[imputations] <= 1e-9).all()


def test_costs_include_the_forest_of_those_who_need_it(frames):
    table = frames["costs"].set_index(["dataset", "model"])
    assert table.loc[("breast", "gef"), "forest_seconds"] == 0.5 and table.loc[("breast", "rf"), "forest_seconds"] == 0
    np.testing.assert_allclose(table.loc[("breast", PLAN.models[0]), "fit_seconds"], 0.01)


def test_reliability_is_a_weighted_mean(frames):
    table = frames["reliability"]
    np.testing.assert_allclose(table.groupby(["method", "mechanism", "rate"])["weight"].sum(), 1)
    np.testing.assert_allclose(table["correct"], 0.9 * table["confidence"])


def test_all_scores_in_a_compact_file_give_the_same_means(frames, tmp_path):
    scores, *_ = made_up()
    write_scores(tmp_path / "scores.parquet", scores, PLAN.used_mechanisms)
    found = pd.read_parquet(tmp_path / "scores.parquet")
    assert len(found) == len(scores) and (tmp_path / "scores.parquet").stat().st_size < 40 * len(scores)
    assert set(found["mechanism"]) == {"mcar", "mar", "mnar_self", "mnar", "blocks"} and found["training"].any()
    complete = found.query("mechanism == 'mcar' and not training and method == 'gef'")
    cells = frames["means"].query("mechanism == 'mcar' and method == 'gef' and metric == 'accuracy'")
    means = 100 * complete.groupby(["dataset", "rate"], observed=True)["accuracy"].mean()
    expected = cells.sort_values(["dataset", "rate"])["mean"]
    np.testing.assert_allclose(means.sort_index().to_numpy(), expected, atol=1e-4)
    pd.testing.assert_frame_equal(
        read_published(tmp_path / "scores.parquet"), scores, check_dtype=False, check_like=True, atol=1e-6, rtol=1e-6
    )


def test_the_tables_of_the_document_are_filled_in_from_the_run(frames):
    scores, *_ = made_up()
    given = {
        "gains_over_best": frames["gains"],
        "ranks": statistics.ranks(scores, [entry.name for entry in PLAN.shown], METRICS[:1]),
        "pairs": pairs(scores, ["gef", "mean", "rf", "gef_auto"], METRICS[:1]),
        "costs": frames["costs"],
        "means": frames["means"],
    }
    text = (ROOT / "MODERN.md").read_text(encoding="utf-8")
    for name, block in MODERN_BLOCKS.items():
        assert f"<!-- {name} -->" in text and f"<!-- end of {name} -->" in text
        filled = block(PLAN, given.__getitem__)
        if name == "best of all":
            assert filled.count("**") == 2 * len(MECHANISMS) * len(RATES)
        elif name == "ahead of GeF (auto)":
            assert len(filled.splitlines()) == 2 + len(RATES)
        else:
            assert "| RF | " in filled
    rows = MODERN_BLOCKS["against GeF"](PLAN, given.__getitem__).splitlines()[2:]
    gains = [float(row.split("|")[2]) for row in rows]
    assert len(rows) == 3 and gains == sorted(gains, reverse=True)  # the losses of GeF first


def test_rivals_ahead_of_the_forest_that_sets_itself():
    cells = [("german", "gef_auto", 80.0), ("german", "rf", 82.5), ("german", "mean", 81.0)]
    cells += [("vowel", "gef_auto", 80.0), ("vowel", "rf", 79.0), ("vowel", "mean", 70.0)]
    cells += [("german", "gef", 90.0), ("vowel", "gef", 90.0)]  # one of its own family is no rival
    means = pd.DataFrame(cells, columns=["dataset", "method", "mean"])
    means = means.assign(metric="accuracy", mechanism="mcar", rate=0.3)
    row = MODERN_BLOCKS["ahead of GeF (auto)"](PLAN, lambda name: means).splitlines()[-1]
    assert row == "| 30 % | 1 of 2 | credit-g +2.5 (RF) |"


def test_gains_on_datasets_that_nothing_was_developed_on():
    cells = [("cmc", "gef_auto", 50.0), ("cmc", "rf", 47.0), ("breast", "gef_auto", 95.0), ("breast", "rf", 94.0)]
    cells += [("vowel", "gef_auto", 80.0), ("vowel", "rf", 60.0)]  # which was
    means = pd.DataFrame(cells, columns=["dataset", "method", "mean"])
    means = means.assign(metric="accuracy", mechanism="mcar", rate=0.3)
    row = MODERN_BLOCKS["GeF (auto) on other datasets"](PLAN, lambda name: means).splitlines()[-1]
    assert row.startswith("| RF | +2.0 ")
