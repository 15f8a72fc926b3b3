"""Simulations of the paper's statements about imputation and consistency."""

from joints.runtime import job

job.begin(snakemake)

from joints.runtime.files import write_csv
from joints.study.theory import simulate

found = simulate(**snakemake.params.settings, n_jobs=snakemake.threads)
write_csv(snakemake.output.table, found)
