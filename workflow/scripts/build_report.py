"""Make Snakemake's own report of the run, by an inner call that needs no lock because it runs no jobs."""

from joints.runtime import job

job.begin(snakemake)

from joints.render.snakemake_report import write_report

write_report(snakemake.output[0], snakemake.params.configuration)
