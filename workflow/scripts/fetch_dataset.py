"""Fetch the raw table of one dataset and record where it came from."""

from joints.runtime import job

job.begin(snakemake)

from joints.data.fetch import fetch
from joints.data.raw import write_raw
from joints.data.sources import Settings
from joints.runtime.files import write_json

settings = Settings.read(snakemake.config)
table, record = fetch(snakemake.wildcards.dataset, snakemake.params.sources, snakemake.params.columns, settings)
write_raw(table, snakemake.output.table)
write_json(snakemake.output.record, record)
