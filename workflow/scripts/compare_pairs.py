"""Every method against every other and against the best imputation."""

from joints.runtime import job

job.begin(snakemake)

from joints.runtime.files import write_csv
from joints.study.modern import gains_over_best
from joints.study.pairs import pairs
from joints.study.scores import read_scores

params, output = snakemake.params, snakemake.output
scores = read_scores(snakemake.input.scores, params.methods, params.protocols)
shown = {name: entry for name, entry in params.methods.items() if entry.shown}
write_csv(output.gains, gains_over_best(scores, shown, params.metrics))
write_csv(output.pairs, pairs(scores, list(shown), params.metrics))
