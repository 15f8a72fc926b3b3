"""Figures: every file is written with or without TeX, the same each time, and LaTeX takes it."""

import os
import re
import shutil
import subprocess

import numpy as np
import pandas as pd
import pytest

import study
from joints.errors import JointsError
from joints.render import figures, pdf, tables
from joints.render.saving import save
from joints.render.summary import agreement_page, labels_of, view_tables
from joints.runtime.files import write_csv, write_text
from joints.study import statistics, summarise
from joints.study.entries import MethodEntry

TEX = shutil.which("pdflatex")
needs_tex = pytest.mark.skipif(TEX is None, reason="there is no pdflatex")


def numbers():
    """The tables behind the figures."""
    scores = study.scores(rates=(0.0, 0.3, 0.9))
    means = study.means_of(scores)
    cells = study.accuracies(means, rate=0.3)
    return {
        "datasets": study.details(),
        "means": means,
        "gains": summarise.gains(scores, ["knn"], study.METRICS),
        "table1": summarise.table1(cells, study.details(), study.IN_FILE, study.ACCURACY),
        "agreement": summarise.agreement(cells, study.details(), study.PAPER, study.IN_FILE),
        "ranks": statistics.ranks(scores, study.METHODS, study.METRICS),
        "tally": statistics.tally(statistics.comparisons(scores, study.METHODS, "knn", study.METRICS)),
    }


def drawn(entries=study.ENTRIES):
    frames = numbers()
    knn, labels = study.PLAN.methods["knn"], labels_of(entries)
    breast = study.accuracies(frames["means"], dataset="breast")
    return {
        "breast": figures.dataset_figure(breast, entries, study.ACCURACY),
        "againstKNN": figures.gain_figure(study.accuracies(frames["gains"]), entries, knn, study.ACCURACY),
        "agreement": figures.agreement_figure(frames["agreement"], labels, 0.3),
        "ranks": figures.rank_figure(study.accuracies(frames["ranks"]), labels),
    }


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """All figures in all formats, made where no TeX can be found."""
    folder = tmp_path_factory.mktemp("figures")
    path = os.environ["PATH"]
    os.environ["PATH"] = str(folder)
    try:
        for name, figure in drawn().items():
            for kind in ("pgf", "pdf", "png"):
                save(figure, folder / f"{name}.{kind}")
    finally:
        os.environ["PATH"] = path
    return folder


def test_files_are_what_their_names_say(files):
    for path in files.iterdir():
        start = path.read_bytes()[:9]
        assert start.startswith({".pgf": b"%% Creat", ".pdf": b"%PDF-", ".png": b"\x89PNG"}[path.suffix]), path.name
    assert len(list(files.iterdir())) == 12


def test_the_same_bytes_again_with_or_without_tex(files, tmp_path):
    for name, figure in drawn().items():
        for kind in ("pgf", "pdf", "png"):
            path = tmp_path / f"{name}.{kind}"
            save(figure, path)
            assert path.read_bytes() == (files / path.name).read_bytes(), path.name


def test_pgf_files_belong_to_no_machine(files):
    for path in files.glob("*.pgf"):
        text = path.read_text()
        assert "/" not in re.sub(r"%% .*", "", text), path.name
        assert "includegraphics" not in text and "pgfimage" not in text  # nothing that would have to lie beside it


def test_one_panel_per_method_and_one_highlight_per_panel():
    figure = drawn()["breast"]
    titles = [ax.get_title() for ax in figure.axes]
    assert titles == [figures.text(entry.label) for entry in study.ENTRIES]
    for ax, entry in zip(figure.axes, study.ENTRIES, strict=True):
        assert len(ax.lines) == 10 and len(ax.collections) == 1  # all curves, one band
        coloured = [line for line in ax.lines if line.get_color() != figures.GREY]
        assert [line.get_color() for line in coloured] == [figures.COLOURS[entry.colour]]
    assert {tuple(ax.get_ylim()) for ax in figure.axes} == {tuple(figure.axes[0].get_ylim())}


def test_figure_2_has_the_papers_panels():
    figure = drawn()["againstKNN"]
    assert [ax.get_title() for ax in figure.axes] == ["Surrogate", "Friedman", "Mean", "MissForest", "GeF", "GeF(LSPN)"]


