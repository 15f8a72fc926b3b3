# The last stage: scores -> the paper's tables and figures, its numbers beside ours, statistics, report and PDF.


report: "../report/workflow.rst"


# These take seconds, or need to see the whole working directory.
localrules:
    describe_run,
    summarise_run,
    build_page,
    build_report,


# Tables and figures about all datasets have names that could also be those of a dataset.
ruleorder: render_agreement > draw_study > render_dataset
ruleorder: render_agreement > render_study > render_dataset


rule compare_methods:
    input:
        scores=PLAN.all_scores,
        means=expand(FILES.means, dataset=PLAN.names),
        datasets=FILES.results / "datasets.csv",
        paper="config/paper_table1.csv",
    output:
        means=FILES.results / "means.csv",
        gains=FILES.results / "gains.csv",
        agreement=FILES.results / "agreement.csv",
        ranks=FILES.results / "ranks.csv",
        comparisons=FILES.results / "comparisons.csv",
        tally=FILES.results / "tally.csv",
        scores=FILES.results / "scores.parquet",
    log:
        FILES.logs / "compare_methods.log",
    group:
        batch(PLAN.batches.study)
    conda:
        "../../environment.yml"
    params:
        methods=PLAN.used,
        protocols=PLAN.score_protocols(*PLAN.names),
        metrics=PLAN.all_metrics,
        mechanisms=PLAN.used_mechanisms,
        reference=PLAN.reference,
        rivals=PLAN.rivals,
        rate=PLAN.config["table_rate"],
        view=PLAN.paper_view,
        code=code("compare_methods"),
    script:
        "../scripts/compare_methods.py"


rule render_dataset:
    input:
        means=FILES.means,
    output:
        figure=report(
            FILES.figures / "{view}{dataset}.png",
            caption="../report/dataset_figure.rst",
            category=PLAN.section("Datasets"),
            subcategory=of(PLAN.label, "dataset"),
            labels={"what": "{view}missing values (figure)"},
        ),
        others=[
            FILES.figures / "{view}{dataset}.pgf",
            FILES.figures / "{view}{dataset}.pdf",
        ],
        html=report(
            FILES.results / "tables" / "{view}{dataset}.html",
            caption="../report/dataset_table.rst",
            category=PLAN.section("Datasets"),
            subcategory=of(PLAN.label, "dataset"),
            labels={"what": "{view}missing values (table)"},
        ),
        tex=FILES.results / "tables" / "{view}{dataset}.tex",
        ci=FILES.ci,
    log:
        FILES.logs / "render" / "{view}{dataset}.log",
    group:
        batch(PLAN.batches.tables, "dataset")
    conda:
        "../../environment.yml"
    params:
        label=of(PLAN.label, "dataset"),
        methods=PLAN.shown,
        columns=PLAN.paper_columns,
        view=of(PLAN.view, "view"),
        code=code("render_dataset"),
    script:
        "../scripts/render_dataset.py"


rule render_study:
    input:
        datasets=FILES.results / "datasets.csv",
        means=FILES.results / "means.csv",
        ranks=FILES.results / "ranks.csv",
        tally=FILES.results / "tally.csv",
        paper="config/paper_table1.csv",
    output:
        csv=FILES.table1,
        html=[
            report(
                FILES.results / "tables" / "{view}table1.html",
                caption="../report/table1.rst",
                category=PLAN.section("Results"),
                labels={"what": "{view}Table 1"},
            ),
            report(
                FILES.results / "tables" / "{view}ranks.html",
                caption="../report/ranks.rst",
                category=PLAN.section("Statistics"),
                labels={"what": "{view}average ranks (table)"},
            ),
            report(
                FILES.results / "tables" / "{view}tally.html",
                caption="../report/tally.rst",
                category=PLAN.section("Statistics"),
                labels={"what": "{view}wins, ties and losses"},
            ),
        ],
        tex=[
            FILES.results / "tables" / "{view}table1.tex",
            FILES.results / "tables" / "{view}ranks.tex",
            FILES.results / "tables" / "{view}tally.tex",
        ],
    log:
        FILES.logs / "{view}render_study.log",
    group:
        batch(PLAN.batches.study)
    conda:
        "../../environment.yml"
    params:
        methods=PLAN.shown,
        reference=PLAN.used[PLAN.reference].label,
        rate=PLAN.config["table_rate"],
        view=of(PLAN.view, "view"),
        code=code("render_study"),
    script:
        "../scripts/render_study.py"


rule draw_study:
    input:
        gains=FILES.results / "gains.csv",
        ranks=FILES.results / "ranks.csv",
    output:
        gains=report(
            FILES.figures / f"{{view}}{PLAN.gain_figure}.png",
            caption="../report/gains.rst",
            category=PLAN.section("Results"),
            labels={"what": "{view}Figure 2: gains"},
        ),
        ranks=report(
            FILES.figures / "{view}ranks.png",
            caption="../report/ranks.rst",
            category=PLAN.section("Statistics"),
            labels={"what": "{view}critical differences (figure)"},
        ),
        other_gains=[
            FILES.figures / f"{{view}}{PLAN.gain_figure}.pgf",
            FILES.figures / f"{{view}}{PLAN.gain_figure}.pdf",
        ],
        other_ranks=[
            FILES.figures / "{view}ranks.pgf",
            FILES.figures / "{view}ranks.pdf",
        ],
    log:
        FILES.logs / "{view}draw_study.log",
    group:
        batch(PLAN.batches.study)
    conda:
        "../../environment.yml"
    params:
        methods=PLAN.shown,
        reference=PLAN.used[PLAN.reference],
        view=of(PLAN.view, "view"),
        code=code("draw_study"),
    script:
        "../scripts/draw_study.py"


