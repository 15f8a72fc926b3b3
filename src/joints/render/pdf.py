"""All tables and figures of a run as one PDF, by LaTeX."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from joints.errors import JointsError
from joints.render.tables import latex_label
from joints.runtime.files import replacing
from joints.study.entries import MetricEntry

INSTALL = (
    "install a TeX system, on Debian or Ubuntu with apt install texlive-latex-recommended texlive-latex-extra "
    "texlive-pictures texlive-fonts-recommended"
)

_HEAD = r"""\documentclass[10pt]{article}
\usepackage[utf8]{inputenc}
\usepackage[T1]{fontenc}
\usepackage{times}
\usepackage[a4paper,margin=2.2cm]{geometry}
\usepackage{amsmath,booktabs,graphicx,pgf}
\usepackage[hidelinks]{hyperref}
\newcommand{\mathdefault}[1]{#1}
\newcommand{\fit}[1]{\resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{#1}}
\title{Joints in Random Forests: the missing-value study\\\large run ``%s''}
\author{}
\date{}
\begin{document}
\maketitle
"""


def document(
    run: str,
    results: Path,
    figures: Path,
    datasets: pd.DataFrame,
    gain_figure: str,
    reference: str,
    metric: MetricEntry,
    rate: float,
) -> str:
    """The LaTeX source, which refers to the files of the run."""
    what, against = latex_label(metric.label), latex_label(reference)
    parts = [
        _HEAD % latex_label(run),
        _table(
            results / "tables" / "table1.tex",
            rf"{what} at {100 * rate:g}\% of missing values at test time with 95\% confidence intervals. The best "
            "model is underlined, whereas all models within its confidence interval appear in bold.",
        ),
        _figure(
            figures / f"{gain_figure}.pgf",
            f"Average gain relative to {against} against the proportion of missing values; average and "
            rf"95\% confidence interval over the datasets ({len(datasets)}).",
        ),
        _figure(figures / "agreement.pgf", "Our accuracies minus those of the paper's Table 1."),
        _table(
            results / "tables" / "agreement.tex",
            "Every cell of the paper's Table 1: ours / theirs ($z$), bold where $|z| > 1$.",
        ),
        _table(results / "tables" / "ranks.tex", "Average ranks, Friedman test and Nemenyi's critical difference."),
        _figure(figures / "ranks.pgf", "Average ranks; methods joined by a bar do not differ by Nemenyi's test."),
        _table(
            results / "tables" / "tally.tex",
            f"Wins/ties/losses against {against} by corrected resampled $t$-tests with Holm's correction.",
        ),
        _table(results / "datasets.tex", "The datasets."),
    ]
    for row in datasets.to_dict("records"):
        parts += [
            rf"\clearpage\section*{{{latex_label(row['title'])}}}",
            _table(
                results / "tables" / f"{row['dataset']}.tex",
                rf"{what} by percentage of missing values at test time, with 95\% confidence intervals.",
                fit=False,  # it has two halves, one below the other
            ),
            _figure(
                figures / f"{row['dataset']}.pgf",
                f"{what} against the proportion of missing values, one panel per method, with its "
                r"95\% confidence interval.",
            ),
        ]
    return "\n".join([*parts, r"\end{document}", ""])


def build(
    run: str,
    results: str | Path,
    figures: str | Path,
    datasets: Sequence[str],
    gain_figure: str,
    reference: str,
    metric: MetricEntry,
    rate: float,
    output: str | Path,
) -> None:
    """Compile the document; without LaTeX, raises a JointsError that says what to install."""
    program = shutil.which("pdflatex")
    if program is None:
        raise JointsError(f"there is no pdflatex, which the PDF of all tables and figures needs: {INSTALL}")
    details = pd.read_csv(Path(results) / "datasets.csv")
    details = details[details["dataset"].isin(list(datasets))].sort_values("title", key=lambda names: names.str.lower())
    folders = Path(results).resolve(), Path(figures).resolve()
    source = document(run, *folders, details, gain_figure, reference, metric, rate)
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "study.tex").write_text(source, encoding="utf-8")
        command = [program, "-interaction=nonstopmode", "-halt-on-error", "study.tex"]
        for _ in range(2):  # the second run resolves references
            done = subprocess.run(command, cwd=folder, capture_output=True, text=True, errors="replace", check=False)
            if done.returncode:
                said = [line for line in done.stdout.splitlines() if line.startswith("!")] or done.stdout.splitlines()
                raise JointsError(f"pdflatex failed: {said[0].lstrip('! ')}; if a package is missing, {INSTALL}")
        with replacing(output) as temporary:
            shutil.copyfile(Path(folder) / "study.pdf", temporary)


def _table(path: Path, caption: str, fit: bool = True) -> str:
    content = rf"\fit{{\input{{{path}}}}}" if fit else rf"\input{{{path}}}"
    lines = [
        r"\begin{table}[htbp]\centering\footnotesize\setlength{\tabcolsep}{3pt}",
        rf"\caption{{{caption}}}",
        content,
        r"\end{table}",
    ]
    return "\n".join(lines) + "\n"


def _figure(path: Path, caption: str) -> str:
    lines = [
        r"\begin{figure}[htbp]\centering",
        rf"\fit{{\input{{{path}}}}}",
        rf"\caption{{{caption}}}",
        r"\end{figure}",
    ]
    return "\n".join(lines) + "\n"
