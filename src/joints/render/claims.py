"""Every empirical statement of the paper as a row: what it says, where, what a run measured, and whether it holds.

Verdicts follow from the numbers by rules that are written here, before the numbers are known: "almost all" is at least
nine tenths, "about half" is between a third and two thirds, "better" and "worse" are intervals over the datasets that
exclude zero, and "similar" is a difference of less than one point.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd

from joints.study.summarise import at

if TYPE_CHECKING:
    from joints.render.documents import Run

HOLDS, PARTLY, NOT, UNTESTED = "holds", "holds partly", "does not hold", "not testable here"
RIVALS = ("surrogate", "friedman", "mean", "knn", "missforest")
FORESTS = ("gef", "gef_lspn")


class Finding(NamedTuple):
    """What a run says about a statement."""

    measured: str
    verdict: str
    why: str = ""


class Claim(NamedTuple):
    """A statement of the paper in our own words."""

    statement: str
    place: str
    check: Callable[[Run], Finding]


def rows_of_claims(run: Run) -> list[list[str]]:
    """The table of claims: statement, place, what was measured, verdict, why."""
    rows = []
    for claim in CLAIMS:
        finding = claim.check(run)
        rows.append([claim.statement, claim.place, finding.measured, f"**{finding.verdict}**", finding.why])
    return rows


def _accuracy(run: Run, rate: float) -> pd.DataFrame:
    """Datasets x methods at a rate."""
    return at(run.table("means"), rate=rate).pivot(index="dataset", columns="method", values="mean")


def _gain(run: Run, method: str, rates: Sequence[float]) -> pd.DataFrame:
    """Gains of a method over KNN imputation at some rates."""
    found = run.table("gains").query("over == 'knn' and method == @method")
    return found[found["rate"].round(6).isin(np.round(rates, 6))].sort_values("rate")


def _signed(gains: pd.DataFrame) -> str:
    """Gains with intervals, and the rates in front.

    >>> _signed(pd.DataFrame({"rate": [0.3], "gain": [-0.04], "interval": [1.26]}))
    '30 %: -0.0 ± 1.3'
    """
    rows = zip(gains["rate"], gains["gain"], gains["interval"], strict=True)
    return ", ".join(f"{100 * rate:g} %: {gain:+.1f} ± {interval:.1f}" for rate, gain, interval in rows)


def _wins(run: Run) -> Finding:
    found = _accuracy(run, run.plan.config["table_rate"])
    ahead = found[list(FORESTS)].max(axis=1) > found[list(RIVALS)].max(axis=1)
    paper = pd.read_csv("config/paper_table1.csv")
    theirs = paper[["GeF", "GeF(LSPN)"]].max(axis=1) > paper[["Mean", "Surr", "Friedman", "KNN", "MissForest"]].max(
        axis=1
    )
    share = ahead.mean()
    losses = ", ".join(run.datasets[name] for name in ahead.index[~ahead])
    verdict = HOLDS if share >= 0.9 else PARTLY if share > 0.5 else NOT
    text = f"GeF or GeF(LSPN) is first on {ahead.sum()} of {len(ahead)} datasets ({theirs.sum()} in the paper's table)"
    return Finding(text, verdict, f"An imputation is first on {losses}." if losses else "")


def _expressive(run: Run) -> Finding:
    found = _accuracy(run, run.plan.config["table_rate"])
    better = (found["gef_lspn"] > found["gef"]).mean()
    verdict = HOLDS if 1 / 3 <= better <= 2 / 3 else PARTLY if better > 2 / 3 else NOT
    return Finding(f"GeF(LSPN) is ahead of GeF on {round(better * len(found))} of {len(found)} datasets", verdict)


def _early(run: Run) -> Finding:
    found = {name: _gain(run, name, [0.3, 0.5, 0.7]) for name in ("surrogate", "friedman")}
    worse = [(part["gain"] + part["interval"] < 0).all() for part in found.values()]
    verdict = HOLDS if all(worse) else PARTLY if any(worse) else NOT
    texts = [f"{run.labels[name]} against KNN imputation, {_signed(part)}" for name, part in found.items()]
    return Finding("; ".join(texts), verdict, "The text's own surrogate splits do far better than the published ones.")


def _three_percent(run: Run) -> Finding:
    found = _gain(run, "gef", [0.1, 0.3, 0.5, 0.7, 0.9])
    paper = pd.read_csv("config/paper_table1.csv")
    table = (paper["GeF"] - paper["KNN"]).mean()
    mean = _gain(run, "gef", [rate / 10 for rate in range(1, 10)])["gain"].mean()
    ahead = (found["gain"] - found["interval"] > 0).any()
    verdict = HOLDS if mean > 3 else PARTLY if ahead else NOT
    text = f"GeF against KNN imputation, {_signed(found)}; {mean:+.1f} on average over nine rates"
    return Finding(text, verdict, f"The paper's own Table 1 has {table:+.2f} at 30 %.")


def _plus(run: Run) -> Finding:
    rates = [0.1, 0.3, 0.5, 0.7, 0.9]
    one, plus = _gain(run, "gef", rates), _gain(run, "gefp", rates)
    gaps = plus["gain"].to_numpy() - one["gain"].to_numpy()
    similar = bool((gaps < 0).all() and (np.abs(gaps) < 1).all())
    better = bool((plus["gain"] - plus["interval"] > 0).all())
    verdict = HOLDS if similar and better else PARTLY if similar or better else NOT
    gap = f"GeF+ minus GeF from {gaps.min():+.1f} to {gaps.max():+.1f} points"
    why = "" if better else "It is close to GeF, but not clearly better than KNN imputation."
    return Finding(f"{gap}; GeF+ against KNN imputation, {_signed(plus)}", verdict, why)


def _wine(run: Run) -> Finding:
    found = at(run.read("outliers_wine"), study="wine_text").pivot(index="model", columns="method", values="auc")
    text = "; ".join(
        f"{run.plan.label(str(row.Index))}: AUC {row.gefp_lspn:.3f}, KDE {row.kde:.3f}" for row in found.itertuples()
    )
    return Finding(text, HOLDS if (found["gefp_lspn"] > found["kde"] - 0.01).all() else NOT)


def _digits(run: Run) -> Finding:
    found = run.read("outliers_images").pivot(index="outliers", columns="method", values="auc")
    better = found["gefp"] > found[["kde", "entropy"]].max(axis=1)
    text = "; ".join(
        f"{row.Index}: AUC {row.gefp:.4f}, KDE {row.kde:.4f}, entropy {row.entropy:.4f}" for row in found.itertuples()
    )
    verdict = HOLDS if better.all() else PARTLY if better.any() else NOT
    return Finding(text, verdict, "" if "SVHN" in found.index else "SVHN could not be fetched for this run.")


def _foreign(run: Run) -> Finding:
    found = at(run.read("outliers_images"), method="gefp").set_index("outliers")["auc"]
    if "SVHN" not in found.index:
        return Finding(
            "only one of the two foreign sets is at hand", UNTESTED, "SVHN could not be fetched for this run."
        )
    gap = abs(found["SVHN"] - found["Semeion"])
    return Finding(f"the AUC of both differs by {gap:.4f}", HOLDS if gap > 0 else NOT)


def _effect(run: Run, variants: Sequence[str], methods: Sequence[str]) -> pd.DataFrame:
    found = run.table("ablation")
    return found[found["variant"].isin(variants) & found["method"].isin(methods)]


def _more_trees(run: Run) -> Finding:
    return _small(_effect(run, ["trees_300"], ["mean", "gef"]), "300 trees instead of 100 change accuracy by", 1.0)


def _thirty_rows(run: Run) -> Finding:
    return _small(_effect(run, ["rows_10"], FORESTS), "LearnSPN from 10 rows instead of 30 changes accuracy by", 1.0)


def _small(found: pd.DataFrame, what: str, limit: float) -> Finding:
    """Whether differences are small: on average, and nowhere above a limit beyond their interval."""
    if found.empty:
        return Finding("not measured", UNTESTED)
    text = f"{what} {found['difference'].mean():+.2f} points on average, from {found['difference'].min():+.2f} to "
    text += f"{found['difference'].max():+.2f} ({found['dataset'].nunique()} datasets)"
    beyond = (found["difference"].abs() - found["interval"] > limit).any()
    return Finding(text, PARTLY if beyond else HOLDS)


def _curve(run: Run, statement: str) -> pd.DataFrame:
    """The average of a simulation: x by method."""
    found = at(run.read("theory"), statement=statement)
    return found.groupby(["x", "method"])["value"].mean().unstack()


def _same_cost(run: Run) -> Finding:
    found = _curve(run, "complexity")
    ratio = found["complete"] / found["forest"]
    text = f"complete rows take {ratio.median():.1f} times the forest's seconds, whatever its size"
    return Finding(text, HOLDS if ratio.max() < 3 else NOT)


def _linear(run: Run) -> Finding:
    found = at(run.read("theory"), statement="complexity", method="incomplete")
    exponent = np.polyfit(np.log(found["x"]), np.log(found["value"]), 1)[0]
    text = f"with half of the features missing, seconds grow with the {exponent:.2f}th power of the leaves"
    return Finding(text, HOLDS if exponent < 1.1 else NOT)


def _arbitrarily_bad(run: Run) -> Finding:
    found = _curve(run, "imputation").sort_index(ascending=False)
    first, last = found.iloc[0], found.iloc[-1]
    widths = f"from ε = {found.index[0]:g} to {found.index[-1]:g}"
    text = f"{widths} its error goes from {first['knn']:.2f} to {last['knn']:.2f}, the best possible one from "
    text += f"{first['best possible']:.2f} to {last['best possible']:.2f}, that of GeF to {last['gef']:.2f}"
    return Finding(text, HOLDS if last["knn"] > 0.9 and last["best possible"] < 0.1 else PARTLY)


def _consistent(run: Run) -> Finding:
    found = _curve(run, "consistency")
    first, last = found.iloc[0], found.iloc[-1]
    patterns = ["first", "second", "both"]
    text = f"from {found.index[0]:,.0f} to {found.index[-1]:,.0f} rows the distance of densities goes from "
    text += f"{first['l1']:.2f} to {last['l1']:.2f}, the error above the best possible one from "
    text += f"{first[patterns].max():.3f} to {last[patterns].max():.3f} at most, whichever features are observed"
    falls = last["l1"] < first["l1"] / 2 and (last[patterns] < first[patterns] / 2).all()
    return Finding(text, HOLDS if falls else PARTLY)


CLAIMS = [
    Claim("Generative Forests are ahead of the other methods on almost all datasets", "section 5, Table 1", _wins),
    Claim("More expressive leaves pay on about half of the datasets", "section 5, Table 1", _expressive),
    Claim("Earlier built-in methods (Friedman's, surrogate splits) do poorly", "section 5, Figure 2", _early),
    Claim("GeF is on average more than 3 % more accurate than KNN imputation", "section 5, Figure 2", _three_percent),
    Claim("GeF+ is similar to GeF, slightly inferior, and clearly better than KNN imputation", "section 5", _plus),
    Claim("GeF+(LSPN) tells wine from wine as well as a kernel density", "section 5, Figure 3", _wine),
    Claim(
        "GeF+ finds foreign digits better than a kernel density and the class entropy", "section 5, Figure 4", _digits
    ),
    Claim("It has slightly different densities for the two foreign sets", "section 5, Figure 4", _foreign),
    Claim("More than 100 trees gain little", "section 5", _more_trees),
    Claim("LearnSPN only in leaves above 30 rows loses little", "appendix C", _thirty_rows),
    Claim("Complete rows have the forest's own complexity", "appendix B", _same_cost),
    Claim("Marginals take time linear in the leaves", "appendix B", _linear),
    Claim("KNN imputation can be arbitrarily bad", "section 4, example", _arbitrarily_bad),
    Claim("Generative Trees are consistent whatever is missing", "section 4, Theorem 2", _consistent),
]
