"""The figure and the table of one dataset."""

from joints.runtime import log

log.start(snakemake.log[0])

import pandas as pd

from joints.render.figures import dataset_figure
from joints.render.saving import save_all
from joints.render.tables import dataset_tables, to_html, to_latex
from joints.runtime.files import write_text
from joints.study.summarise import repetitions_sentence

labels, output = snakemake.params.labels, snakemake.output
means = pd.read_csv(snakemake.input.means)
tables = dataset_tables(means, labels)
note = "Accuracy per percent of missing values at test time with 95 % confidence intervals.  " + repetitions_sentence(
    means, labels
)
write_text(output.tex, to_latex(tables))
write_text(output.html, to_html(tables, snakemake.params.title, note))
save_all(dataset_figure(means, labels), [output.figure, *output.others])
