# The paper as a workflow: catalogue row -> table of numbers -> scores -> the paper's tables and figures.
#
#   snakemake --cores all                                     the paper (config/config.yaml)
#   snakemake --configfile config/quick.yaml --cores all      a first look
#   snakemake --cores all fetch                               downloads only; everything else then works offline
#
# A configuration is one complete file: the one given on the command line, or else config/config.yaml.

from snakemake.utils import min_version

min_version("9.20")


if not workflow.configfiles:

    configfile: "config/config.yaml"


include: "workflow/rules/common.smk"
include: "workflow/rules/data.smk"
include: "workflow/rules/experiment.smk"
include: "workflow/rules/outliers.smk"
include: "workflow/rules/ablation.smk"
include: "workflow/rules/artefacts.smk"


# One target an artefact; `all` is what is made when none is named.


rule fetch:
    input:
        all_raw_tables,
        outlier_raw_tables,
        foreign_files,


rule datasets:
    input:
        RESULTS / "datasets.csv",
        RESULTS / "datasets.tex",


rule scores:
    input:
        all_scores,
        expand(RESULTS / "ci" / "{dataset}.csv", dataset=DATASETS),


rule tables:
    input:
        table_files(),
        RESULTS / "table1.csv",


rule figures:
    input:
        figure_files(),


rule agreement:
    input:
        RESULTS / "agreement.csv",
        FIGURES / "agreement.pdf",
        RESULTS / "tables" / "agreement.html",


rule outliers:
    input:
        outlier_files(),


rule ablation:
    input:
        ablation_files(),


rule summary:
    input:
        RESULTS / "summary.txt",


rule artefacts:
    input:
        rules.datasets.input,
        rules.scores.input,
        report_inputs,


rule report:
    input:
        RESULTS / "report.html",


rule pdf:
    input:
        RESULTS / "study.pdf",


rule all:
    default_target: True
    input:
        rules.artefacts.input,
        rules.report.input,