def test_own_methods_have_panels_after_the_papers():
    mine = MethodEntry("gefp_lspn", "Mine")  # with somebody's numbers
    figure = drawn([*study.ENTRIES[:-1], mine])["againstKNN"]
    assert [ax.get_title() for ax in figure.axes if ax.axison][6:] == ["Mine"]
    lines = [line for line in figure.axes[6].lines if line.get_color() == figures.COLOURS["green"]]
    assert len(lines) == 1


def test_another_reference_and_metric():
    gains = summarise.gains(study.scores(), ["mean"], study.METRICS)
    gef, mean = study.PLAN.methods["gef"], study.PLAN.methods["mean"]
    loss = study.PLAN.metrics["log_loss"]
    figure = figures.gain_figure(summarise.at(gains, metric="log_loss"), [gef, mean], mean, loss)
    assert [ax.get_title() for ax in figure.axes] == ["GeF"]
    assert figure.get_supylabel() == "Gain in log-loss over Mean (nats)"


def test_fewer_methods_than_panels_of_a_row():
    entries = [study.PLAN.methods[name] for name in ("mean", "knn")]
    means = summarise.means(study.scores(), ["mean", "knn"], [study.ACCURACY]).query("dataset == 'breast'")
    shown = [ax for ax in figures.dataset_figure(means, entries, study.ACCURACY).axes if ax.axison]
    assert len(shown) == 2


def test_a_run_without_any_dataset_of_the_paper(tmp_path):
    nothing = numbers()["agreement"].iloc[:0]
    save(figures.agreement_figure(nothing, study.LABELS, 0.3), tmp_path / "a.pgf")
    assert "No cell of this run" in (tmp_path / "a.pgf").read_text()


def test_colours_differ_in_grey():
    def grey(colour):
        red, green, blue = (int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5))
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    levels = sorted([grey(figures.BLUE), grey(figures.VERMILION), float(figures.GREY)])
    assert levels[1] - levels[0] > 0.05 and levels[2] - levels[1] > 0.15


def test_ranks_within_the_critical_difference_are_joined():
    values = np.array([1.0, 1.5, 3.0, 3.2, 6.0])
    assert figures._cliques(values, 1.0) == [(0, 1), (2, 3)]
    assert figures._cliques(values, 2.0) == [(0, 2), (1, 3)]
    assert figures._cliques(values, 9.0) == [(0, 4)]


@needs_tex
def test_every_pgf_file_compiles(files, tmp_path):
    inputs = "\n\n".join(rf"\input{{{path}}}" for path in sorted(files.glob("*.pgf")))
    source = rf"\documentclass{{article}}\usepackage{{pgf}}\begin{{document}}{inputs}\end{{document}}"
    (tmp_path / "a.tex").write_text(source)
    done = subprocess.run(
        [TEX, "-interaction=nonstopmode", "-halt-on-error", "a.tex"], cwd=tmp_path, capture_output=True, check=False
    )
    assert done.returncode == 0, done.stdout.decode(errors="replace")[-2000:]


@pytest.fixture
def run_folder(files, tmp_path):
    """The folders of a run, as the PDF needs them."""
    frames = numbers()
    results, pictures = tmp_path / "results", tmp_path / "figures"
    shutil.copytree(files, pictures)
    pages = view_tables(frames, study.ENTRIES, "KNN", study.VIEW, 0.3)
    pages["agreement"] = agreement_page(frames["agreement"], study.TABLE1)
    for name, (table, _, _) in pages.items():
        write_text(results / "tables" / f"{name}.tex", tables.to_latex([table]))
    for name in study.DATASETS:
        means = study.accuracies(frames["means"], dataset=name)
        halves = tables.dataset_tables(means, study.ENTRIES, study.ACCURACY)
        write_text(results / "tables" / f"{name}.tex", tables.to_latex(halves))
        shutil.copyfile(files / "breast.pgf", pictures / f"{name}.pgf")
    write_csv(results / "datasets.csv", study.details())
    write_text(results / "datasets.tex", tables.details_to_latex(study.details()))
    return tmp_path


def build(folder, datasets):
    about = ("againstKNN", "KNN", study.ACCURACY, 0.3)
    pdf.build("test", folder / "results", folder / "figures", datasets, *about, folder / "study.pdf")


@needs_tex
def test_one_pdf_with_everything(run_folder):
    build(run_folder, list(study.DATASETS))
    assert (run_folder / "study.pdf").read_bytes().startswith(b"%PDF-")


