"""Numbers of a run for README.md and REPRODUCTION.md: ``python -m joints.render.markdown results/reference README.md``.

A document has the places as comments, ``<!-- table1 -->`` and ``<!-- end of table1 -->``; what stands between them is
made from the run's files, so no number there is typed by hand.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from joints import summarise
from joints.errors import JointsError
from joints.files import write_text
from joints.render.tables import ORDER

LABELS = {
    "surrogate": "Surrogate",
    "friedman": "Friedman",
    "mean": "Mean",
    "knn": "KNN",
    "missforest": "MissForest",
    "gef": "GeF",
    "gef_lspn": "GeF(LSPN)",
    "gefp": "GeF⁺",
    "gefp_lspn": "GeF⁺(LSPN)",
    "learnspn": "LearnSPN",
    "surrogate_text": "Surrogate (text)",
    "knn_huang": "KNN (Huang)",
}


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table in Markdown, numbers to the right.

    >>> print(table(["", "GeF"], [["bank", "90.8"]]))
    | | GeF |
    |---|---:|
    | bank | 90.8 |
    """
    lines = [f"| {' | '.join(header)} |".replace("|  |", "| |"), "|---" + "|---:" * (len(header) - 1) + "|"]
    return "\n".join([*lines, *(f"| {' | '.join(row)} |" for row in rows)])


def side_by_side(folder: Path) -> str:
    """Table 1, ours and the paper's in brackets; bold where they are apart."""
    cells = pd.read_csv(folder / "agreement.csv")
    rows = []
    for dataset, group in cells.groupby("dataset", sort=False):
        at = group.set_index("method")
        row = [str(dataset)]
        for method in ORDER:
            cell = at.loc[method]
            text = f"{cell['ours']:.1f} ({cell['paper']:.1f})"
            row.append(f"**{text}**" if cell["verdict"] != "within" else text)
        rows.append(row)
    return table(["", *(LABELS[method] for method in ORDER)], rows)


def sentence(folder: Path) -> str:
    """The agreement in one line."""
    return summarise.agreement_sentence(pd.read_csv(folder / "agreement.csv")) + "."


def by_method(folder: Path) -> str:
    """How each column of Table 1 agrees."""
    cells = pd.read_csv(folder / "agreement.csv")
    rows = []
    for method in ORDER:
        of = cells[cells["method"] == method]
        rows.append(
            [LABELS[method], f"{(of['verdict'] == 'within').sum()} of {len(of)}", f"{of['difference'].mean():+.2f}",
             f"{of['difference'].abs().median():.2f}", f"{of['z'].abs().max():.1f}"]
        )  # fmt: skip
    return table(["", "within the intervals", "mean difference", "median absolute difference", "largest z"], rows)


def outside(folder: Path) -> str:
    """The cells that are not within the intervals."""
    cells = pd.read_csv(folder / "agreement.csv")
    rows = [
        [row["dataset"], LABELS[row["method"]], f"{row['ours']:.2f} ± {row['ours_interval']:.2f}",
         f"{row['paper']:.2f} ± {row['paper_interval']:.2f}", f"{row['difference']:+.2f}", f"{row['z']:+.1f}"]
        for row in cells[cells["verdict"] != "within"].to_dict("records")
    ]  # fmt: skip
    return table(["dataset", "method", "ours", "paper", "difference", "z"], rows) if rows else "There are none."


def gains_over(folder: Path, rival: str, methods: Sequence[str]) -> str:
    """Average gain of methods over a rival at every rate, over the datasets, with 95 % intervals."""
    found = summarise.gains(pd.read_csv(folder / "means.csv"), rival)
    rates = sorted(found["rate"].unique())
    by_method = {method: rows.set_index("rate").loc[rates] for method, rows in found.groupby("method")}
    rows = [
        [
            LABELS[m],
            *(f"{g:+.1f} ± {i:.1f}" for g, i in zip(by_method[m]["gain"], by_method[m]["interval"], strict=True)),
        ]
        for m in methods
    ]
    return table([f"over {LABELS[rival]}", *(f"{100 * rate:g} %" for rate in rates)], rows)


def gains(folder: Path) -> str:
    """Figure 2 as numbers, with the readings of the text besides the published ones."""
    methods = ["surrogate", "surrogate_text", "friedman", "mean", "missforest", "knn_huang", "learnspn",
               "gef", "gef_lspn", "gefp", "gefp_lspn"]  # fmt: skip
    return gains_over(folder, "knn", methods)


def gains_text(folder: Path) -> str:
    """The same over KNN and surrogate splits as the text describes them."""
    methods = ["gef", "gef_lspn", "gefp", "gefp_lspn"]
    rivals = ["knn_huang", "surrogate_text"]
    return "\n\n".join(gains_over(folder, rival, methods) for rival in rivals)


