"""Score one variant of the ablation on one dataset."""

from joints.runtime import log

log.start(snakemake.log[0])

from joints.data.dataset import Dataset
from joints.study.ablation.scoring import score_variant
from joints.study.protocol import Protocol
from joints.study.scores import write_table

scores = score_variant(
    Dataset.load(snakemake.input.dataset),
    Protocol(**snakemake.params.protocol),
    snakemake.params.repetitions,
    snakemake.params.forest,
    snakemake.params.models,
    n_jobs=snakemake.threads,
)
write_table(scores, snakemake.output.scores)
