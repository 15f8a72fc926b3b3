# The outlier studies: wine of the other colour and foreign digits, from arrays to tables and figures of their own.


# It downloads where the workflow is started, as `fetch_dataset` does.
localrules:
    fetch_foreign_images,


# figures/<run>/fx_wine.png could also be the figure of a dataset "fx_wine".
ruleorder: draw_outliers > render_dataset


# A foreign dataset that cannot be had is left out; its file then holds the reason.
rule fetch_foreign_images:
    input:
        own_files,
    output:
        images=RESULTS / "outliers" / "images" / "{dataset}.npz",
    log:
        LOGS / "outliers" / "images" / "{dataset}.log",
    conda:
        "../../environment.yml"
    params:
        sources=sources_of,
        entry=encoding_of,
        code=code_digest("joints.study.outliers.images"),
    script:
        "../scripts/fetch_foreign_images.py"


rule score_wine:
    input:
        datasets=wine_pair,
    output:
        signals=RESULTS / "outliers" / "wine_{reading}.parquet",
    log:
        LOGS / "outliers" / "wine_{reading}.log",
    conda:
        "../../environment.yml"
    threads: 2
    resources:
        mem_mb=2000,
    params:
        settings=outlier_settings("wine", without=("datasets",)),
        code=code_digest("joints.study.outliers.studies"),
    script:
        "../scripts/score_wine.py"


rule score_images:
    input:
        dataset=image_dataset,
        foreign=foreign_files,
    output:
        signals=RESULTS / "outliers" / "images.parquet",
    log:
        LOGS / "outliers" / "images.log",
    conda:
        "../../environment.yml"
    threads: 2
    resources:
        mem_mb=8000,
    params:
        foreign=foreign_kinds(),
        settings=outlier_settings("images", without=("dataset", "foreign")),
        code=code_digest("joints.study.outliers.studies"),
    script:
        "../scripts/score_images.py"


rule summarise_outliers:
    input:
        signal_files,
    output:
        RESULTS / "outliers_{study}.csv",
    log:
        LOGS / "outliers" / "summarise_{study}.log",
    conda:
        "../../environment.yml"
    params:
        code=code_digest("joints.study.outliers.measures"),
    script:
        "../scripts/summarise_outliers.py"


rule draw_outliers:
    input:
        signals=first_signals,
        table=RESULTS / "outliers_{study}.csv",
    output:
        figure=report(
            FIGURES / "fx_{study}.png",
            caption="../report/outliers_figure.rst",
            category="5 Outliers",
            labels={"what": "{study}: figure"},
        ),
        others=[FIGURES / "fx_{study}.pgf", FIGURES / "fx_{study}.pdf"],
        html=report(
            RESULTS / "tables" / "outliers_{study}.html",
            caption="../report/outliers_table.rst",
            category="5 Outliers",
            labels={"what": "{study}: table"},
        ),
    log:
        LOGS / "outliers" / "draw_{study}.log",
    conda:
        "../../environment.yml"
    params:
        names=outlier_names(),
        code=code_digest("joints.render.outlier_figures", "joints.render.tables"),
        style=style_digest(),
    script:
        "../scripts/draw_outliers.py"
