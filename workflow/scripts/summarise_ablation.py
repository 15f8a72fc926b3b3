"""Compare every variant of the ablation with the study."""

from joints.runtime import job

job.begin(snakemake)

from joints.render.ablation_table import write_differences
from joints.runtime.files import write_csv
from joints.study.ablation.differences import differences, read_variants
from joints.study.scores import read_scores
from joints.study.summarise import at

files, output, params = snakemake.input, snakemake.output, snakemake.params
variants = read_variants(files.variants, params.variants, params.methods, params.variant_protocols, params.repetitions)
scores = read_scores(files.compared, params.methods, params.protocols)
table = differences(variants, scores, params.labels, params.metrics)
write_csv(output.table, table)
labels = {name: entry.label for name, entry in params.methods.items()}
shown = at(table, metric=params.view.metric.name)
write_differences(shown, labels, params.datasets, params.view.metric, output.html, output.tex)
