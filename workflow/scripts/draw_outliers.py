"""The figure and the table of one outlier study."""

from joints.runtime import job

job.begin(snakemake)

from joints.render.outlier_figures import outlier_figure
from joints.render.saving import save_all
from joints.render.tables import outlier_tables, to_html
from joints.runtime.files import read_csv, write_text
from joints.study.outliers.signals import LABELS, read_signals

study, names, output = snakemake.wildcards.study, snakemake.params.names, snakemake.output
note = "In percent, with 95 % intervals over the repetitions; rows like the model's training data are the positives."
tables = outlier_tables(read_csv(snakemake.input.table), LABELS, names)
write_text(output.html, to_html(tables, f"Outliers: {study}", note))
figure = outlier_figure(study, read_signals(snakemake.input.signals), names)
save_all(figure, [output.figure, *output.others])
