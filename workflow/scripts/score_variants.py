"""Score the variants of the ablation on one dataset."""

from joints.runtime import job

job.begin(snakemake)

from joints.data.dataset import Dataset
from joints.runtime.resume import for_all, write_in_parts
from joints.study.ablation.scoring import forests_of_variants, score_variant
from joints.study.entries import find, make

params, data = snakemake.params, Dataset.load(snakemake.input.dataset)
mechanisms = {params.mechanism.name: make(params.mechanism.cls, params.mechanism.parameters)}
metrics = {metric: find(function) for metric, function in params.metrics.items()}
forests = forests_of_variants(data, params.protocol, snakemake.threads)


def write(forest, models, code, output):
    study = (params.repetitions, forests(forest), models, mechanisms, metrics, snakemake.threads)
    settings = (params.protocol, params.repetitions, forest, models, params.mechanism, params.metrics, code)
    parts = {"all": (data, params.protocol, *study)}
    write_in_parts([output], score_variant, parts, settings, snakemake.input)


for_all(write, params.variants, snakemake.output.scores)
