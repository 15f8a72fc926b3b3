# The last stage: scores -> the paper's tables and figures, its numbers beside ours, statistics, report and PDF.


report: "../report/workflow.rst"


# They take seconds, or have to see the whole working directory.
localrules:
    describe_run,
    summarise_run,
    build_report,


rule compare_methods:
    input:
        scores=all_scores,
        means=expand(RESULTS / "means" / "{dataset}.csv", dataset=DATASETS),
        datasets=RESULTS / "datasets.csv",
        paper="config/paper_table1.csv",
    output:
        means=RESULTS / "means.csv",
        table1=RESULTS / "table1.csv",
        gains=RESULTS / "gains.csv",
        agreement=RESULTS / "agreement.csv",
        ranks=RESULTS / "ranks.csv",
        comparisons=RESULTS / "comparisons.csv",
        tally=RESULTS / "tally.csv",
    log:
        LOGS / "compare_methods.log",
    conda:
        "../../environment.yml"
    params:
        methods=config["methods"],
        ranked=list(shown_labels()),
        rivals=rivals(),
        columns=paper_columns(),
        code=code_digest("joints.study.summarise", "joints.study.statistics"),
    script:
        "../scripts/compare_methods.py"


rule render_dataset:
    input:
        means=RESULTS / "means" / "{dataset}.csv",
    output:
        figure=report(
            FIGURES / "{dataset}.png",
            caption="../report/dataset_figure.rst",
            category="4 Datasets",
            subcategory="{dataset}",
            labels={"what": "accuracy against missing values"},
        ),
        others=[FIGURES / "{dataset}.pgf", FIGURES / "{dataset}.pdf"],
        html=report(
            RESULTS / "tables" / "{dataset}.html",
            caption="../report/dataset_table.rst",
            category="4 Datasets",
            subcategory="{dataset}",
            labels={"what": "table of accuracies"},
        ),
        tex=RESULTS / "tables" / "{dataset}.tex",
    log:
        LOGS / "render" / "{dataset}.log",
    conda:
        "../../environment.yml"
    params:
        title=dataset_title,
        labels=shown_labels(),
        code=code_digest(
            "joints.render.figures", "joints.render.tables", "joints.study.summarise"
        ),
        style=style_digest(),
    script:
        "../scripts/render_dataset.py"


rule render_study:
    input:
        datasets=RESULTS / "datasets.csv",
        means=RESULTS / "means.csv",
        table1=RESULTS / "table1.csv",
        agreement=RESULTS / "agreement.csv",
        ranks=RESULTS / "ranks.csv",
        tally=RESULTS / "tally.csv",
    output:
        html=[
            report(
                RESULTS / "tables" / "table1.html",
                caption="../report/table1.rst",
                category="1 Results",
                labels={"what": "Table 1"},
            ),
            report(
                RESULTS / "tables" / "agreement.html",
                caption="../report/agreement.rst",
                category="2 Agreement with the paper",
                labels={"what": "every cell of Table 1 (table)"},
            ),
            report(
                RESULTS / "tables" / "ranks.html",
                caption="../report/ranks.rst",
                category="3 Statistics",
                labels={"what": "average ranks (table)"},
            ),
            report(
                RESULTS / "tables" / "tally.html",
                caption="../report/tally.rst",
                category="3 Statistics",
                labels={"what": "wins, ties and losses against KNN"},
            ),
            report(
                RESULTS / "tables" / "datasets.html",
                caption="../report/datasets.rst",
                category="7 Provenance",
                labels={"what": "the datasets"},
            ),
        ],
        tex=expand(
            RESULTS / "tables" / "{name}.tex",
            name=["table1", "agreement", "ranks", "tally"],
        ),
    log:
        LOGS / "render_study.log",
    conda:
        "../../environment.yml"
    params:
        labels=shown_labels(),
        columns=paper_columns(),
        code=code_digest("joints.render.summary"),
    script:
        "../scripts/render_study.py"


rule draw_study:
    input:
        gains=RESULTS / "gains.csv",
        agreement=RESULTS / "agreement.csv",
        ranks=RESULTS / "ranks.csv",
    output:
        gains=report(
            FIGURES / "againstKNN.png",
            caption="../report/gains.rst",
            category="1 Results",
            labels={"what": "Figure 2: gain over KNN"},
        ),
        agreement=report(
            FIGURES / "agreement.png",
            caption="../report/agreement.rst",
            category="2 Agreement with the paper",
            labels={"what": "every cell of Table 1 (figure)"},
        ),
        ranks=report(
            FIGURES / "ranks.png",
            caption="../report/ranks.rst",
            category="3 Statistics",
            labels={"what": "critical differences (figure)"},
        ),
        others=expand(
            FIGURES / "{name}.{kind}",
            name=["againstKNN", "agreement", "ranks"],
            kind=["pgf", "pdf"],
        ),
    log:
        LOGS / "draw_study.log",
    conda:
        "../../environment.yml"
    params:
        labels=shown_labels(),
        code=code_digest("joints.render.figures"),
        style=style_digest(),
    script:
        "../scripts/draw_study.py"


rule describe_run:
    input:
        records=provenance_records,
        seconds=all_seconds,
    output:
        seconds=RESULTS / "seconds.csv",
        json=RESULTS / "provenance.json",
        html=report(
            RESULTS / "provenance.html",
            caption="../report/provenance.rst",
            category="7 Provenance",
            labels={"what": "data, versions and times"},
        ),
    log:
        LOGS / "describe_run.log",
    conda:
        "../../environment.yml"
    params:
        labels=method_labels(),
        settings={key: config[key] for key in ("run", "protocol", "forest", "methods")},
        code=code_digest("joints.render.provenance"),
    script:
        "../scripts/describe_run.py"


rule summarise_run:
    input:
        datasets=RESULTS / "datasets.csv",
        agreement=RESULTS / "agreement.csv",
        outliers=expand(RESULTS / "outliers_{study}.csv", study=outlier_studies()),
    output:
        RESULTS / "summary.txt",
    log:
        LOGS / "summarise_run.log",
    conda:
        "../../environment.yml"
    params:
        labels=shown_labels(),
        run=config["run"],
        code=code_digest("joints.render.summary"),
    script:
        "../scripts/summarise_run.py"


# Snakemake makes its report of what has been run, in a second, inner call.  (One label a result only: with two labels of
# two values each, the page of Snakemake 9 turns both into switches and stays empty.)
rule build_report:
    input:
        report_inputs,
    output:
        RESULTS / "report.html",
    log:
        LOGS / "build_report.log",
    conda:
        "../../environment.yml"
    params:
        configuration=config_arguments(),
    script:
        "../scripts/build_report.py"


rule build_pdf:
    input:
        report_inputs,
    output:
        RESULTS / "study.pdf",
    log:
        LOGS / "build_pdf.log",
    conda:
        "../../environment.yml"
    params:
        run=config["run"],
        datasets=DATASETS,
        code=code_digest("joints.render.pdf"),
    script:
        "../scripts/build_pdf.py"
