"""Tables as LaTeX and HTML: the paper's rule, and that the files are well formed."""

import re
from html.parser import HTMLParser

import pandas as pd
import pytest

import study
from joints.render import tables
from joints.render.provenance import page, record, total_seconds
from joints.render.summary import agreement_page, summary, view_tables
from joints.study import statistics, summarise
from joints.study.entries import MethodEntry


@pytest.fixture(scope="module")
def frames():
    scores = study.scores()
    means = study.means_of(scores)
    cells = study.accuracies(means, rate=0.3)
    compared = statistics.comparisons(scores, study.METHODS, "knn", study.METRICS)
    return {
        "datasets": study.details(),
        "means": means,
        "table1": summarise.table1(cells, study.details(), study.IN_FILE, study.ACCURACY),
        "agreement": summarise.agreement(cells, study.details(), study.PAPER, study.IN_FILE),
        "ranks": statistics.ranks(scores, study.METHODS, study.METRICS),
        "tally": statistics.tally(compared),
    }


def halves(frames, dataset):
    return tables.dataset_tables(study.accuracies(frames["means"], dataset=dataset), study.ENTRIES, study.ACCURACY)


class Counter(HTMLParser):
    def __init__(self):
        super().__init__()
        self.open, self.cells = [], []

    def handle_starttag(self, tag, attrs):
        if tag == "tr":
            self.cells.append(0)
        if tag in ("td", "th"):
            self.cells[-1] += 1
        if tag not in ("meta",):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def columns_of_html(text):
    parser = Counter()
    parser.feed(text)
    assert parser.open == []
    return parser.cells


def test_the_papers_rule():
    means, intervals = [94.92, 95.59, 96.26, 95.84, float("nan")], [0.58, 0.41, 0.42, 0.47, float("nan")]
    cells = tables.emphasised(means, intervals, study.ACCURACY)
    assert [cell.bold for cell in cells] == [False, False, True, True, False]
    assert [cell.underlined for cell in cells] == [False, False, True, False, False]
    assert [cell.bold for cell in tables.emphasised([1.0, 1.0], [0.0, 0.0], study.ACCURACY)] == [True, True]


def test_the_rule_where_lower_is_better():
    cells = tables.emphasised([0.30, 0.25, 0.29], [0.01, 0.05, 0.02], study.PLAN.metrics["log_loss"])
    assert [cell.bold for cell in cells] == [True, True, True] and [c.underlined for c in cells] == [False, True, False]
    cells = tables.emphasised([0.31, 0.25], [0.01, 0.05], study.PLAN.metrics["log_loss"])
    assert [cell.bold for cell in cells] == [False, True] and cells[0].number == "0.310"


def test_the_rule_gives_the_papers_own_bold_cells():
    table = tables.result_table(study.PAPER, study.TABLE1, study.ACCURACY)
    for cells, row in zip(table.rows, study.PAPER.to_dict("records"), strict=True):
        methods = [row[entry.columns[0]] for entry in study.TABLE1]
        assert [cell.bold for cell in cells[2:]] == [value >= row["lower"] for value in methods], row["Dataset"]


def test_latex_of_table1(frames):
    text = tables.to_latex([tables.result_table(frames["table1"], study.TABLE1, study.ACCURACY)])
    rows = [line for line in text.splitlines() if line.endswith(r"\\")]
    assert rows[0] == r"Dataset & n & Surrogate & Friedman & Mean & KNN & MissForest & GeF & GeF(LSPN) \\"
    assert {row.count("&") for row in rows} == {8} and len(rows) == 4
    assert text.count(r"\underline{\textbf{") == 3
    assert r"\begin{tabular}{cc|ccccc|cc}" in text


def test_latex_of_a_dataset(frames):
    text = tables.to_latex(halves(frames, "vehicle"))
    assert text.count(r"\begin{tabular}") == 2
    assert text.splitlines()[2] == r"(\%) & Surrogate & Friedman & Mean & KNN & MissForest \\"
    assert "GeF$^+$(LSPN)" in text
    assert text.count(r"\underline") == 4  # one per rate, in either half


def test_html_is_well_formed(frames):
    pages = view_tables(frames, study.ENTRIES, "KNN", study.VIEW, 0.3)
    pages["agreement"] = agreement_page(frames["agreement"], study.TABLE1)
    assert pages["table1"][1] == "Accuracy (%) at 30 % of missing values"
    for name, (table, title, note) in pages.items():
        cells = columns_of_html(tables.to_html([table], title, note))
        assert set(cells) == {len(table.header)} and len(cells) == len(table.rows) + 1, name
    text = tables.to_html(halves(frames, "breast"), "a < b")
    columns_of_html(text)
    assert "a &lt; b" in text and "GeF<sup>+</sup>" in text and "± " in text


def test_agreement_table_marks_what_is_outside(frames):
    agreement = frames["agreement"].assign(verdict="within")
    agreement.loc[(agreement["dataset"] == "wdbc") & (agreement["method"] == "knn"), "verdict"] = "off"
    for table in (
        tables.agreement_table(agreement, study.TABLE1),
        tables.side_by_side(frames["table1"], agreement, study.TABLE1),
    ):
        bold = [(row[0].text, table.header[j]) for row in table.rows for j, cell in enumerate(row) if cell.bold]
        assert bold == [("wdbc", "KNN")]


