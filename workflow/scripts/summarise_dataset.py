"""Means and intervals of one dataset."""

from joints.runtime import job

job.begin(snakemake)

from joints.runtime.files import write_csv
from joints.study.scores import read_scores
from joints.study.summarise import means

params = snakemake.params
scores = read_scores(snakemake.input.scores, params.methods, params.protocols)
write_csv(snakemake.output.means, means(scores, list(params.methods), params.metrics))
