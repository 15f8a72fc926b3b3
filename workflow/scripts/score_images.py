"""Models of one dataset of images, evaluated on its test images and on foreign ones."""

from joints.runtime import job

job.begin(snakemake)

from pathlib import Path

from joints.data.dataset import Dataset
from joints.study.outliers.signals import write_signals
from joints.study.outliers.studies import foreign_digits

signals = foreign_digits(
    Dataset.load(snakemake.input.dataset),
    snakemake.params.foreign,
    {Path(path).stem: path for path in snakemake.input.foreign},
    **snakemake.params.settings,
    n_jobs=snakemake.threads,
)
write_signals(signals, snakemake.output.signals)
