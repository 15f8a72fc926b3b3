"""Score the answers of some models on one dataset, model by model and repetition by repetition."""

from joints.runtime import job

job.begin(snakemake)

from joints.data.dataset import Dataset
from joints.runtime.resume import for_all, write_in_parts
from joints.study.entries import find_all, make, make_all
from joints.study.evaluate import score
from joints.study.forests import forests_from

files, params, output, data = snakemake.input, snakemake.params, snakemake.output, Dataset.load(snakemake.input.dataset)
forest_of = forests_from(files.forests, data, params.protocol, params.forest, snakemake.threads)
study = (forest_of, make_all(params.mechanisms), find_all(params.metrics), snakemake.threads, bool(params.forest))


def write(model, repetitions, code, *outputs):
    made = (make(model.cls, model.parameters), model.name, *study)
    settings = (params.protocol, model, params.mechanisms, params.forest, params.metrics, code)
    parts = {r: (data, params.protocol, [r], *made) for r in repetitions}
    write_in_parts(outputs, score, parts, settings, files)


for_all(write, params.models, output.scores, output.seconds, output.confidence)
