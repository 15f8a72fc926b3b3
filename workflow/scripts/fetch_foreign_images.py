"""Fetch a dataset of foreign images, or record why it is left out."""

from joints.runtime import job

job.begin(snakemake)

from joints.data.sources import Settings
from joints.study.outliers.foreign import fetch_images, save_images

settings = Settings.read(snakemake.config)
images, reason = fetch_images(snakemake.params.entry, snakemake.params.sources, settings)
save_images(images, reason, snakemake.output.images)
