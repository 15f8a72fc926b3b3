"""Summarise the run in a few lines."""

from joints.runtime import job

job.begin(snakemake)

from joints.render.summary import summary
from joints.runtime.files import read_csv, write_text

files, params = snakemake.input, snakemake.params
study = (params.methods, params.view, params.rate, params.gain_figure)
outliers = [read_csv(path) for path in files.outliers]
text = summary(params.run, read_csv(files.table1), read_csv(files.agreement), *study, outliers)
write_text(snakemake.output[0], text)
