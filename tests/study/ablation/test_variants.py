"""What the variants of a configuration fit, and the mistakes that are found before anything runs."""

import copy

import pytest

from joints.errors import JointsError
from joints.forest.classifier import ForestClassifier, features_per_split
from joints.runtime.config import read_run, read_yaml, validate
from joints.study.ablation.variants import check_ablation, datasets_of, methods_by_dataset, models_of
from joints.study.entries import MethodEntry, make, read_entries

CONFIGS = ["config/config.yaml", "config/smoke.yaml"]


@pytest.fixture
def methods(root):
    return read_entries(MethodEntry, read_yaml(root / "config/methods.yaml"))


@pytest.fixture
def schema(root):
    return read_yaml(root / "workflow/schemas/config.schema.yaml")


@pytest.fixture
def shipped(root, schema, monkeypatch):
    """A configuration of the project, with what it extends: those files are named relative to the project."""
    monkeypatch.chdir(root)
    return lambda name: read_run([name], schema)


@pytest.fixture
def config(shipped):
    return shipped("config/smoke.yaml")


def test_a_variant_changes_what_it_names_and_nothing_else(methods):
    variant = {"methods": ["gefp", "mean"], "parameters": {"min_sd": 0.1}, "forest": {"purity": 1}}
    models = models_of(variant, methods)
    assert list(models) == ["gef", "mean"]  # GeF+ is an answer of GeF's model
    assert models["gef"].name == "gef" and models["gef"].cls == methods["gef"].cls
    assert models["gef"].parameters == {**methods["gef"].parameters, "min_sd": 0.1}
    assert models["mean"].parameters == {"min_sd": 0.1}
    assert methods["gef"].parameters["min_sd"] == 1 and "min_sd" not in methods["mean"].parameters


def test_what_a_model_is_fitted_with_says_nothing_about_tables_and_costs(methods):
    """Only what its scores depend on: a new label or another guess of seconds makes no variant stale."""
    variant = {"methods": ["gef"], "parameters": {"min_sd": 0.1}}
    before = models_of(variant, methods)
    other = methods["gef"]._replace(label="G", colour="black", family="other", seconds=99.0, shown=False, paper={})
    assert models_of(variant, {**methods, "gef": other}) == before


def test_a_variant_may_have_datasets_of_its_own():
    variants = {
        "a": {"methods": ["knn", "gef"]},
        "b": {"methods": ["gef", "mean"], "datasets": ["wine", "bank"]},
    }
    ablation = {"datasets": ["bank", "dna"], "variants": variants}
    assert datasets_of(variants["a"], ablation) == ["bank", "dna"]
    assert datasets_of(variants["b"], ablation) == ["wine", "bank"]
    assert methods_by_dataset(ablation) == {
        "bank": ["knn", "gef", "mean"],
        "dna": ["knn", "gef"],
        "wine": ["gef", "mean"],
    }


@pytest.mark.parametrize("name", CONFIGS)
def test_every_variant_that_is_shipped_can_be_made_and_changes_something(shipped, methods, name):
    config = shipped(name)
    check_ablation(config, methods, name)
    labels = [variant["label"] for variant in config["ablation"]["variants"].values()]
    assert len(set(labels)) == len(labels)
    for variant in config["ablation"]["variants"].values():
        for model, entry in models_of(variant, methods).items():
            make(entry.cls, entry.parameters)
            assert ("parameters" in variant) == (entry.parameters != methods[model].parameters)
        usual = ForestClassifier.published(**config["forest"]).get_params()
        changed = ForestClassifier.published(**{**config["forest"], **variant.get("forest", {})}).get_params()
        assert ("forest" in variant) == (usual != changed)


def test_a_third_of_the_features_is_a_third(root):
    third = read_yaml(root / "config/config.yaml")["ablation"]["variants"]["features_third"]["forest"]["max_features"]
    assert all(features_per_split(third, m) == max(1, m // 3) for m in range(1, 1000))


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"datasets": ["brest"]}, "'ablation.datasets' has 'brest', which .* 'datasets' \\(did you mean 'breast'"),
        ({"rates": [0.3, 0.5]}, "'ablation.rates' has 0.5, which is not among the run's 'protocol.rates'"),
        (
            {"repetitions": 3},
            "'ablation.repetitions' is 3, but the study has only 2 for dataset 'breast' and method 'mean'",
        ),
        (
            {"variants": {"a": {"label": "A", "methods": ["knn_huang"], "parameters": {"n_neighbors": 3}}}},
            "'ablation.variants.a.methods' has 'knn_huang', which is not among the run's 'methods'",
        ),
        (
            {"variants": {"a": {"label": "A", "methods": ["gef"], "forest": {"purity": 1}, "datasets": ["wine"]}}},
            "'ablation.variants.a.datasets' has 'wine', which is not among the run's 'datasets'",
        ),
    ],
)
def test_the_study_must_have_what_variants_are_compared_with(config, methods, change, reason):
    config["ablation"].update(change)
    with pytest.raises(JointsError, match=f"^my.yaml: {reason}"):
        check_ablation(config, methods, "my.yaml")


def test_a_method_with_fewer_repetitions(config, methods):
    config["protocol"]["exceptions"] = {"breast": {"fewer": {"gef": 1}}}
    with pytest.raises(JointsError, match="the study has only 1 for dataset 'breast' and method 'gef'"):
        check_ablation(config, methods, "my.yaml")


@pytest.mark.parametrize(
    ("variant", "reason"),
    [
        ({"label": "A", "methods": ["gef"]}, "a variant has a label, methods, and parameters or a forest"),
        ({"label": "A", "methods": ["gef"], "forest": {"trees": 5}}, "unknown key 'trees'"),
        ({"label": "A", "method": "gef", "forest": {"purity": 1}}, "unknown key 'method'.*did you mean 'methods'"),
        ({"label": "A", "methods": [], "forest": {"purity": 1}}, "'ablation.variants.a.methods' does not fit"),
    ],
)
def test_the_schema_describes_a_variant(schema, config, variant, reason):
    validate(config, schema, "my.yaml")
    wrong = copy.deepcopy(config)
    wrong["ablation"]["variants"] = {"a": variant}
    with pytest.raises(JointsError, match=f"my.yaml: .*{reason}"):
        validate(wrong, schema, "my.yaml")
