"""What the variants of a configuration fit, and the mistakes that are found before anything runs."""

import copy

import pytest

from joints.errors import JointsError
from joints.forest.classifier import ForestClassifier, features_per_split
from joints.runtime.config import read_yaml, validate
from joints.study.ablation.variants import check_ablation, models_of
from joints.study.methods import entries, make

CONFIGS = ["config/config.yaml", "config/smoke.yaml"]


@pytest.fixture
def methods(root):
    return entries(read_yaml(root / "config/methods.yaml"), "methods.yaml")


@pytest.fixture
def config(root):
    return read_yaml(root / "config/smoke.yaml")


def test_a_variant_changes_what_it_names_and_nothing_else(methods):
    variant = {"methods": ["gefp", "mean"], "parameters": {"min_sd": 0.1}, "forest": {"purity": 1}}
    models = models_of(variant, methods)
    assert list(models) == ["gef", "mean"]
    assert models["gef"]["answers"] == {"gefp": "mixture"}  # GeF was not asked for
    assert models["gef"]["parameters"] == {**methods["gef"].parameters, "min_sd": 0.1}
    assert "min_sd" not in methods["gef"].parameters


@pytest.mark.parametrize("name", CONFIGS)
def test_every_variant_that_is_shipped_can_be_made_and_changes_something(root, methods, name):
    config = read_yaml(root / name)
    check_ablation(config, methods, name)
    labels = [variant["label"] for variant in config["ablation"]["variants"].values()]
    assert len(set(labels)) == len(labels)
    for variant in config["ablation"]["variants"].values():
        for model, settings in models_of(variant, methods).items():
            make(settings["cls"], settings["parameters"])
            assert "parameters" not in variant or settings["parameters"] != methods[model].parameters
        usual = ForestClassifier(**config["forest"]).get_params()
        changed = ForestClassifier(**{**config["forest"], **variant.get("forest", {})}).get_params()
        assert ("forest" in variant) == (usual != changed)


def test_a_third_of_the_features_is_a_third(root):
    third = read_yaml(root / "config/config.yaml")["ablation"]["variants"]["features_third"]["forest"]["max_features"]
    assert all(features_per_split(third, m) == max(1, m // 3) for m in range(1, 1000))


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"datasets": ["brest"]}, "'ablation.datasets' has 'brest', which .* 'datasets' \\(did you mean 'breast'"),
        ({"rates": [0.3, 0.5]}, "'ablation.rates' has 0.5, which is not among the run's 'protocol.rates'"),
        ({"repetitions": 3}, "'ablation.repetitions' is 3, but the study has 2 of dataset 'breast' and method 'mean'"),
        (
            {"variants": {"a": {"label": "A", "methods": ["knn_huang"], "parameters": {"n_neighbors": 3}}}},
            "'ablation.variants.a.methods' has 'knn_huang', which is not among the run's 'methods'",
        ),
    ],
)
def test_the_study_must_have_what_variants_are_compared_with(config, methods, change, reason):
    config["ablation"].update(change)
    with pytest.raises(JointsError, match=f"^my.yaml: {reason}"):
        check_ablation(config, methods, "my.yaml")


def test_a_method_with_fewer_repetitions(config, methods):
    config["protocol"]["exceptions"] = {"breast": {"fewer": {"gef": 1}}}
    with pytest.raises(JointsError, match="the study has 1 of dataset 'breast' and method 'gef'"):
        check_ablation(config, methods, "my.yaml")


@pytest.mark.parametrize(
    ("variant", "reason"),
    [
        ({"label": "A", "methods": ["gef"]}, "a variant has a label, methods, and parameters or a forest"),
        ({"label": "A", "methods": ["gef"], "forest": {"trees": 5}}, "unknown key 'trees'"),
        ({"label": "A", "method": "gef", "forest": {"purity": 1}}, "unknown key 'method'.*did you mean 'methods'"),
        ({"label": "A", "methods": [], "forest": {"purity": 1}}, "methods"),
    ],
)
def test_the_schema_describes_a_variant(root, config, variant, reason):
    schema = read_yaml(root / "workflow/schemas/config.schema.yaml")
    validate(config, schema, "my.yaml")
    wrong = copy.deepcopy(config)
    wrong["ablation"]["variants"] = {"a": variant}
    with pytest.raises(JointsError, match=f"my.yaml: .*{reason}"):
        validate(wrong, schema, "my.yaml")
