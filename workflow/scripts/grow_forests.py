"""Grow the forests of some repetitions, which all methods share."""

from joints.runtime import log

log.start(snakemake.log[0])

from joints.data.dataset import Dataset
from joints.study.forests import grow
from joints.study.protocol import Protocol

grow(
    Dataset.load(snakemake.input.dataset),
    Protocol(**snakemake.params.protocol),
    snakemake.params.repetitions,
    snakemake.params.forest,
    snakemake.output.forests,
    n_jobs=snakemake.threads,
)
