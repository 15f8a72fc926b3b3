"""The tables about all datasets together."""

from joints.runtime import log

log.start(snakemake.log[0])

import pandas as pd

from joints.render.summary import write_study

frames = {name: pd.read_csv(path) for name, path in snakemake.input.items()}
labels, columns = snakemake.params.labels, snakemake.params.columns
write_study(frames, labels, columns, snakemake.output.html, snakemake.output.tex)