def summary_of(frames, *outliers, methods=study.ENTRIES):
    tables = frames["table1"], frames["agreement"]
    return summary("quick", *tables, methods, study.VIEW, 0.3, "againstKNN", outliers)


def test_own_methods_and_datasets_are_in_table_1_and_in_the_summary(frames):
    mine = MethodEntry("mine", "Mine")
    methods = [*study.ENTRIES, mine]
    means = frames["means"]
    own = pd.concat([means, means.query("method == 'knn'").assign(method="mine")])
    datasets = pd.concat([study.details(), study.details().iloc[:1].assign(dataset="extra", label="Extra")])
    own = study.accuracies(pd.concat([own, own.query("dataset == 'breast'").assign(dataset="extra")]), rate=0.3)
    in_table = [entry for entry in methods if entry.in_table1]
    order = summarise.in_file_order(in_table, study.PAPER.columns)
    table1 = summarise.table1(own, datasets, order, study.ACCURACY)
    assert table1.columns.tolist()[6:14] == [*study.PAPER.columns[6:13], "mine"]
    assert set(table1["Dataset"]) == {"wdbc", "diabetes", "vehicle", "Extra"}
    latex = tables.to_latex([tables.result_table(table1, in_table, study.ACCURACY)])
    assert r"\begin{tabular}{cc|ccccc|cc|c}" in latex and "GeF(LSPN) & Mine" in latex
    agreement = summarise.agreement(own, datasets, study.PAPER, order)
    assert set(agreement["dataset"]) == {"wdbc", "diabetes", "vehicle"} and "mine" not in set(agreement["method"])
    text = summary_of({"table1": table1, "agreement": agreement}, methods=methods)
    ours = table1.set_index("Dataset").loc["Extra"]
    line = next(line for line in text.splitlines() if line.startswith("   Extra") or line.startswith("Extra"))
    assert line.split()[1:] == [f"{ours[entry.columns[0]]:.1f}" for entry in in_table]


def test_the_summary_has_our_numbers_beside_the_papers_and_says_where_everything_is(frames):
    text = summary_of(frames)
    theirs = study.PAPER.set_index("Dataset").loc["wdbc", "GeF"]
    ours = frames["table1"].set_index("Dataset").loc["wdbc", "GeF"]
    assert f"{ours:.1f} ({theirs:.1f})" in text
    assert re.search(r"Agreement: \d+ of 21 cells of Table 1 within the intervals", text)
    for place in ("results/quick/tables/", "figures/quick/", "results/quick/report.html", "results/quick/index.html"):
        assert place in text
    assert max(map(len, text.splitlines())) < 130


def test_provenance():
    keys = study.scores()[["dataset", "method", "mechanism", "repetition", "fold", "rate"]]
    keys = keys.rename(columns={"method": "model"})
    totals = total_seconds(keys.assign(fit_seconds=1.0, predict_seconds=0.5))
    assert totals["fit_seconds"].unique() == [6.0] and totals["predict_seconds"].unique() == [12.0]
    text = page(
        {"breast": {"source": "openml", "id": 1510, "rows": 569, "date": "2020"}}, totals, study.LABELS, study.DATASETS
    )
    columns_of_html(text)
    assert "1510" in text and "numpy" in text and "18.0" in text
    assert ">wdbc<" in text and "breast" not in text
    for_programs = record({"run": "mine", "protocol": {"seed": 7}}, {"breast": {"id": 1510}}, totals)
    assert for_programs["seconds"]["breast"]["knn"] == {"fit": 6.0, "predict": 12.0}
    assert for_programs["protocol"]["seed"] == 7 and for_programs["data"]["breast"]["id"] == 1510
    assert {"Commit", "Processor", "numba"} <= set(for_programs["software"])


def outliers(repetitions):
    measures = {"auc": 0.984, "aupr": 0.99, "fpr95": 0.034}
    intervals = {f"{name}_interval": 0.006 for name in measures}
    row = {"study": "wine_text", "model": "red", "method": "gefp", "outliers": "white", "repetitions": repetitions}
    return pd.DataFrame([row | measures | intervals])


def test_a_table_of_outliers_has_intervals_only_over_several_repetitions():
    names = {"red": "red wine"}
    text = tables.to_html(tables.outlier_tables(outliers(5), {"gefp": "GeF+"}, names), "Outliers")
    assert "red wine" in text and "GeF<sup>+</sup>" in text and "98.40" in text and "± 0.60" in text
    assert '<td class="words">white</td>' in text
    assert "±" not in tables.to_html(tables.outlier_tables(outliers(1), {}, names), "Outliers")


def test_the_summary_mentions_the_outlier_studies_of_the_run(frames):
    text = summary_of(frames, outliers(5))
    assert "Outliers, wine, text: AUC of GeF+ 0.984 (red, white)" in text
