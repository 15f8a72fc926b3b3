"""The tables of MODERN.md, as text for `joints.render.documents`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial

import pandas as pd

from joints.render import tables
from joints.render.tables import Cell, Table, gain_text
from joints.study.pairs import EQUIVALENCE
from joints.study.plan import Plan
from joints.study.summarise import at, half_width

ReadTable = Callable[[str], pd.DataFrame]
OWN_FAMILIES = {"generative forest", "circuit"}


def _markdown(header: Sequence[str], rows: Sequence[Sequence[str]], left: Sequence[int] = ()) -> str:
    """A table of strings; the columns `left`, counted from 0, are words."""
    return tables.to_markdown(Table(header, [[Cell(text) for text in row] for row in rows], words=left))


def gains_over_imputation(plan: Plan, read: ReadTable) -> str:
    """Gain in accuracy over the best imputation at the rate of Table 1, by mechanism."""
    found = at(read("gains_over_best"), metric="accuracy", rate=plan.config["table_rate"])
    names = [name for name in plan.mechanism_names if name in set(found["mechanism"])]
    best = found.drop_duplicates("mechanism").set_index("mechanism")["best"]
    cells = {
        (row["method"], row["mechanism"]): gain_text(row["gain"], row["interval"]) for row in found.to_dict("records")
    }
    rows = [["best imputation", *(plan.labels[best[name]] for name in names)]]
    for entry in plan.shown:
        if entry.name in set(found["method"]):
            rows.append([entry.label, *(cells[entry.name, name] for name in names)])
    return _markdown(["points", *(plan.mechanisms[name].label for name in names)], rows)


def gains_by_rate(plan: Plan, read: ReadTable) -> str:
    """Gain in accuracy over the best imputation, completely at random, by rate."""
    found = at(read("gains_over_best"), metric="accuracy", mechanism=plan.mechanism_names[0])
    rates = sorted(found["rate"].unique())
    best = found.drop_duplicates("rate").set_index("rate")["best"]
    cells = {(row["method"], row["rate"]): gain_text(row["gain"], row["interval"]) for row in found.to_dict("records")}
    rows = [["best imputation", *(plan.labels[best[rate]] for rate in rates)]]
    for entry in plan.shown:
        if entry.name in set(found["method"]):
            rows.append([entry.label, *(cells[entry.name, rate] for rate in rates)])
    return _markdown(["points", *(f"{100 * rate:g} %" for rate in rates)], rows)


def best_of_all(plan: Plan, read: ReadTable) -> str:
    """The method with the best average accuracy by mechanism and rate, and how far the next best two are behind."""
    found = at(read("means"), metric="accuracy")
    rates = sorted(found["rate"].unique())
    rows = []
    for name in plan.mechanism_names:
        row = [plan.mechanisms[name].label]
        for rate in rates:
            means = at(found, mechanism=name, rate=rate).groupby("method")["mean"].mean().sort_values(ascending=False)
            next_best = zip(means.index[1:3], means.iloc[1:3], strict=True)
            behind = [f"{plan.labels[method]} −{means.iloc[0] - mean:.1f}" for method, mean in next_best]
            row.append(f"**{plan.labels[means.index[0]]}** ({', '.join(behind)})")
        rows.append(row)
    columns = range(1, len(rates) + 1)
    return _markdown(["best on average", *(f"{100 * rate:g} %" for rate in rates)], rows, left=columns)


def all_metrics(plan: Plan, read: ReadTable) -> str:
    """The average of every metric over the datasets, completely at random at the rate of Table 1."""
    found = at(read("means"), mechanism=plan.mechanism_names[0], rate=plan.config["table_rate"])
    means = found.groupby(["method", "metric"])["mean"].mean()
    metrics = [entry for entry in plan.all_metrics if entry.name in set(found["metric"])]
    rows = [
        [entry.label, *(f"{means[entry.name, metric.name]:.{metric.decimals}f}" for metric in metrics)]
        for entry in plan.shown
        if entry.name in set(found["method"])
    ]
    names = [f"{metric.label} ({metric.unit})" if metric.unit else metric.label for metric in metrics]
    return _markdown(["average", *names], rows)


def average_ranks(plan: Plan, read: ReadTable) -> str:
    """Average ranks by accuracy at the rate of Table 1, with Friedman's test and Nemenyi's critical difference."""
    found = at(read("ranks"), metric="accuracy", rate=plan.config["table_rate"])
    names = [name for name in plan.mechanism_names if name in set(found["mechanism"])]
    cells = found.set_index(["method", "mechanism"])["rank"]
    shown = [entry for entry in plan.shown if entry.name in set(found["method"])]
    rows = [[entry.label, *(f"{cells[entry.name, name]:.1f}" for name in names)] for entry in shown]
    tests = {row["mechanism"]: row for row in found.to_dict("records")}
    rows.append(["critical difference", *(f"{tests[name]['critical_difference']:.1f}" for name in names)])
    rows.append(["p of Friedman's test", *(f"{tests[name]['p_value']:.2g}" for name in names)])
    return _markdown(["rank", *(plan.mechanisms[name].label for name in names)], rows)


def against_gef(plan: Plan, read: ReadTable, method: str = "gef") -> str:
    """Every method against GeF, completely at random at the rate of Table 1: losses of GeF first."""
    found = at(read("pairs"), mechanism=plan.mechanism_names[0], metric="accuracy", rate=plan.config["table_rate"])
    turned = found.rename(columns={"first": "second", "second": "first", "better": "worse", "worse": "better"})
    both = pd.concat([found, turned.assign(gain=-turned["gain"])])
    own = both[both["second"] == method].sort_values("gain", ascending=False, kind="stable")
    rows = [
        [
            plan.labels[row["first"]],
            f"{row['gain']:+.2f}",
            f"{row['p_holm']:.2g}",
            *(f"{100 * row[name]:.0f} %" for name in ("better", "equal", "worse")),
        ]
        for row in own.to_dict("records")
    ]
    label = plan.labels[method]
    return _markdown([f"against {label}", "points", "Wilcoxon's p (Holm)", "better", "equal", "worse"], rows)


def ahead_of_auto(plan: Plan, read: ReadTable, own: str = "gef_auto") -> str:
    """How often the best rival is ahead of the forest that sets itself, completely at random, and where by how much."""
    found = at(read("means"), metric="accuracy", mechanism=plan.mechanism_names[0])
    rivals = [entry.name for entry in plan.shown if entry.family not in OWN_FAMILIES]
    rows = []
    for rate in sorted(found["rate"].unique()):
        means = at(found, rate=rate).pivot(index="dataset", columns="method", values="mean")
        others = means[[name for name in rivals if name in means]]
        best = {str(name): str(method) for name, method in others.idxmax(axis=1).items()}
        gaps = (others.max(axis=1) - means[own]).sort_values(ascending=False)
        ahead = [
            f"{plan.label(str(name))} {gap:+.1f} ({plan.labels[best[str(name)]]})"
            for name, gap in gaps.items()
            if gap >= EQUIVALENCE
        ]
        rows.append([f"{100 * rate:g} %", f"{(gaps > 0).sum()} of {len(gaps)}", ", ".join(ahead) or "none"])
    return _markdown(["missing", "rival ahead", f"by {EQUIVALENCE:g} points or more"], rows, left=(2,))


def gains_elsewhere(plan: Plan, read: ReadTable, own: str = "gef_auto") -> str:
    """Gains of the forest that sets itself on the datasets that it was not developed on, completely at random."""
    found = at(read("means"), metric="accuracy", mechanism=plan.mechanism_names[0])
    found = found[~found["dataset"].isin(plan.config["developed_on"])]
    means = found.pivot(index=["rate", "dataset"], columns="method", values="mean")
    gains = (-means.sub(means[own], axis=0)).groupby("rate")
    rates = sorted(found["rate"].unique())
    rows = [
        [entry.label, *(gain_text(each.mean(), half_width(each.to_numpy())) for _, each in gains[entry.name])]
        for entry in plan.shown
        if entry.name in means and entry.name != own
    ]
    return _markdown([f"{plan.labels[own]} over", *(f"{100 * rate:g} %" for rate in rates)], rows)


def seconds_per_fold(plan: Plan, read: ReadTable) -> str:
    """CPU seconds per fold, means over the datasets."""
    found = read("costs").groupby("model")[["forest_seconds", "fit_seconds", "predict_seconds"]].mean()
    rows = [
        [entry.label, *(f"{value:.2f}" for value in found.loc[entry.name])]
        for entry in plan.shown
        if entry.name in found.index
    ]
    return _markdown(["seconds per fold", "forest", "fitting", "one test fold"], rows)


MODERN_BLOCKS: Mapping[str, Callable[[Plan, ReadTable], str]] = {
    "gains over the best imputation": gains_over_imputation,
    "gains by rate": gains_by_rate,
    "best of all": best_of_all,
    "all metrics": all_metrics,
    "modern ranks": average_ranks,
    "against GeF": against_gef,
    "against GeF (auto)": partial(against_gef, method="gef_auto"),
    "ahead of GeF (auto)": ahead_of_auto,
    "GeF (auto) on other datasets": gains_elsewhere,
    "modern costs": seconds_per_fold,
}
