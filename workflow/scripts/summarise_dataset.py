"""Means and intervals of one dataset."""

from joints.runtime import log

log.start(snakemake.log[0])

from joints.study.scores import read_tables, write_table
from joints.study.summarise import dataset_table, means

table = means(read_tables(snakemake.input.scores), snakemake.params.methods)
write_table(table, snakemake.output.means)
write_table(dataset_table(table, snakemake.params.columns), snakemake.output.ci)
