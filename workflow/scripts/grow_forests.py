"""Grow the forests of some repetitions, which all methods share."""

from joints.runtime import job

job.begin(snakemake)

from joints.data.dataset import Dataset
from joints.runtime.files import write_csv
from joints.study.forests import grow_into

params, data = snakemake.params, Dataset.load(snakemake.input.dataset)
folder, n_jobs = snakemake.output.forests, snakemake.threads
seconds = grow_into(folder, data, params.protocol, params.repetitions, params.forest, n_jobs)
write_csv(snakemake.output.seconds, seconds)
