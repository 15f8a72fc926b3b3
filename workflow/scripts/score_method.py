"""Score the methods of one model on some repetitions of one dataset."""

from joints.runtime import log

log.start(snakemake.log[0])

from joints.data.dataset import Dataset
from joints.study.evaluate import score
from joints.study.methods import make
from joints.study.protocol import Protocol
from joints.study.scores import write_table

method = snakemake.params.method
scores, seconds = score(
    Dataset.load(snakemake.input.dataset),
    Protocol(**snakemake.params.protocol),
    snakemake.params.repetitions,
    make(method["cls"], method["parameters"]),
    snakemake.wildcards.model,
    method["answers"],
    snakemake.input.forests,
    n_jobs=snakemake.threads,
)
write_table(seconds, snakemake.output.seconds)
write_table(scores, snakemake.output.scores)
