"""Grow the forests of some repetitions, which all methods share."""

from joints import log

log.start(snakemake.log[0])

from joints.data.dataset import Dataset
from joints.growing import grow
from joints.protocol import Protocol

grow(
    Dataset.load(snakemake.input.dataset),
    Protocol(**snakemake.params.protocol),
    snakemake.params.repetitions,
    snakemake.params.forest,
    snakemake.output.forests,
    n_jobs=snakemake.threads,
)
