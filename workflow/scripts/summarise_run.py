"""Say in a few lines what the run has made."""

from joints import log

log.start(snakemake.log[0])

import pandas as pd

from joints.files import write_text
from joints.render.study import summary

given = {name: pd.read_csv(path) for name, path in snakemake.input.items()}
text = summary(snakemake.params.run, given["datasets"], given["agreement"], snakemake.params.labels)
write_text(snakemake.output[0], text)
