"""All datasets together: scores in one file, means, gains over the reference, agreement with the paper, statistics."""

from joints.runtime import job

job.begin(snakemake)

import pandas as pd

from joints.runtime.files import read_csv, write_csv
from joints.study.compare import comparison_tables
from joints.study.scores import read_scores, write_scores

files, params = snakemake.input, snakemake.params
means = pd.concat([read_csv(path) for path in files.means], ignore_index=True)
scores = read_scores(files.scores, params.methods, params.protocols)
write_scores(snakemake.output.scores, scores, params.mechanisms)
frames = (scores, means, read_csv(files.datasets), read_csv(files.paper))
study = (params.methods, params.metrics, params.reference, params.rivals, params.view, params.rate)
for name, table in {"means": means, **comparison_tables(*frames, *study)}.items():
    write_csv(snakemake.output[name], table)
