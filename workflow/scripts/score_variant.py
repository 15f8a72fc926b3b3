"""Score one variant of the ablation on one dataset."""

from joints.runtime import job

job.begin(snakemake)

from joints.data.dataset import Dataset
from joints.runtime.files import write_csv
from joints.study.ablation.scoring import score_variant
from joints.study.entries import find, make

params, data = snakemake.params, Dataset.load(snakemake.input.dataset)
mechanisms = {params.mechanism.name: make(params.mechanism.cls, params.mechanism.parameters)}
metrics = {metric: find(function) for metric, function in params.metrics.items()}
study = (params.repetitions, params.forest, params.models, mechanisms, metrics, snakemake.threads)
write_csv(snakemake.output.scores, score_variant(data, params.protocol, *study))
