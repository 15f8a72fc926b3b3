"""Encode the raw table of one dataset, or of its parts, and check the paper's numbers."""

from joints.runtime import log

log.start(snakemake.log[0])

from joints.data.catalogue import Entry
from joints.data.encode import encode
from joints.data.raw import read_table

entry = Entry.read(snakemake.wildcards.dataset, snakemake.params.entry)
tables = [read_table(path) for path in snakemake.input.tables]
encode(entry, tables).save(snakemake.output.dataset)
