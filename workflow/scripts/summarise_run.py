"""Say in a few lines what the run has made."""

from joints.runtime import log

log.start(snakemake.log[0])

import pandas as pd

from joints.render.summary import summary
from joints.runtime.files import write_text

datasets, agreement = pd.read_csv(snakemake.input.datasets), pd.read_csv(snakemake.input.agreement)
outliers = [pd.read_csv(path) for path in snakemake.input.outliers]
text = summary(snakemake.params.run, datasets, agreement, snakemake.params.labels, outliers)
write_text(snakemake.output[0], text)
