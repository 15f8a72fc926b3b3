"""The figures about all datasets together."""

from joints.runtime import log

log.start(snakemake.log[0])

import pandas as pd

from joints.render import figures
from joints.render.saving import save_all

labels, given = snakemake.params.labels, {name: pd.read_csv(path) for name, path in snakemake.input.items()}
drawn = {
    "againstKNN": figures.gain_figure(given["gains"], labels),
    "agreement": figures.agreement_figure(given["agreement"], labels),
    "ranks": figures.rank_figure(given["ranks"], labels),
}
for name, figure in drawn.items():
    save_all(figure, [path for path in snakemake.output if f"/{name}." in path])
