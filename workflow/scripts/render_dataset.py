"""The figure and the tables of one dataset."""

from joints.runtime import job

job.begin(snakemake)

from joints.render.figures import dataset_figure
from joints.render.saving import save_all
from joints.render.summary import labels_of
from joints.render.tables import dataset_tables, to_html, to_latex
from joints.runtime.files import read_csv, write_csv, write_text
from joints.study.summarise import at, dataset_table, repetitions_sentence

params, output, metric = snakemake.params, snakemake.output, snakemake.params.view.metric
means = at(read_csv(snakemake.input.means), **params.view.keys)
tables = dataset_tables(means, params.methods, metric)
what = f"{metric.title} by percentage of missing values at test time, with 95 % confidence intervals.  "
write_csv(output.ci, dataset_table(means, params.columns, metric))
write_text(output.tex, to_latex(tables))
datasets = {snakemake.wildcards.dataset: params.label}
note = what + repetitions_sentence(means, labels_of(params.methods), datasets)
write_text(output.html, to_html(tables, params.label, note))
save_all(dataset_figure(means, params.methods, metric), [output.figure, *output.others])
