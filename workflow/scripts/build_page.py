"""The page of the run, which opens without a server."""

from joints.runtime import job

job.begin(snakemake)

import json
from pathlib import Path

from joints.render.results_page import Study, results_page
from joints.runtime.files import read_csv, write_text

files, params = snakemake.input, snakemake.params
study = Study(**{name: getattr(params, name) for name in Study._fields})
paths = [Path(path) for path in files if Path(path).suffix == ".csv"]
frames = {path.stem: read_csv(path) for path in paths}
figures = dict(zip(params.studies, files.figures, strict=True))
provenance = json.loads(Path(files.provenance).read_text(encoding="utf-8"))
write_text(snakemake.output[0], results_page(study, frames, figures, provenance, params.files))
