"""All tables and figures as one PDF."""

from joints import log

log.start(snakemake.log[0])

from joints.render.document import build

run, datasets = snakemake.params.run, snakemake.params.datasets
build(run, f"results/{run}", f"figures/{run}", datasets, snakemake.output[0])
