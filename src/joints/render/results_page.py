"""The page of a run: `results/<run>/index.html`, one file that opens without a server or a network.

The main message comes first, then curves in which the reader chooses dataset, metric, mechanism and methods, and the
tables of the study, which can be sorted.  `results_page.html` has the looks and the chart; this module fills it in.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from joints.render import tables
from joints.render.summary import agreement_page, view_tables
from joints.render.tables import Table, html_label, html_table
from joints.study.entries import MechanismEntry, MethodEntry, MetricEntry, View
from joints.study.outliers.signals import LABELS as OUTLIER_LABELS
from joints.study.summarise import agreement_sentence, at

TEMPLATE = Path(__file__).with_name("results_page.html")
# Okabe and Ito's colours: blues for Generative Forests, the others for the rest; a second round is dashed
BLUES = ["#0072B2", "#56B4E9"]
OTHERS = ["#D55E00", "#E69F00", "#009E73", "#CC79A7", "#5d6675", "#1c2330"]
LONG_NOTE = 400  # characters


class Study(NamedTuple):
    """What a run is about: its name, what it compares, and how."""

    run: str
    methods: Sequence[MethodEntry]  # those that it shows
    metrics: Sequence[MetricEntry]
    mechanisms: Sequence[MechanismEntry]
    reference: MethodEntry  # the method that the others are compared with
    rate: float  # of Table 1
    view: View  # of Table 1
    names: Mapping[str, str]  # labels of the datasets of the outlier studies
    protocol: Mapping[str, Any]


def results_page(
    study: Study,
    frames: Mapping[str, pd.DataFrame],
    figures: Mapping[str, str | Path],
    provenance: Mapping[str, Any],
    files: Sequence[tuple[str, str]] = (),
) -> str:
    """The page as text.

    Parameters
    ----------
    study : Study
    frames : mapping
        The run's tables `datasets`, `means`, `gains`, `agreement`, `ranks`, `tally` and `table1`, and those of its
        outlier studies as `outliers_<study>`.
    figures : mapping
        Outlier study -> its figure, a PNG file.
    provenance : mapping
        The content of the run's `provenance.json`.
    files : sequence of (address, description)
        Links to the other files of the run, relative to the page.
    """
    sections = {
        "table1": ("Table 1", _tables(study, frames)),
        "outliers": ("Outliers", _outliers(study, frames, figures)),
        "files": ("Files", _list([(_link(address), escape(text)) for address, text in files])),
        "provenance": ("Provenance", _provenance(provenance)),
    }
    shown = {name: content for name, content in sections.items() if content[1]}
    contents = {"curves": "Curves"} | {name: title for name, (title, _) in shown.items()}
    return _fill(
        title=f"Joints in Random Forests: run “{escape(study.run)}”",
        subtitle=_subtitle(study, frames),
        contents=" ".join(f'<a href="#{name}">{title}</a>' for name, title in contents.items()),
        agreement=_agreement(frames["agreement"]),
        gain_title=html_label(f"Gain over {study.reference.label} at {100 * study.rate:g} % missing"),
        gain_note=escape(_gain_note(study, frames)),
        sections="\n".join(f'<h2 id="{name}">{title}</h2>\n{text}' for name, (title, text) in shown.items()),
        data=json.dumps(_data(study, frames), separators=(",", ":"), allow_nan=False).replace("</", "<\\/"),
    )


def _fill(**parts: str) -> str:
    return re.sub(r"\[\[(\w+)\]\]", lambda mark: parts[mark[1]], TEMPLATE.read_text(encoding="utf-8"))


def _subtitle(study: Study, frames: Mapping[str, pd.DataFrame]) -> str:
    counts = f"{len(frames['datasets'])} datasets, {len(study.methods)} methods"
    protocol = study.protocol
    repeated = f"{protocol['repetitions']} × {protocol['folds']}-fold cross-validation, seed {protocol['seed']}"
    return f"The missing-value and outlier studies: {counts}, {repeated}."


def _agreement(agreement: pd.DataFrame) -> str:
    if agreement.empty:
        return "<h3>Agreement with the paper</h3><p>No cell of this run is in the paper's Table 1.</p>"
    within = (agreement["verdict"] == "within").sum()
    return (
        "<h3>Agreement with the paper</h3>"
        f'<p class="big">{within} <small>of {len(agreement)}</small></p>'
        f'<p class="note">{escape(agreement_sentence(agreement))}.</p>'
    )


def _gain_note(study: Study, frames: Mapping[str, pd.DataFrame]) -> str:
    metric = study.view.metric
    unit = "in points" if metric.unit == "%" else f"in {metric.unit}" if metric.unit else ""
    words = [f"{metric.label}, average and 95 % interval over {len(frames['datasets'])} datasets", unit]
    return ", ".join(filter(None, words)) + "; to the right of zero is better."


def _tables(study: Study, frames: Mapping[str, pd.DataFrame]) -> str:
    found = view_tables(frames, study.methods, study.reference.label, study.view, study.rate)
    parts = [_table(*found["table1"][::2]), '<p class="note">A click on a column sorts by it.</p>']
    folded = [found["ranks"], found["tally"]]
    if not frames["agreement"].empty:
        folded.insert(0, agreement_page(frames["agreement"], [entry for entry in study.methods if entry.in_table1]))
    for table, title, note in folded:
        parts.append(f"<details><summary>{html_label(title)}</summary>{_table(table, note)}</details>")
    return "\n".join([f"<p>{html_label(found['table1'][1])}</p>", *parts])


def _table(table: Table, note: str = "") -> str:
    return f'{_note(note)}<div class="scroll">{html_table(table, "sortable")}</div>'


def _note(text: str) -> str:
    """A note; of a long one only the first sentence is seen at once."""
    first, _, rest = text.partition(".  ") if len(text) > LONG_NOTE else (text, "", "")
    if not rest:
        return f'<p class="note">{html_label(text)}</p>' if text else ""
    folded = f'<details><summary>Repetitions and intervals</summary><p class="note">{html_label(rest)}</p></details>'
    return f'<p class="note">{html_label(first)}.</p>{folded}'


def _outliers(study: Study, frames: Mapping[str, pd.DataFrame], figures: Mapping[str, str | Path]) -> str:
    parts = []
    for name, path in figures.items():
        picture = base64.b64encode(Path(path).read_bytes()).decode()
        caption = f"Outliers, {name}: how a model's signal tells rows like its training data from foreign ones."
        image = f'<img alt="{caption}" src="data:image/png;base64,{picture}">'
        parts.append(f'<figure><div class="scroll">{image}</div><figcaption>{caption}</figcaption></figure>')
        found = tables.outlier_tables(frames[f"outliers_{name}"], OUTLIER_LABELS, study.names)
        numbers = "".join(_table(table) for table in found)
        note = "In percent; rows like the model's training data are the positives."
        parts.append(f'<details><summary>Numbers: {name}</summary><p class="note">{note}</p>{numbers}</details>')
    return "\n".join(parts)


def _link(address: str) -> str:
    return f'<a href="{escape(address)}">{escape(address.removeprefix("../../"))}</a>'


def _list(pairs: Sequence[tuple[str, str]]) -> str:
    return f"<dl>{''.join(f'<dt>{term}</dt><dd>{text}</dd>' for term, text in pairs)}</dl>" if pairs else ""


def _provenance(provenance: Mapping[str, Any]) -> str:
    software = [(escape(name), escape(value)) for name, value in provenance["software"].items() if value]
    data = Table(
        ["Dataset", "source", "rows", "SHA-256"],
        [
            [
                tables.Cell(text)
                for text in (name, of["source"], str(of["rows"]), str(of.get("table_sha256") or of.get("sha256", "")))
            ]
            for name, of in provenance["data"].items()
            if "source" in of
        ],
        words=[1, 3],
    )
    return f"{_list(software)}<details><summary>Where the data came from</summary>{_table(data)}</details>"


# ----------------------------------------------------------------------------------------------- what the chart reads


def _data(study: Study, frames: Mapping[str, pd.DataFrame]) -> dict[str, Any]:
    means, gains = frames["means"], at(frames["gains"], over=study.reference.name)
    metrics = [entry for entry in study.metrics if entry.name in set(means["metric"])]
    first = sorted(metrics, key=lambda entry: entry.name != study.view.metric.name)  # the one of Table 1 comes first
    views = [(mechanism, metric) for mechanism in study.mechanisms for metric in first]
    rates = sorted(means["rate"].unique().tolist())
    return {
        "reference": study.reference.name,
        "reference_label": study.reference.label,
        "rate": study.rate,
        "rates": rates,
        "methods": _styles(study),
        "metrics": [
            {"name": m.name, "label": m.label, "unit": m.unit, "decimals": m.decimals, "better": m.better}
            for m in first
        ],
        "mechanisms": [{"name": entry.name, "label": entry.label} for entry in study.mechanisms],
        "datasets": frames["datasets"]
        .rename(columns={"dataset": "name"})[["name", "label", "title", "n"]]
        .to_dict("records"),
        "means": {
            f"{mechanism.name}/{metric.name}": {
                dataset: _curves(rows, "mean", rates, metric)
                for dataset, rows in at(means, mechanism=mechanism.name, metric=metric.name).groupby(
                    "dataset", sort=False
                )
            }
            for mechanism, metric in views
        },
        "gains": {
            f"{mechanism.name}/{metric.name}": _curves(
                at(gains, mechanism=mechanism.name, metric=metric.name), "gain", rates, metric
            )
            for mechanism, metric in views
        },
    }


def _styles(study: Study) -> list[dict[str, Any]]:
    """Name, label, colour and dashes of every method; at first the chart shows those of Table 1."""
    styles, used = [], {True: 0, False: 0}
    for entry in study.methods:
        generative = entry.family == "generative forest"
        colours, k = (BLUES if generative else OTHERS), used[generative]
        used[generative] += 1
        dash = ["none", "6 4", "2 3"][min(k // len(colours), 2)]
        colour = colours[k % len(colours)]
        styles.append(
            {"name": entry.name, "label": entry.label, "colour": colour, "dash": dash, "first": entry.in_table1}
        )
    return styles


def _curves(rows: pd.DataFrame, value: str, rates: list[float], metric: MetricEntry) -> dict[str, Any]:
    """Method -> its values and the half-widths of their intervals, one for each rate; None where there is none."""
    digits, place = metric.decimals + 1, {rate: i for i, rate in enumerate(rates)}
    found: dict[str, list[list[float | None]]] = {}
    for method, rate, *numbers in rows[["method", "rate", value, "interval"]].itertuples(index=False):
        both = found.setdefault(method, [[None] * len(rates), [None] * len(rates)])
        for curve, number in zip(both, numbers, strict=True):
            curve[place[rate]] = None if pd.isna(number) else round(number, digits)
    return found