def tally(folder: Path) -> str:
    """Wins, ties and losses against KNN imputation."""
    counts = pd.read_csv(folder / "tally.csv").set_index(["method", "rate"])
    methods = [method for method in LABELS if method in counts.index.get_level_values("method")]
    rates = sorted(counts.index.get_level_values("rate").unique())
    rows = [
        [LABELS[method], *("{wins}/{ties}/{losses}".format(**counts.loc[(method, rate)].to_dict()) for rate in rates)]
        for method in methods
    ]
    return table(["wins/ties/losses", *(f"{100 * rate:g} %" for rate in rates)], rows)


def repetitions(folder: Path) -> str:
    """Datasets and methods with fewer repetitions than most."""
    means = pd.read_csv(folder / "means.csv").drop_duplicates(["dataset", "method"])
    usual = int(means["repetitions"].mode().iloc[0])
    fewer = means[means["repetitions"] != usual]
    labels = pd.read_csv(folder / "datasets.csv").set_index("dataset")["label"]
    methods = [method for method in LABELS if method in set(fewer["method"])]
    counts = means.pivot(index="dataset", columns="method", values="repetitions")
    rows = [
        [labels[dataset], *(str(counts.loc[dataset, method]) for method in methods)]
        for dataset in fewer["dataset"].unique()
    ]
    return table(["repetitions of 5 folds", *(LABELS[method] for method in methods)], rows)


def seconds(folder: Path) -> str:
    """Core-seconds of a fold, all rates together."""
    found = json.loads((folder / "provenance.json").read_text())["seconds"]
    counts = pd.read_csv(folder / "means.csv").drop_duplicates(["dataset", "method"]).set_index(["dataset", "method"])
    labels = pd.read_csv(folder / "datasets.csv").set_index("dataset")["label"]
    methods = ["surrogate", "friedman", "mean", "knn", "missforest", "learnspn", "gef", "gef_lspn"]
    rows = []
    for dataset, times in found.items():
        row = [labels[dataset]]
        for method in methods:
            n = counts.loc[(dataset, method)]
            row.append(f"{(times[method]['fit'] + times[method]['predict']) / (n['repetitions'] * n['folds']):.1f}")
        rows.append(row)
    return table(["seconds a fold", *(LABELS[method] for method in methods)], rows)


def ablation(folder: Path) -> str:
    """What other settings do at 30 % missing: difference to the published setting, in points."""
    cells = pd.read_csv(folder / "ablation.csv")
    cells = cells[cells["rate"] == 0.3]
    labels = pd.read_csv(folder / "datasets.csv").set_index("dataset")["label"]
    datasets = list(cells["dataset"].unique())
    rows = []
    for (label, method), group in cells.groupby(["label", "method"], sort=False):
        at = group.set_index("dataset")
        row = [f"{LABELS[str(method)]}: {label}"]
        for dataset in datasets:
            if dataset not in at.index:
                row.append("")
                continue
            difference, interval = at.loc[dataset, "difference"], at.loc[dataset, "interval"]
            text = f"{difference:+.1f} ± {interval:.1f}"
            row.append(f"**{text}**" if abs(difference) > interval else text)
        rows.append(row)
    return table(["", *(labels[dataset] for dataset in datasets)], rows)


BLOCKS: Mapping[str, Callable[[Path], str]] = {
    "table1": side_by_side,
    "agreement": sentence,
    "columns": by_method,
    "outside": outside,
    "gains": gains,
    "gains over the text's methods": gains_text,
    "tally": tally,
    "repetitions": repetitions,
    "seconds": seconds,
    "ablation": ablation,
}


def fill(text: str, folder: Path) -> str:
    """A document with all its places filled from a run's files."""

    def block(match: re.Match[str]) -> str:
        name = match[1]
        if name not in BLOCKS:
            raise JointsError(f"there is nothing to fill in for '<!-- {name} -->': known are {', '.join(BLOCKS)}")
        return f"<!-- {name} -->\n{BLOCKS[name](folder)}\n<!-- end of {name} -->"

    return re.sub(r"<!-- ([^>]*?) -->\n(?:.*?\n)?<!-- end of \1 -->", block, text, flags=re.DOTALL)


def main(arguments: Sequence[str]) -> Any:
    """Fill documents from the run in the folder that is named first."""
    folder, *documents = map(Path, arguments)
    for document in documents:
        write_text(document, fill(document.read_text(encoding="utf-8"), folder))


if __name__ == "__main__":
    main(sys.argv[1:])
