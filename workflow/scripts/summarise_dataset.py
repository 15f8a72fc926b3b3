"""Means and intervals of one dataset."""

from joints.runtime import log

log.start(snakemake.log[0])

from joints.runtime.files import write_csv
from joints.study.scores import read_scores
from joints.study.summarise import means

methods = snakemake.params.methods
write_csv(
    snakemake.output.means, means(read_scores(snakemake.input.scores, methods), list(methods), snakemake.params.metrics)
)
