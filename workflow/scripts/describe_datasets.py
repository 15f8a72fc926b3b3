"""Write the table of all datasets of the run."""

from joints.runtime import log

log.start(snakemake.log[0])

import json
from pathlib import Path

from joints.data.catalogue import Entry
from joints.data.dataset import Dataset
from joints.data.details import details, write_csv, write_latex

entries = [Entry.read(name, content) for name, content in snakemake.params.entries.items()]
datasets = [Dataset.load(path) for path in snakemake.input.datasets]
records = {Path(path).stem: json.loads(Path(path).read_text()) for path in snakemake.input.records}
table = details(entries, datasets, [[records[part] for part in entry.parts or [entry.name]] for entry in entries])
write_csv(table, snakemake.output.csv)
write_latex(table, snakemake.output.tex)
