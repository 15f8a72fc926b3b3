# The paper as a workflow: catalogue entry -> arrays -> scores -> the paper's tables and figures.
#
#   snakemake --cores all                                     the paper (config/config.yaml)
#   snakemake --configfile config/quick.yaml --cores all      a first look
#   snakemake --cores all fetch                               downloads only; everything else then works offline
#
# The configuration is the file given on the command line, with everything it extends, or config/config.yaml.

from snakemake.utils import min_version

min_version("9.20")


if not workflow.configfiles:

    configfile: "config/config.yaml"


include: "workflow/rules/common.smk"
include: "workflow/rules/data.smk"
include: "workflow/rules/experiment.smk"
include: "workflow/rules/outliers.smk"
include: "workflow/rules/ablation.smk"
include: "workflow/rules/theory.smk"
include: "workflow/rules/artefacts.smk"
include: "workflow/rules/modern.smk"


# One named target per artefact; `all` is the default.


rule fetch:
    input:
        PLAN.all_raw_tables,
        PLAN.foreign_files,


rule datasets:
    input:
        FILES.results / "datasets.csv",
        FILES.results / "datasets.tex",
        FILES.results / "tables" / "datasets.html",


rule scores:
    input:
        PLAN.all_scores,
        expand(FILES.means, dataset=PLAN.names),


rule tables:
    input:
        PLAN.table_files,
        PLAN.data_files,


rule figures:
    input:
        PLAN.figure_files,


rule agreement:
    input:
        FILES.results / "agreement.csv",
        FILES.figures / "agreement.pdf",
        FILES.results / "tables" / "agreement.html",


rule outliers:
    input:
        PLAN.outlier_files,


rule ablation:
    input:
        PLAN.ablation_files,


rule theory:
    input:
        PLAN.theory_files,


rule summary:
    input:
        FILES.summary,


rule page:
    input:
        FILES.home,


rule artefacts:
    input:
        rules.datasets.input,
        rules.scores.input,
        rules.tables.input,
        PLAN.report_inputs,


rule modern:
    input:
        PLAN.modern_files,


rule report:
    input:
        FILES.report,


rule pdf:
    input:
        FILES.pdf,


rule all:
    default_target: True
    input:
        rules.artefacts.input,
        rules.report.input,
