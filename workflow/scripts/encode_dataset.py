"""Encode the raw table of one dataset, or of its parts, and check the paper's numbers."""

from joints.runtime import job

job.begin(snakemake)

from joints.data.encode import encode
from joints.data.raw import read_raw

tables = [read_raw(path) for path in snakemake.input.tables]
encode(snakemake.params.entry, tables).save(snakemake.output.dataset)
