# The outlier studies (wine of the other colour, foreign digits): arrays -> signals -> tables and figures.


# Downloads run where the workflow is started, like those of `fetch_dataset`.
localrules:
    fetch_foreign_images,


# figures/<run>/fx_wine.png could also be the figure of a dataset "fx_wine".
ruleorder: draw_outliers > render_dataset


# A foreign dataset that cannot be fetched is left out; its file then holds the reason.
rule fetch_foreign_images:
    input:
        of(PLAN.own_files, "dataset"),
    output:
        images=FILES.foreign,
    log:
        FILES.logs / "outliers" / "images" / "{dataset}.log",
    conda:
        "../../environment.yml"
    params:
        sources=of(PLAN.sources, "dataset"),
        entry=of(PLAN.encoding, "dataset"),
        code=code("fetch_foreign_images"),
    script:
        "../scripts/fetch_foreign_images.py"


rule score_wine:
    input:
        datasets=of(PLAN.wine_pair, "reading"),
    output:
        signals=FILES.wine_signals,
    log:
        FILES.logs / "outliers" / "wine_{reading}.log",
    group:
        batch(PLAN.batches.wine, "reading")
    conda:
        "../../environment.yml"
    threads: 2
    resources:
        mem_mb=growing(2000),
        runtime=minutes(PLAN.wine_minutes, "reading"),
    params:
        settings=PLAN.outlier_settings("wine", without=("datasets",)),
        code=code("score_wine"),
    script:
        "../scripts/score_wine.py"


rule score_images:
    input:
        dataset=of(PLAN.image_dataset),
        foreign=PLAN.foreign_files,
    output:
        signals=FILES.image_signals,
    log:
        FILES.logs / "outliers" / "images.log",
    group:
        batch(PLAN.batches.scores("score_images"))
    conda:
        "../../environment.yml"
    threads: 2
    resources:
        mem_mb=growing(8000),
        runtime=minutes(PLAN.image_minutes),
    params:
        foreign=PLAN.foreign_kinds,
        settings=PLAN.outlier_settings("images", without=("dataset", "foreign")),
        code=code("score_images"),
    script:
        "../scripts/score_images.py"


rule summarise_outliers:
    input:
        of(PLAN.signals, "study"),
    output:
        FILES.outliers,
    log:
        FILES.logs / "outliers" / "summarise_{study}.log",
    group:
        batch(PLAN.batches.study)
    conda:
        "../../environment.yml"
    params:
        code=code("summarise_outliers"),
    script:
        "../scripts/summarise_outliers.py"


rule draw_outliers:
    input:
        signals=of(PLAN.drawn_signals, "study"),
        table=FILES.outliers,
    output:
        figure=report(
            FILES.figures / "fx_{study}.png",
            caption="../report/outliers_figure.rst",
            category=PLAN.section("Outliers"),
            labels={"what": "{study}: figure"},
        ),
        others=[FILES.figures / "fx_{study}.pgf", FILES.figures / "fx_{study}.pdf"],
        html=report(
            FILES.results / "tables" / "outliers_{study}.html",
            caption="../report/outliers_table.rst",
            category=PLAN.section("Outliers"),
            labels={"what": "{study}: table"},
        ),
    log:
        FILES.logs / "outliers" / "draw_{study}.log",
    group:
        batch(PLAN.batches.study)
    conda:
        "../../environment.yml"
    params:
        names=PLAN.outlier_labels,
        code=code("draw_outliers"),
    script:
        "../scripts/draw_outliers.py"
