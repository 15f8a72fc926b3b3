"""All datasets together: Table 1, gains over KNN, agreement with the paper, and statistics."""

from joints.runtime import log

log.start(snakemake.log[0])

import pandas as pd

from joints.study import statistics, summarise
from joints.study.scores import read_tables, write_table

output, methods, columns = snakemake.output, snakemake.params.methods, snakemake.params.columns
means = pd.concat([pd.read_csv(path) for path in snakemake.input.means], ignore_index=True)
datasets, paper = pd.read_csv(snakemake.input.datasets), pd.read_csv(snakemake.input.paper)
scores = read_tables(snakemake.input.scores)
comparisons = statistics.comparisons(scores, methods)
write_table(means, output.means)
write_table(summarise.table1(means, datasets, columns), output.table1)
write_table(summarise.gains(scores, snakemake.params.rivals), output.gains)
write_table(summarise.agreement(means, datasets, paper, columns), output.agreement)
write_table(statistics.ranks(scores, snakemake.params.ranked), output.ranks)
write_table(comparisons, output.comparisons)
write_table(statistics.tally(comparisons), output.tally)
