"""Encode the raw table of one dataset, or of its parts, and check the paper's numbers."""

from joints.runtime import log

log.start(snakemake.log[0])

from joints.data.encode import encode
from joints.data.raw import read_raw

tables = [read_raw(path) for path in snakemake.input.tables]
encode(snakemake.params.entry, tables).save(snakemake.output.dataset)
