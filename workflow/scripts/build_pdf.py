"""All tables and figures as one PDF."""

from joints.runtime import log

log.start(snakemake.log[0])

from joints.render.pdf import build

run, datasets = snakemake.params.run, snakemake.params.datasets
build(run, f"results/{run}", f"figures/{run}", datasets, snakemake.output[0])
