"""Say in a few lines what the run has made."""

from joints import log

log.start(snakemake.log[0])

import pandas as pd

from joints.data.details import summary
from joints.files import write_text

write_text(snakemake.output[0], summary(pd.read_csv(snakemake.input.datasets)))
