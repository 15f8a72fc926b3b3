"""Tables as LaTeX and HTML: the paper's rule, and that the files are well formed."""

import re
from html.parser import HTMLParser

import pandas as pd
import pytest

import study
from joints.render import tables
from joints.render.provenance import page, record, total_seconds
from joints.render.summary import study_tables, summary, write_study
from joints.study import statistics, summarise


@pytest.fixture(scope="module")
def frames():
    scores = study.scores()
    means = summarise.means(scores, study.METHODS)
    table1 = summarise.table1(means, study.details(), study.COLUMNS)
    return {
        "means": means,
        "table1": table1,
        "agreement": summarise.agreement(means, study.details(), study.PAPER, study.COLUMNS),
        "ranks": statistics.ranks(scores, study.METHODS),
        "tally": statistics.tally(statistics.comparisons(scores, study.METHODS)),
        "datasets": study.details(),
    }


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
    cells = tables.emphasised([94.92, 95.59, 96.26, 95.84, float("nan")], [0.58, 0.41, 0.42, 0.47, float("nan")])
    assert [cell.bold for cell in cells] == [False, False, True, True, False]
    assert [cell.underlined for cell in cells] == [False, False, True, False, False]
    assert [cell.bold for cell in tables.emphasised([1.0, 1.0], [0.0, 0.0])] == [True, True]


def test_the_rule_gives_the_papers_own_bold_cells():
    table = tables.result_table(study.PAPER, study.LABELS, study.COLUMNS)
    for cells, row in zip(table.rows, study.PAPER.to_dict("records"), strict=True):
        methods = [row[study.COLUMNS[m][0]] for m in tables.ORDER]
        assert [cell.bold for cell in cells[2:]] == [value >= row["lower"] for value in methods], row["Dataset"]


def test_latex_of_table1(frames):
    text = tables.to_latex([tables.result_table(frames["table1"], study.LABELS, study.COLUMNS)])
    rows = [line for line in text.splitlines() if line.endswith(r"\\")]
    assert rows[0] == r"Dataset & n & Surrogate & Friedman & Mean & KNN & MissForest & GeF & GeF(LSPN) \\"
    assert {row.count("&") for row in rows} == {8} and len(rows) == 4
    assert text.count(r"\underline{\textbf{") == 3
    assert r"\begin{tabular}{cc|ccccc|cc}" in text


def test_latex_of_a_dataset(frames):
    halves = tables.dataset_tables(frames["means"].query("dataset == 'vehicle'"), study.LABELS)
    text = tables.to_latex(halves)
    assert len(halves) == 2 and text.count(r"\begin{tabular}") == 2
    assert text.splitlines()[2] == r"(\%) & Surrogate & Friedman & Mean & KNN & MissForest \\"
    assert "GeF$^+$(LSPN)" in text
    assert text.count(r"\underline") == 4  # one a rate, in either half


def test_html_is_well_formed(frames):
    for name, (table, title, note) in study_tables(frames, study.LABELS, study.COLUMNS).items():
        cells = columns_of_html(tables.to_html([table], title, note))
        assert set(cells) == {len(table.header)} and len(cells) == len(table.rows) + 1, name
    text = tables.to_html(tables.dataset_tables(frames["means"].query("dataset == 'breast'"), study.LABELS), "a < b")
    columns_of_html(text)
    assert "a &lt; b" in text and "GeF<sup>+</sup>" in text and "± " in text


def test_agreement_table_marks_what_is_outside(frames):
    agreement = frames["agreement"].copy()
    agreement.loc[0, ["z", "verdict"]] = [3.0, "off"]
    table = tables.agreement_table(agreement, study.LABELS)
    bold = sum(cell.bold for row in table.rows for cell in row)
    assert bold == (agreement["verdict"] != "within").sum() >= 1


def test_files_are_named_after_their_tables(frames, tmp_path):
    html, tex = [str(tmp_path / "table1.html")], [str(tmp_path / "ranks.tex")]
    write_study(frames, study.LABELS, study.COLUMNS, html, tex)
    assert "Accuracy at 30 %" in (tmp_path / "table1.html").read_text()
    assert r"\toprule" in (tmp_path / "ranks.tex").read_text()


def test_the_summary_has_our_numbers_beside_the_papers_and_says_where_everything_is(frames):
    text = summary("quick", study.details(), frames["agreement"], study.LABELS)
    theirs = study.PAPER.set_index("Dataset").loc["wdbc", "GeF"]
    ours = frames["table1"].set_index("Dataset").loc["wdbc", "GeF"]
    assert f"{ours:.1f} ({theirs:.1f})" in text
    assert re.search(r"Agreement: \d+ of 21 cells of Table 1 within the intervals", text)
    for place in ("results/quick/tables/", "figures/quick/", "results/quick/report.html"):
        assert place in text
    assert max(map(len, text.splitlines())) < 130


def test_provenance():
    keys = study.scores()[["dataset", "method", "repetition", "fold", "rate"]]
    totals = total_seconds(keys.assign(fit_seconds=1.0, predict_seconds=0.5))
    assert totals["fit_seconds"].unique() == [6.0] and totals["predict_seconds"].unique() == [12.0]
    text = page({"breast": {"source": "openml", "id": 1510, "rows": 569, "date": "2020"}}, totals, study.LABELS)
    columns_of_html(text)
    assert "1510" in text and "numpy" in text and "18.0" in text
    assert isinstance(totals, pd.DataFrame)
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
    text = summary("quick", study.details(), frames["agreement"], study.LABELS, [outliers(5)])
    assert "Outliers, wine, text: AUC of GeF+ 0.984 (red, white)" in text
