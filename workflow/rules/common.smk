# Everything that the rules share: the configuration, the catalogue, paths, and functions of wildcards.
# No other rule file has functions.

import os
import sys
from pathlib import Path

# Jobs run the code of this folder, also in an environment in which the package is not installed.
SOURCE_CODE = Path(workflow.basedir) / "src"
sys.path.insert(0, str(SOURCE_CODE))
os.environ.update(
    PYTHONPATH=os.pathsep.join(
        filter(None, [str(SOURCE_CODE), os.environ.get("PYTHONPATH")])
    )
)

from joints.config import read_yaml, validate
from joints.data.catalogue import check_run, entries
from joints.errors import JointsError
from joints.fingerprint import code_digest

SCHEMAS = Path(workflow.basedir) / "workflow" / "schemas"


def shown(path):
    """A path as people name it: relative to the working directory where it is inside of it."""
    path = Path(path)
    here = Path.cwd()
    return str(path.relative_to(here)) if path.is_relative_to(here) else str(path)


def load_run():
    """Validate the configuration and the catalogue before anything runs; returns the catalogue's entries."""
    schema = read_yaml(SCHEMAS / "config.schema.yaml")
    files = [shown(path) for path in workflow.configfiles]
    for path in files:
        validate(read_yaml(path), schema, path)
    validate(config, schema, "the configuration with what the command line adds")
    catalogue_file = config["catalogue"]
    catalogue = read_yaml(catalogue_file)
    validate(catalogue, read_yaml(SCHEMAS / "datasets.schema.yaml"), catalogue_file)
    found = entries(catalogue, catalogue_file)
    check_run(
        config["datasets"],
        config["fetch"]["sources"],
        found,
        files[-1],
        catalogue_file,
    )
    return found


try:
    CATALOGUE = load_run()
except JointsError as error:
    sys.exit(
        f"Error: {error}."
    )  # a WorkflowError would hide the sentence among others, or show nothing with --quiet

DATASETS = config["datasets"]
RESULTS = Path("results") / config["run"]
FIGURES = Path("figures") / config["run"]
LOGS = RESULTS / "logs"


wildcard_constraints:
    dataset="[a-z][a-z0-9_]*",


def parts_of(dataset):
    """The datasets that have to be fetched for a dataset: itself, or the parts that it is made of."""
    return list(CATALOGUE[dataset].parts) or [dataset]


def raw_tables(wildcards):
    return [RESULTS / "raw" / f"{part}.parquet" for part in parts_of(wildcards.dataset)]


def all_raw_tables(wildcards):
    fetched = dict.fromkeys(part for name in DATASETS for part in parts_of(name))
    return [RESULTS / "raw" / f"{part}.parquet" for part in fetched]


def all_records(wildcards):
    fetched = dict.fromkeys(part for name in DATASETS for part in parts_of(name))
    return [RESULTS / "raw" / f"{part}.json" for part in fetched]


def own_files(wildcards):
    """The user's own files among the sources of a dataset: an edit of one makes the dataset stale."""
    return [
        source["csv"]["path"]
        for source in CATALOGUE[wildcards.dataset].sources
        if "csv" in source and Path(source["csv"]["path"]).is_file()
    ]


def sources_of(wildcards):
    """The sources of a dataset that the run allows."""
    allowed = config["fetch"]["sources"]
    return [
        dict(source)
        for source in CATALOGUE[wildcards.dataset].sources
        if set(source) <= set(allowed)
    ]


def columns_of(wildcards):
    return CATALOGUE[wildcards.dataset].named_columns()


def encoding_of(wildcards):
    """What the catalogue says about a dataset, apart from where it comes from."""
    return entry_content(wildcards.dataset, without=("sources",))


def description_of(wildcards):
    return {name: entry_content(name, without=("sources",)) for name in DATASETS}


def entry_content(name, without=()):
    entry = vars(CATALOGUE[name])
    return {key: entry[key] for key in entry if key not in (*without, "name")}
