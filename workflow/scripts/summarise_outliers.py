"""How well every method separates rows like a model's training data from foreign ones."""

from joints.runtime import job

job.begin(snakemake)

from pathlib import Path

import pandas as pd

from joints.runtime.files import write_csv
from joints.study.outliers.measures import summarise
from joints.study.outliers.signals import read_signals

tables = {Path(path).stem: summarise(read_signals(path)) for path in snakemake.input}
write_csv(snakemake.output[0], pd.concat(tables, names=["study", None]).reset_index("study"))
