"""All tables and figures as one PDF."""

from joints.runtime import job

job.begin(snakemake)

from joints.render.pdf import build

params, run = snakemake.params, snakemake.params.run
study = (params.gain_figure, params.reference, params.metric, params.rate)
build(run, f"results/{run}", f"figures/{run}", params.datasets, *study, snakemake.output[0])
