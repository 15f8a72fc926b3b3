"""Say in a few lines what the run has made."""

from joints import log

log.start(snakemake.log[0])

import pandas as pd

from joints.files import write_text
from joints.render.study import summary

datasets, agreement = pd.read_csv(snakemake.input.datasets), pd.read_csv(snakemake.input.agreement)
outliers = [pd.read_csv(path) for path in snakemake.input.outliers]
text = summary(snakemake.params.run, datasets, agreement, snakemake.params.labels, outliers)
write_text(snakemake.output[0], text)
