"""The catalogues of methods, mechanisms and metrics: what entries may say, and what follows from them."""

import pytest

from joints.errors import JointsError
from joints.runtime.config import read_yaml, validate
from joints.study.entries import (
    MechanismEntry,
    MethodEntry,
    MetricEntry,
    View,
    check_methods,
    check_named,
    find,
    make,
    read_entries,
)
from joints.study.methods.mean import MeanImputation
from joints.study.metrics import accuracy

CATALOGUE = {
    "gef": {"label": "GeF", "class": "joints.study.methods.gef.GenerativeForest", "answer": "average"},
    "gefp": {"label": "GeF+", "of": "gef", "answer": "mixture"},
    "mean": {"label": "Mean", "class": "joints.study.methods.mean.MeanImputation"},
}
PAPER = {"place": 1, "columns": ["Surr", "Sci"], "table1": True, "figure2": False}


def method(**content):
    """An entry that names a class, as it is read from a catalogue."""
    return read_entries(MethodEntry, {"own": {"label": "Own", "class": "my.module.Own", **content}})["own"]


# ----------------------------------------------------------------------------------------------------------- methods


def test_methods_share_a_model():
    found = read_entries(MethodEntry, CATALOGUE)
    check_methods(found, "methods.yaml")
    assert list(found) == list(CATALOGUE) and [entry.name for entry in found.values()] == list(CATALOGUE)
    assert [(entry.model, entry.answer) for entry in found.values()] == [
        ("gef", "average"),
        ("gef", "mixture"),
        ("mean", "probabilities"),  # the name of the only answer of a model
    ]
    assert found["mean"].cls == "joints.study.methods.mean.MeanImputation" and found["gefp"].cls == ""


@pytest.mark.parametrize(
    ("entry", "reason"),
    [
        ({"label": "X"}, "'x' must have either 'class' or 'of'"),
        ({"label": "X", "class": "a.B", "of": "gef"}, "'x' must have either 'class' or 'of'"),
        (
            {"label": "X", "of": "gfe"},
            r"'x' is 'of' 'gfe', which is not an entry with a class \(did you mean 'gef'\?\)",
        ),
        ({"label": "X", "of": "gefp"}, "'x' is 'of' 'gefp', which is not an entry with a class"),
    ],
)
def test_entries_that_make_no_sense(entry, reason):
    found = read_entries(MethodEntry, {**CATALOGUE, "x": entry})
    with pytest.raises(JointsError, match=rf"^methods\.yaml: {reason}"):
        check_methods(found, "methods.yaml")


def test_a_method_that_is_not_in_the_paper_is_in_table_1_and_in_figure_2():
    own = method()
    assert own.in_table1 and own.in_figure2


@pytest.mark.parametrize("table1", [True, False])
@pytest.mark.parametrize("figure2", [True, False])
def test_the_paper_says_where_its_own_methods_are(table1, figure2):
    entry = method(paper={**PAPER, "table1": table1, "figure2": figure2})
    assert (entry.in_table1, entry.in_figure2) == (table1, figure2)


@pytest.mark.parametrize("paper", [{}, {**PAPER, "table1": True, "figure2": True}])
def test_a_method_that_is_not_shown_is_in_neither(paper):
    entry = method(paper=paper, shown=False)
    assert (entry.in_table1, entry.in_figure2) == (False, False)


def test_columns_are_those_of_the_paper_or_are_named_after_the_method():
    assert method(paper=PAPER).columns == ("Surr", "Sci")
    assert method().columns == ("own", "own_ci")


def test_tables_do_not_depend_on_how_a_method_is_computed():
    entry = method(paper=PAPER, parameters={"trees": 5}, seconds=3)
    other = method(paper=PAPER, parameters={"trees": 9}, seconds=4, **{"class": "my.other.Module"})
    assert entry != other and entry.described == other.described
    assert entry.described.columns == ("Surr", "Sci") and entry.described.in_table1
    assert method(label="Other", paper=PAPER).described != entry.described


def test_the_catalogue_that_is_shipped(root):
    """The paper's ten have a place each, and columns that no other method has; those for comparison are not shown."""
    found = read_entries(MethodEntry, read_yaml(root / "config/methods.yaml"))
    check_methods(found, "config/methods.yaml")
    published = [entry for entry in found.values() if entry.paper]
    assert sorted(entry.paper["place"] for entry in published) == list(range(1, 11))
    assert len({name for entry in found.values() for name in entry.columns}) == 2 * len(found)
    assert {entry.name for entry in found.values() if not entry.shown} == {
        "surrogate_text",
        "knn_huang",
        "missforest_refit",
    }
    assert [entry.label for entry in published if not entry.in_table1] == ["GeF+", "GeF+(LSPN)", "LearnSPN"]
    assert [entry.label for entry in published if entry.in_figure2] == [
        entry.label for entry in published if entry.in_table1 and entry.name != "knn"
    ]  # the gains of Figure 2 are over KNN


# ------------------------------------------------------------------------------------------- mechanisms and metrics


