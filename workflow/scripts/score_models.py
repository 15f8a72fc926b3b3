"""Score the answers of some models on one dataset, model by model and repetition by repetition."""

from joints.runtime import job

job.begin(snakemake)

from joints.data.dataset import Dataset
from joints.runtime.resume import for_all, write_in_parts
from joints.study.entries import find, make
from joints.study.evaluate import score
from joints.study.forests import from_folders

files, params, data = snakemake.input, snakemake.params, Dataset.load(snakemake.input.dataset)
mechanisms = {params.mechanism.name: make(params.mechanism.cls, params.mechanism.parameters)}
metrics = {metric: find(function) for metric, function in params.metrics.items()}


def write(model, repetitions, code, *outputs):
    study = (make(model.cls, model.parameters), model.name, from_folders(files.forests), mechanisms, metrics)
    settings = (params.protocol, model, params.mechanism, params.metrics, code)
    parts = {r: (data, params.protocol, [r], *study, snakemake.threads) for r in repetitions}
    write_in_parts(outputs, score, parts, settings, [files.dataset, *files.forests])


for_all(write, params.models, snakemake.output.scores, snakemake.output.seconds)
