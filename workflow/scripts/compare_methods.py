"""All datasets together: means, gains over the reference, agreement with the paper, and statistics."""

from joints.runtime import log

log.start(snakemake.log[0])

import pandas as pd

from joints.runtime.files import write_csv
from joints.study import statistics, summarise
from joints.study.scores import read_scores

output, params = snakemake.output, snakemake.params
methods, metrics = list(params.methods), params.metrics
shown = [entry for entry in params.methods.values() if entry.shown]
means = pd.concat([pd.read_csv(path) for path in snakemake.input.means], ignore_index=True)
datasets, paper = pd.read_csv(snakemake.input.datasets), pd.read_csv(snakemake.input.paper)
scores = read_scores(snakemake.input.scores, params.methods)
comparisons = statistics.comparisons(scores, methods, params.reference, metrics)
of_paper = summarise.at(means, **params.view.keys, rate=params.rate)
write_csv(output.means, means)
write_csv(output.gains, summarise.gains(scores, params.rivals, metrics))
order = summarise.in_file_order(shown, paper.columns)
write_csv(output.agreement, summarise.agreement(of_paper, datasets, paper, order))
write_csv(output.ranks, statistics.ranks(scores, [entry.name for entry in shown], metrics))
write_csv(output.comparisons, comparisons)
write_csv(output.tally, statistics.tally(comparisons))