rule render_agreement:
    input:
        agreement=FILES.results / "agreement.csv",
    output:
        figure=report(
            FILES.figures / "agreement.png",
            caption="../report/agreement.rst",
            category=PLAN.section("Agreement with the paper"),
            labels={"what": "every cell of Table 1 (figure)"},
        ),
        others=[FILES.figures / "agreement.pgf", FILES.figures / "agreement.pdf"],
        html=report(
            FILES.results / "tables" / "agreement.html",
            caption="../report/agreement.rst",
            category=PLAN.section("Agreement with the paper"),
            labels={"what": "every cell of Table 1 (table)"},
        ),
        tex=FILES.results / "tables" / "agreement.tex",
    log:
        FILES.logs / "render_agreement.log",
    group:
        batch(PLAN.batches.study)
    conda:
        "../../environment.yml"
    params:
        methods=PLAN.table1_methods,
        rate=PLAN.config["table_rate"],
        code=code("render_agreement"),
    script:
        "../scripts/render_agreement.py"


rule describe_run:
    input:
        records=PLAN.all_records,
        seconds=PLAN.all_seconds,
    output:
        seconds=FILES.results / "seconds.csv",
        json=FILES.results / "provenance.json",
        html=report(
            FILES.provenance,
            caption="../report/provenance.rst",
            category=PLAN.section("Provenance"),
            labels={"what": "data, versions and times"},
        ),
    log:
        FILES.logs / "describe_run.log",
    conda:
        "../../environment.yml"
    params:
        labels=PLAN.labels,
        datasets=PLAN.dataset_labels,
        settings=PLAN.config,
        code=code("describe_run"),
    script:
        "../scripts/describe_run.py"


rule summarise_run:
    input:
        table1=FILES.results / "table1.csv",
        agreement=FILES.results / "agreement.csv",
        outliers=PLAN.outlier_tables,
    output:
        FILES.summary,
    log:
        FILES.logs / "summarise_run.log",
    conda:
        "../../environment.yml"
    params:
        run=PLAN.run,
        methods=PLAN.shown,
        view=PLAN.views[0],
        rate=PLAN.config["table_rate"],
        gain_figure=PLAN.gain_figure,
        code=code("summarise_run"),
    script:
        "../scripts/summarise_run.py"


# The outlier studies' figures are those of PLAN.studies, in that order.
rule build_page:
    input:
        datasets=FILES.results / "datasets.csv",
        means=FILES.results / "means.csv",
        gains=FILES.results / "gains.csv",
        agreement=FILES.results / "agreement.csv",
        ranks=FILES.results / "ranks.csv",
        tally=FILES.results / "tally.csv",
        table1=FILES.results / "table1.csv",
        outliers=PLAN.outlier_tables,
        figures=PLAN.outlier_figures,
        provenance=FILES.results / "provenance.json",
    output:
        report(
            FILES.home,
            caption="../report/page.rst",
            category=PLAN.section("Results"),
            labels={"what": "all results, with curves to choose from"},
        ),
    log:
        FILES.logs / "build_page.log",
    conda:
        "../../environment.yml"
    params:
        run=PLAN.run,
        methods=PLAN.shown,
        metrics=PLAN.all_metrics,
        mechanisms=list(PLAN.used_mechanisms.values()),
        reference=PLAN.used[PLAN.reference],
        rate=PLAN.config["table_rate"],
        view=PLAN.views[0],
        names=PLAN.outlier_labels,
        protocol=PLAN.config["protocol"],
        studies=PLAN.studies,
        files=PLAN.linked_files,
        code=code("build_page"),
    script:
        "../scripts/build_page.py"


# Snakemake can only report on what has already run, so a second, inner call makes the report.  (Each result has one
# label: with two labels of two values each, the page of Snakemake 9 turns both into switches and stays empty.)
rule build_report:
    input:
        PLAN.report_inputs,
    output:
        FILES.report,
    log:
        FILES.logs / "build_report.log",
    conda:
        "../../environment.yml"
    params:
        configuration=config_arguments(),
    script:
        "../scripts/build_report.py"


rule build_pdf:
    input:
        PLAN.report_inputs,
        FILES.results / "datasets.tex",
    output:
        FILES.pdf,
    log:
        FILES.logs / "build_pdf.log",
    conda:
        "../../environment.yml"
    resources:
        runtime=minutes(15),
    params:
        run=PLAN.run,
        datasets=PLAN.names,
        gain_figure=PLAN.gain_figure,
        reference=PLAN.used[PLAN.reference].label,
        metric=PLAN.views[0].metric,
        rate=PLAN.config["table_rate"],
        code=code("build_pdf"),
    script:
        "../scripts/build_pdf.py"
