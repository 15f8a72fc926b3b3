"""Every variant of the ablation beside the study."""

from joints.runtime import log

log.start(snakemake.log[0])

from joints.render.ablation_table import write_differences
from joints.study.ablation.differences import differences, read_variants
from joints.study.scores import read_tables, write_table

input, output, params = snakemake.input, snakemake.output, snakemake.params
table = differences(read_variants(input.variants), read_tables(input.published), params.variants)
write_table(table, output.table)
write_differences(table, params.methods, params.datasets, output.html, output.tex)
