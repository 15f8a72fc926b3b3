"""The figures about all datasets together."""

from joints.runtime import job

job.begin(snakemake)

from joints.render.figures import gain_figure, rank_figure
from joints.render.saving import save_all
from joints.render.summary import labels_of
from joints.runtime.files import read_csv
from joints.study.summarise import at

params, output, view = snakemake.params, snakemake.output, snakemake.params.view
gains, ranks = (at(read_csv(path), **view.keys) for path in snakemake.input)
save_all(gain_figure(gains, params.methods, params.reference, view.metric), [output.gains, *output.other_gains])
save_all(rank_figure(ranks, labels_of(params.methods)), [output.ranks, *output.other_ranks])
