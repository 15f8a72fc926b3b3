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


# One target an artefact; `all` is what is made when none is named.


rule fetch:
    input:
        all_raw_tables,


rule datasets:
    input:
        RESULTS / "datasets.csv",
        RESULTS / "datasets.tex",


rule scores:
    input:
        all_scores,
        expand(RESULTS / "ci" / "{dataset}.csv", dataset=DATASETS),


rule summary:
    input:
        RESULTS / "summary.txt",


rule all:
    default_target: True
    input:
        rules.datasets.input,
        rules.scores.input,
        rules.summary.input,
