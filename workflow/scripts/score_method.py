"""Score the answers of one model on some repetitions of one dataset, repetition by repetition."""

from joints.runtime import job

job.begin(snakemake)

from joints.data.dataset import Dataset
from joints.runtime.files import csv_text
from joints.runtime.resume import write_in_parts
from joints.study.entries import find, make
from joints.study.evaluate import score
from joints.study.forests import from_folders

files, params, data = snakemake.input, snakemake.params, Dataset.load(snakemake.input.dataset)
mechanisms = {params.mechanism.name: make(params.mechanism.cls, params.mechanism.parameters)}
metrics = {metric: find(function) for metric, function in params.metrics.items()}
model = make(params.model.cls, params.model.parameters)
study = (model, params.model.name, from_folders(files.forests), mechanisms, metrics, snakemake.threads)


def compute(repetition):
    return [csv_text(table) for table in score(data, params.protocol, [repetition], *study)]


write_in_parts(snakemake.output, params.repetitions, compute, list(params), [files.dataset, *files.forests])