def test_a_mechanism():
    content = {"label": "at random", "class": "my.module.AtRandom", "parameters": {"strength": 2}}
    found = read_entries(MechanismEntry, {"mar": content})
    assert found == {"mar": MechanismEntry("mar", "at random", "my.module.AtRandom", {"strength": 2}, paper=False)}


def test_a_metric_in_percent():
    entry = MetricEntry("accuracy", "Accuracy", "my.module.accuracy", unit="%", better="higher")
    assert (entry.scale, entry.sign, entry.title) == (100, 1, "Accuracy (%)")


def test_a_metric_with_another_unit():
    entry = MetricEntry("log_loss", "Log-loss", "my.module.log_loss", unit="nats", better="lower")
    assert (entry.scale, entry.sign, entry.title) == (1, -1, "Log-loss (nats)")


def test_a_metric_without_a_unit():
    content = {"label": "Brier score", "function": "my.module.brier", "better": "lower"}
    entry = read_entries(MetricEntry, {"brier": content})["brier"]
    assert (entry.scale, entry.sign, entry.title, entry.decimals) == (1, -1, "Brier score", 2)


def test_a_view_selects_rows_of_long_tables():
    mechanism = MechanismEntry("mcar", "completely at random", "a.B")
    view = View(mechanism, MetricEntry("brier", "Brier score", "a.b"), "mcar/brier/")
    assert view.keys == {"mechanism": "mcar", "metric": "brier"}


@pytest.mark.parametrize(
    ("kind", "entry", "reason"),
    [
        ("methods", {"label": "X", "clas": "a.B"}, r"unknown key 'clas' in 'x' \(did you mean 'class'\?\)"),
        ("methods", {"label": "X", "class": "B"}, "'x.class' does not fit"),
        ("methods", {"label": "X", "class": "a.B", "paper": {"place": 1}}, "the key 'columns' is missing in 'x.paper'"),
        ("methods", {"label": "X", "class": "a.B", "seconds": 0}, "'x.seconds' does not fit"),
        ("methods", {"label": "X", "class": "a.B", "colour": "blu"}, r"must be one of .* \(did you mean 'blue'\?\)"),
        ("mechanisms", {"label": "X"}, "the key 'class' is missing in 'x'"),
        ("mechanisms", {"label": "X", "class": "a.B", "rate": 1}, "unknown key 'rate' in 'x'"),
        ("metrics", {"label": "X", "function": "a.b"}, "the key 'better' is missing in 'x'"),
        ("metrics", {"label": "X", "function": "a.b", "better": "more"}, "must be one of 'higher', 'lower'"),
        ("metrics", {"label": "X", "function": "b", "better": "lower"}, "'x.function' does not fit"),
    ],
)
def test_mistakes_name_the_key_and_the_file(root, kind, entry, reason):
    schema = read_yaml(root / f"workflow/schemas/{kind}.schema.yaml")
    with pytest.raises(JointsError, match=rf"^my\.yaml: .*{reason}"):
        validate({"x": entry}, schema, "my.yaml")


@pytest.mark.parametrize("kind", ["methods", "mechanisms", "metrics"])
def test_keys_are_fit_for_files(root, kind):
    schema = read_yaml(root / f"workflow/schemas/{kind}.schema.yaml")
    entry = next(iter(read_yaml(root / f"config/{kind}.yaml").values()))
    validate({"good_1": entry}, schema, "my.yaml")
    with pytest.raises(JointsError, match=r"^my\.yaml: 'Bad' cannot be a key: .*lower-case letters"):
        validate({"Bad": entry}, schema, "my.yaml")


# ----------------------------------------------------------------------------------------- from a name to an object


def test_an_unknown_name():
    found = read_entries(MethodEntry, CATALOGUE)
    check_named(["gef", "gefp"], found, "methods", "my.yaml", "methods.yaml")
    with pytest.raises(
        JointsError, match=r"^my\.yaml: 'methods' has 'gepf', which is not in methods\.yaml \(did you mean 'gef'\?\)"
    ):
        check_named(["gef", "gepf"], found, "methods", "my.yaml", "methods.yaml")


def test_classes_and_functions_are_found_by_their_full_names():
    assert find("joints.study.metrics.accuracy") is accuracy
    assert isinstance(make("joints.study.methods.mean.MeanImputation", {}), MeanImputation)


@pytest.mark.parametrize("name", ["no_such_module.metric", "joints.study.metrics.acuracy"])
def test_names_that_are_not_there(name):
    with pytest.raises(JointsError, match=rf"^{name} cannot be imported: "):
        find(name)
    with pytest.raises(JointsError, match=rf"^{name} cannot be imported: "):
        make(name, {})


@pytest.mark.parametrize(
    ("parameters", "reason"),
    [
        ({"leafs": "lspn"}, "unexpected keyword argument 'leafs'"),
        ({"leaves": "lpsn"}, "Got 'lpsn' instead"),
    ],
)
def test_parameters_that_a_class_does_not_take(parameters, reason):
    with pytest.raises(JointsError) as caught:
        make("joints.study.methods.gef.GenerativeForest", parameters)
    start = f"joints.study.methods.gef.GenerativeForest cannot be made with the parameters {parameters}: "
    assert str(caught.value).startswith(start) and reason in str(caught.value)
