"""Means and intervals of one dataset."""

from joints import log

log.start(snakemake.log[0])

from joints.scores import read_tables, write_table
from joints.summarise import dataset_table, means

table = means(read_tables(snakemake.input.scores), snakemake.params.methods)
write_table(table, snakemake.output.means)
write_table(dataset_table(table, snakemake.params.columns), snakemake.output.ci)
