"""Summarise the run in a few lines."""

from joints.runtime import log

log.start(snakemake.log[0])

import pandas as pd

from joints.render.summary import summary
from joints.runtime.files import write_text

files, params = snakemake.input, snakemake.params
study = (params.methods, params.view, params.rate, params.gain_figure)
outliers = [pd.read_csv(path) for path in files.outliers]
write_text(
    snakemake.output[0], summary(params.run, pd.read_csv(files.table1), pd.read_csv(files.agreement), *study, outliers)
)
