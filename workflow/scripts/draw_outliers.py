"""The figure of one outlier study."""

from joints import log

log.start(snakemake.log[0])

from joints.outliers.studies import read_signals
from joints.render.outliers import outlier_figure
from joints.render.saving import save_all

figure = outlier_figure(snakemake.wildcards.study, read_signals(snakemake.input.signals), snakemake.params.names)
save_all(figure, snakemake.output)
