"""Write the table of all datasets of the run."""

from joints.runtime import job

job.begin(snakemake)

import json
from pathlib import Path

from joints.data.dataset import Dataset
from joints.data.details import details
from joints.render.tables import dataset_details, details_to_latex, to_html
from joints.runtime.files import write_csv, write_text

entries, output = snakemake.params.entries, snakemake.output
datasets = [Dataset.load(path) for path in snakemake.input.datasets]
records = {Path(path).stem: json.loads(Path(path).read_text()) for path in snakemake.input.records}
table = details(entries, datasets, [[records[part] for part in entry.parts or [entry.name]] for entry in entries])
write_csv(output.csv, table)
write_text(output.tex, details_to_latex(table))
write_text(output.html, to_html([dataset_details(table)], "The datasets"))
