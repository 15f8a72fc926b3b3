"""The figure of the simulations."""

from joints.runtime import log

log.start(snakemake.log[0])

import pandas as pd

from joints.render.saving import save_all
from joints.render.theory_figure import theory_figure

figure = theory_figure(pd.read_csv(snakemake.input.table))
save_all(figure, [snakemake.output.figure, *snakemake.output.others])
