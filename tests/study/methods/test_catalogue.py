"""The catalogue of methods: what entries may say."""

import pytest

from joints.errors import JointsError
from joints.study.methods import answers_of, check_methods, entries

CATALOGUE = {
    "gef": {"label": "GeF", "class": "joints.study.methods.gef.GenerativeForest", "answer": "average"},
    "gefp": {"label": "GeF+", "of": "gef", "answer": "mixture"},
    "mean": {"label": "Mean", "class": "joints.study.methods.mean.MeanImputation"},
}


def test_methods_share_a_model():
    found = entries(CATALOGUE, "methods.yaml")
    assert [found[name].model for name in found] == ["gef", "gef", "mean"]
    assert answers_of("gef", found) == {"gef": "average", "gefp": "mixture"}
    assert answers_of("mean", found) == {"mean": ""}
    assert found["mean"].module == "joints.study.methods.mean"


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
    with pytest.raises(JointsError, match=f"methods.yaml: {reason}"):
        entries({**CATALOGUE, "x": entry}, "methods.yaml")


def test_an_unknown_method():
    found = entries(CATALOGUE, "methods.yaml")
    check_methods(["gef", "gefp"], found, "my.yaml", "methods.yaml")
    with pytest.raises(JointsError, match=r"my.yaml: 'methods' has 'gepf', which is not in methods.yaml \(did you"):
        check_methods(["gepf"], found, "my.yaml", "methods.yaml")
