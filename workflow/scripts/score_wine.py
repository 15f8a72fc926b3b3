"""Models of two datasets, each evaluated on the test rows of both."""

from joints.runtime import job

job.begin(snakemake)

from joints.data.dataset import Dataset
from joints.study.outliers.signals import write_signals
from joints.study.outliers.studies import exchange

datasets = [Dataset.load(path) for path in snakemake.input.datasets]
signals = exchange(datasets, **snakemake.params.settings, n_jobs=snakemake.threads)
write_signals(signals, snakemake.output.signals)
