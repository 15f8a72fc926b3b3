"""The figure of the simulations."""

from joints.runtime import job

job.begin(snakemake)

from joints.render.saving import save_all
from joints.render.theory_figure import theory_figure
from joints.runtime.files import read_csv

figure = theory_figure(read_csv(snakemake.input.table))
save_all(figure, [snakemake.output.figure, *snakemake.output.others])
