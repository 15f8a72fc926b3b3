"""Where the run's data came from, what computed the results, and the time it took."""

from joints import log

log.start(snakemake.log[0])

import json
from pathlib import Path

from joints.files import write_text
from joints.render.provenance import page, total_seconds
from joints.scores import read_tables, write_table

seconds = read_tables(snakemake.input.seconds)
records = {Path(path).stem: json.loads(Path(path).read_text()) for path in snakemake.input.records}
write_table(seconds, snakemake.output.seconds)
write_text(snakemake.output.html, page(records, total_seconds(seconds), snakemake.params.labels))
