"""The figures of the modern study."""

from joints.runtime import job

job.begin(snakemake)

from pathlib import Path

import pandas as pd

from joints.render.modern_figures import modern_figures
from joints.render.saving import save

frames, params = {name: pd.read_csv(path) for name, path in snakemake.input.items()}, snakemake.params
study = (params.methods, list(params.mechanisms.values()), params.datasets, params.view, params.rate)
figures = modern_figures(frames, *study)
for path in snakemake.output:
    save(figures[Path(path).stem], path)
