"""What every model costs, and how far its confidences can be trusted."""

from joints.runtime import job

job.begin(snakemake)

from joints.runtime.files import write_csv
from joints.study.entries import find
from joints.study.modern import costs, read_tables, reliability
from joints.study.scores import read_seconds

files, params = snakemake.input, snakemake.params
needs_forest = {name: find(cls).needs_forest for name, cls in params.classes.items()}
found = costs(read_seconds(files.seconds), read_tables(files.forests), needs_forest, params.mechanism)
write_csv(snakemake.output.costs, found)
write_csv(snakemake.output.reliability, reliability(read_tables(files.confidence), params.methods))
