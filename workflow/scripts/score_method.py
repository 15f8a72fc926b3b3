"""Score the answers of one model on some repetitions of one dataset, repetition by repetition."""

from joints.runtime import log

log.start(snakemake.log[0])

from joints.data.dataset import Dataset
from joints.runtime.files import csv_text
from joints.runtime.resume import write_in_parts
from joints.study.entries import find, make, make_all
from joints.study.evaluate import score
from joints.study.forests import from_folders, grown_each_time

files, params, threads, data = snakemake.input, snakemake.params, snakemake.threads, Dataset.load(snakemake.input[0])
metrics = {metric: find(function) for metric, function in params.metrics.items()}
own = params.forest and grown_each_time(data, params.protocol, params.forest, threads)
study = (own or from_folders(files.forests), make_all(params.mechanisms), metrics, threads, bool(own))
model = make(params.model.cls, params.model.parameters), params.model.name


def compute(repetition):
    return [csv_text(table) for table in score(data, params.protocol, [repetition], *model, *study)]


write_in_parts(snakemake.output, params.repetitions, compute, list(params), files)