def test_without_tex_the_pdf_says_what_to_install(run_folder, monkeypatch):
    monkeypatch.setenv("PATH", str(run_folder))
    with pytest.raises(JointsError, match=r"there is no pdflatex.*install a TeX system, on Debian.*texlive"):
        build(run_folder, [])


STUBS = {
    # what the paper loads and small TeX systems lack; none of it has to do with results
    "neurips_2020": r"\DeclareOption*{}\ProcessOptions\relax\RequirePackage[textwidth=5.5in,textheight=9in]{geometry}"
    r"\AtBeginDocument{\renewcommand{\maketitle}{}}",
    "bbm": r"\newcommand{\mathbbm}[1]{\mathbf{#1}}",
    "algorithm2e": "",
}


@needs_tex
def test_the_papers_own_latex_builds_against_the_outputs(shared, files, tmp_path):
    """Preamble, Table 1, Figure 2 and the first two sections of the appendix, as the authors wrote them."""
    source = (shared / "paper/joints-in-random-forests.tex").read_text()
    parts = re.split(r"^%% file: (\S+)\n", source, flags=re.MULTILINE)
    parts = dict(zip(parts[1::2], parts[2::2], strict=True))
    main, appendix = parts["main.tex"], parts["exp-missing.tex"]
    preamble = main[: main.index(r"\begin{document}")]
    figure = main[main.index(r"\begin{figure}[t!]") :]
    figure = figure[: figure.index(r"\end{figure}")] + r"\end{figure}"
    table = main[main.index(r"\DTLloaddb[]{res30}") :]
    table = table[: table.index(r"\end{table}")] + r"\end{table}"
    sections = appendix.split(r"\newpage")[1:3]
    body = [figure.replace(r"\input{ }", r"\input{Figures/againstKNN.pgf}"), table, *sections]
    (tmp_path / "main.tex").write_text("\n".join([preamble, r"\begin{document}", *body, r"\end{document}"]))
    for name, text in STUBS.items():
        found = subprocess.run(["kpsewhich", f"{name}.sty"], capture_output=True, check=False).returncode == 0
        if not found:
            (tmp_path / f"{name}.sty").write_text(rf"\ProvidesPackage{{{name}}}{text}")
    (tmp_path / "Results").mkdir()
    (tmp_path / "Figures").mkdir()
    frames = numbers()
    table1 = frames["table1"]
    table1.to_csv(tmp_path / "Results" / "res30.csv", index=False)
    breast = study.accuracies(frames["means"], dataset="breast")
    wide = summarise.dataset_table(breast, study.COLUMNS, study.ACCURACY)
    shutil.copy(files / "againstKNN.pgf", tmp_path / "Figures")
    for name in ("authent", "bank"):
        wide.to_csv(tmp_path / "Results" / f"{name}.csv", index=False)
        shutil.copy(files / "breast.pgf", tmp_path / "Figures" / f"{name}.pgf")
    done = subprocess.run(
        [TEX, "-interaction=nonstopmode", "-halt-on-error", "main.tex"], cwd=tmp_path, capture_output=True, check=False
    )
    assert done.returncode == 0, done.stdout.decode(errors="replace")[-2000:]
    if shutil.which("pdftotext"):
        text = subprocess.run(
            ["pdftotext", "-layout", "main.pdf", "-"], cwd=tmp_path, capture_output=True, text=True, check=True
        ).stdout
        row = next(line for line in text.splitlines() if line.split()[:2] == ["wdbc", "569"])
        assert str(table1["GeF"].iloc[0]) in row and str(table1["Surr"].iloc[0]) in row


def test_the_words_of_a_rank_figure_do_not_overlap_where_the_critical_difference_is_wide():
    labels = {f"m{i}": f"Method {i}" for i in range(11)}
    width = statistics.critical_difference(11, 3)
    rows = pd.DataFrame({"rate": 0.3, "method": list(labels), "rank": np.linspace(2, 10, 11), "p_value": 0.2})
    figure = figures.rank_figure(rows.assign(critical_difference=width), labels)
    figure.draw_without_rendering()
    boxes = [text.get_window_extent() for text in figure.axes[0].texts]
    found = [(i, j) for i in range(len(boxes)) for j in range(i) if boxes[i].overlaps(boxes[j])]
    assert len(boxes) == 11 + 11 + 2 and found == []
    line = next(line for line in figure.axes[0].lines if line.get_marker() == "|").get_window_extent()
    assert not any(line.overlaps(box) for box in boxes)
