"""Verdicts about the paper's statements follow from a run's numbers, and change with them."""

from types import SimpleNamespace

import pandas as pd
import pytest

from joints.render import claims
from joints.render.claims import CLAIMS, HOLDS, NOT, PARTLY, UNTESTED, rows_of_claims

METHODS = ["surrogate", "friedman", "mean", "knn", "missforest", "gef", "gef_lspn", "gefp"]


class Finished:
    """A run whose tables are given."""

    def __init__(self, **tables):
        self.tables = tables
        self.labels = {name: name for name in METHODS}
        self.datasets = {f"d{i}": f"dataset {i}" for i in range(10)}
        self.plan = SimpleNamespace(config={"table_rate": 0.3}, label=lambda name: name)

    def read(self, name):
        return self.tables[name]

    table = read


def means(wins=10, lspn=5):
    """Ten datasets on which the forests are ahead of the others on some, and LearnSPN leaves on some."""
    rows = []
    for i in range(10):
        best = 90.0 if i < wins else 70.0
        values = dict.fromkeys(METHODS, 80.0) | {"gef": best, "gef_lspn": best + (0.5 if i < lspn else -0.5)}
        rows += [(f"d{i}", method, 0.3, value) for method, value in values.items()]
    return pd.DataFrame(rows, columns=["dataset", "method", "rate", "mean"])


def gains(interval=0.5, **of):
    rows = [("knn", m, rate / 10, of.get(m, 0.0), interval) for m in METHODS for rate in range(1, 10)]
    return pd.DataFrame(rows, columns=["over", "method", "rate", "gain", "interval"])


@pytest.mark.parametrize(("wins", "verdict"), [(10, HOLDS), (9, HOLDS), (6, PARTLY), (5, NOT)])
def test_almost_all_datasets(wins, verdict):
    finding = claims._wins(Finished(means=means(wins)))
    assert finding.verdict == verdict and f"first on {wins} of 10" in finding.measured
    assert ("dataset 9" in finding.why) == (wins < 10)


@pytest.mark.parametrize(("lspn", "verdict"), [(5, HOLDS), (9, PARTLY), (2, NOT)])
def test_about_half_of_the_datasets(lspn, verdict):
    assert claims._expressive(Finished(means=means(lspn=lspn))).verdict == verdict


@pytest.mark.parametrize(("gain", "verdict"), [(3.5, HOLDS), (0.8, PARTLY), (0.1, NOT)])
def test_more_than_three_percent(gain, verdict):
    assert claims._three_percent(Finished(gains=gains(gef=gain))).verdict == verdict


@pytest.mark.parametrize(
    ("of", "verdict"),
    [({"gef": 2, "gefp": 1.5}, HOLDS), ({"gef": 0.5, "gefp": 0.1}, PARTLY), ({"gef": 2, "gefp": -1}, NOT)],
)
def test_plus_is_slightly_inferior(of, verdict):
    assert claims._plus(Finished(gains=gains(**of))).verdict == verdict


def test_earlier_methods():
    assert claims._early(Finished(gains=gains(surrogate=-3, friedman=-2))).verdict == HOLDS
    assert claims._early(Finished(gains=gains(surrogate=-3, friedman=1))).verdict == PARTLY
    assert claims._early(Finished(gains=gains())).verdict == NOT


def test_outliers():
    def wine(auc):
        rows = [("wine_text", "red", "gefp_lspn", auc), ("wine_text", "red", "kde", 0.9)]
        return Finished(outliers_wine=pd.DataFrame(rows, columns=["study", "model", "method", "auc"]))

    assert claims._wine(wine(0.895)).verdict == HOLDS and claims._wine(wine(0.8)).verdict == NOT
    rows = [("Semeion", "gefp", 0.99), ("Semeion", "kde", 0.9), ("Semeion", "entropy", 0.8)]
    images = Finished(outliers_images=pd.DataFrame(rows, columns=["outliers", "method", "auc"]))
    assert claims._digits(images).verdict == HOLDS and "SVHN" in claims._digits(images).why
    assert claims._foreign(images).verdict == UNTESTED


def test_small_effects():
    effect = pd.DataFrame({"dataset": ["a", "b"], "difference": [0.2, -0.1], "interval": [0.1, 0.1]})
    assert claims._small(effect, "it changes by", 1.0).verdict == HOLDS
    assert claims._small(effect.assign(difference=[3, 0]), "it changes by", 1.0).verdict == PARTLY
    assert claims._small(effect[:0], "it changes by", 1.0).verdict == UNTESTED


def test_simulations():
    def theory(*rows):
        return Finished(theory=pd.DataFrame(rows, columns=["statement", "x", "method", "value"]))

    def example(error):
        others = [("imputation", x, name, x) for x in (0.5, 0.05) for name in ("best possible", "gef")]
        return theory(*others, ("imputation", 0.5, "knn", 0.5), ("imputation", 0.05, "knn", error))

    assert claims._arbitrarily_bad(example(0.95)).verdict == HOLDS
    assert claims._arbitrarily_bad(example(0.6)).verdict == PARTLY

    def trees(last):
        names = ("l1", "first", "second", "both")
        return theory(*[("consistency", n, name, v) for n, v in ((1e3, 0.4), (1e6, last)) for name in names])

    assert claims._consistent(trees(0.1)).verdict == HOLDS and claims._consistent(trees(0.3)).verdict == PARTLY

    def answers(power, ratio):
        rows = [("complexity", n, "incomplete", n**power) for n in (1e2, 1e3, 1e4)]
        return theory(*rows, ("complexity", 1e2, "forest", 1.0), ("complexity", 1e2, "complete", ratio))

    assert claims._linear(answers(0.9, 1)).verdict == HOLDS and claims._linear(answers(1.5, 1)).verdict == NOT
    assert claims._same_cost(answers(1, 1.2)).verdict == HOLDS and claims._same_cost(answers(1, 9)).verdict == NOT


def test_every_claim_has_its_place(monkeypatch):
    monkeypatch.setattr(
        claims, "CLAIMS", [claim._replace(check=lambda run: claims.Finding("m", HOLDS)) for claim in CLAIMS]
    )
    rows = rows_of_claims(Finished())
    assert len(rows) == 14 and all(place and statement for statement, place, *_ in rows)
