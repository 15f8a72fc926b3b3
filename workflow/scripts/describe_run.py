"""Record where the run's data came from, what computed the results, and how long it took."""

from joints.runtime import job

job.begin(snakemake)

import json
from pathlib import Path

from joints.render.provenance import page, record, total_seconds
from joints.runtime.files import write_csv, write_json, write_text
from joints.study.scores import read_seconds

seconds = read_seconds(snakemake.input.seconds)
records = {Path(path).stem: json.loads(Path(path).read_text()) for path in snakemake.input.records}
write_csv(snakemake.output.seconds, seconds)
totals = total_seconds(seconds)
write_json(snakemake.output.json, record(snakemake.params.settings, records, totals))
write_text(snakemake.output.html, page(records, totals, snakemake.params.labels, snakemake.params.datasets))
