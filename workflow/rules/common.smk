# Everything that the rules share: the configuration, the catalogue, paths, and functions of wildcards.
# No other rule file has functions.

import functools
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

from joints.study.ablation.variants import (
    check_ablation,
    comparisons,
    datasets_of,
    models_of,
)
from joints.runtime.config import read_yaml, validate
from joints.data.catalogue import check_run, entries
from joints.errors import JointsError
from joints.patches.snakemake_locks import forget_killed_runs
from joints.runtime.files import sha256
from joints.runtime.fingerprint import code_digest
from joints.study.methods import answers_of, check_methods
from joints.study.methods import entries as method_entries
from joints.study.protocol import REFERENCE, Protocol, check_protocol

if workflow.is_main_process and not forget_killed_runs():
    print("joints: another run is at work in this folder", file=sys.stderr)

SCHEMAS = Path(workflow.basedir) / "workflow" / "schemas"


def shown(path):
    """A path as people name it: relative to the working directory where it is inside of it."""
    path = Path(path)
    here = Path.cwd()
    return str(path.relative_to(here)) if path.is_relative_to(here) else str(path)


def outlier_datasets():
    """The datasets that the outlier studies learn from."""
    studies = config.get("outliers", {})
    pairs = studies.get("wine", {}).get("datasets", {})
    images = [studies["images"]["dataset"]] if "images" in studies else []
    return list(
        dict.fromkeys([*(name for pair in pairs.values() for name in pair), *images])
    )


def foreign_datasets():
    """The datasets of images that the outlier studies only ask about."""
    kinds = config.get("outliers", {}).get("images", {}).get("foreign", [])
    return list(dict.fromkeys(kind["dataset"] for kind in kinds if "dataset" in kind))


def load_run():
    """Validate the configuration and the catalogues before anything runs; returns the entries of both."""
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
    # A foreign dataset whose sources the run does not allow is left out, like one that cannot be fetched.
    anywhere = [kind for entry in found.values() for kind in entry.kinds()]
    for names, allowed in (
        (outlier_datasets(), config["fetch"]["sources"]),
        (foreign_datasets(), anywhere),
    ):
        check_run(names, allowed, found, files[-1], catalogue_file, key="outliers")
    methods_file = config["methods_catalogue"]
    methods = read_yaml(methods_file)
    validate(methods, read_yaml(SCHEMAS / "methods.schema.yaml"), methods_file)
    methods = method_entries(methods, methods_file)
    check_methods(config["methods"], methods, files[-1], methods_file)
    check_protocol(
        config["protocol"],
        config["datasets"],
        config["methods"],
        [methods[name].model for name in config["methods"]],
        files[-1],
    )
    if "ablation" in config:
        check_ablation(config, methods, files[-1])
    return found, methods


try:
    CATALOGUE, METHODS = load_run()
except JointsError as error:
    sys.exit(
        f"Error: {error}."
    )  # a WorkflowError would hide the sentence among others, or show nothing with --quiet

DATASETS = config["datasets"]
RESULTS = Path("results") / config["run"]
FIGURES = Path("figures") / config["run"]
LOGS = RESULTS / "logs"


# A job of several repetitions takes at most about this many seconds on one core: starting one costs two.
SECONDS_PER_JOB = 120
SECONDS_TO_GROW = 1  # a forest of 100,000 cells, like `seconds` of the methods


wildcard_constraints:
    dataset="[a-z][a-z0-9_]*",
    model="[a-z][a-z0-9_]*",
    reading="[a-z][a-z0-9_]*",
    study="wine|images",
    variant="[a-z][a-z0-9_]*",
    repetitions="[0-9]+-[0-9]+",


def parts_of(dataset):
    """The datasets that have to be fetched for a dataset: itself, or the parts that it is made of."""
    return list(CATALOGUE[dataset].parts) or [dataset]


def raw_tables(wildcards):
    return [RESULTS / "raw" / f"{part}.parquet" for part in parts_of(wildcards.dataset)]


def all_raw_tables(wildcards):
    fetched = dict.fromkeys(part for name in DATASETS for part in parts_of(name))
    return [RESULTS / "raw" / f"{part}.parquet" for part in fetched]


def outlier_raw_tables(wildcards):
    fetched = dict.fromkeys(
        part for name in outlier_datasets() for part in parts_of(name)
    )
    return [RESULTS / "raw" / f"{part}.parquet" for part in fetched]


def all_records(wildcards):
    fetched = dict.fromkeys(part for name in DATASETS for part in parts_of(name))
    return [RESULTS / "raw" / f"{part}.json" for part in fetched]


def provenance_records(wildcards):
    """The records of everything that the run has read, for the outlier studies too."""
    more = [path.with_suffix(".json") for path in outlier_raw_tables(wildcards)]
    return list(dict.fromkeys([*all_records(wildcards), *more]))


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


def protocol_of(dataset, model=None):
    return Protocol.read(config["protocol"], dataset, model)


def fold_settings(wildcards):
    """What the forests of a repetition depend on."""
    protocol = protocol_of(wildcards.dataset)
    return {"seed": protocol.seed, "folds": protocol.folds}


def protocol_settings(wildcards):
    """What the scores of a repetition depend on: not how many repetitions there are."""
    return {**fold_settings(wildcards), "rates": protocol_of(wildcards.dataset).rates}


def models():
    """The models that the run's methods need, in the order of the methods."""
    return list(dict.fromkeys(METHODS[name].model for name in config["methods"]))


def model_settings(wildcards):
    """What the catalogue says about a model, apart from labels and costs."""
    entry = METHODS[wildcards.model]
    return {
        "cls": entry.cls,
        "parameters": dict(entry.parameters),
        "answers": answers_of(entry.name, METHODS),
    }


@functools.cache
def code_of(model):
    return code_digest("joints.study.evaluate", METHODS[model].module)


def model_code(wildcards):
    return code_of(wildcards.model)


def paper_columns():
    """Method -> the names of its mean and interval in the files that the paper's LaTeX reads."""
    return {
        entry.name: [entry.column, entry.interval]
        for entry in METHODS.values()
        if entry.column
    }


def seconds_per_fold(dataset, seconds):
    """A guess from the size that the catalogue promises; it decides about jobs and threads, never about results."""
    numbers = CATALOGUE[dataset].numbers
    features = numbers.get("categorical", 0) + numbers.get("continuous", 0)
    return seconds * numbers.get("n", 5000) * (features or 20) / 100_000


def pieces(dataset, seconds, model=None):
    """The repetitions of a dataset in pieces, each as `first-last`: of five, or of one where five take too long.

    Going from 5 repetitions to 10 keeps the pieces that there are, and what was computed for them.
    """
    protocol = protocol_of(dataset, model)
    five = seconds_per_fold(dataset, seconds) * protocol.folds * 5
    size = 5 if five <= SECONDS_PER_JOB else 1
    starts = range(1, protocol.repetitions + 1, size)
    return [
        f"{start}-{min(start + size - 1, protocol.repetitions)}" for start in starts
    ]


def members(repetitions):
    first, last = map(int, repetitions.split("-"))
    return list(range(first, last + 1))


def repetition_list(wildcards):
    return members(wildcards.repetitions)


def forests_of(wildcards):
    """The folders of forests that some repetitions need."""
    wanted = set(members(wildcards.repetitions))
    return [
        RESULTS / "forests" / wildcards.dataset / piece
        for piece in pieces(wildcards.dataset, SECONDS_TO_GROW)
        if wanted & set(members(piece))
    ]


def score_files(dataset, kind, used=None):
    """The files of a dataset's scores, or seconds, of all models of the run or of some."""
    return [
        RESULTS / kind / dataset / model / f"{piece}.csv"
        for model in used or models()
        for piece in pieces(dataset, METHODS[model].seconds, model)
    ]


def scores_of(wildcards):
    return score_files(wildcards.dataset, "scores")


def all_scores(wildcards):
    return [path for dataset in DATASETS for path in score_files(dataset, "scores")]


def all_seconds(wildcards):
    return [path for dataset in DATASETS for path in score_files(dataset, "seconds")]


def score_threads(wildcards):
    """One thread; two where even one repetition is a long job, so that no run ends waiting for a single core."""
    protocol = protocol_of(wildcards.dataset)
    seconds = METHODS[wildcards.model].seconds
    one = seconds_per_fold(wildcards.dataset, seconds) * protocol.folds
    return 2 if one > SECONDS_PER_JOB else 1


def memory(wildcards):
    """Megabytes: the program itself, the table, and a forest with the densities of its leaves."""
    return int(600 + 500 * seconds_per_fold(wildcards.dataset, 1))


def dataset_title(wildcards):
    entry = CATALOGUE[wildcards.dataset]
    return entry.title or entry.label


def method_labels():
    """Method -> label, for the methods of the run in their order."""
    return {name: METHODS[name].label for name in config["methods"]}


def shown_labels():
    """Method -> label, for the methods of the run that tables and figures show."""
    labels = method_labels()
    return {name: labels[name] for name in labels if METHODS[name].shown}


def rivals():
    """The methods that gains are measured over: KNN, and those that are in the run for comparison only."""
    return [
        REFERENCE,
        *(name for name in method_labels() if name not in shown_labels()),
    ]


def style_digest():
    """The look of the figures is part of what they depend on."""
    return sha256(SOURCE_CODE / "joints" / "render" / "paper.mplstyle")[:16]


def figure_files():
    names = [*DATASETS, "againstKNN", "agreement", "ranks"]
    return [
        FIGURES / f"{name}.{kind}" for name in names for kind in ("pgf", "pdf", "png")
    ]


def table_files():
    names = [*DATASETS, "table1", "agreement", "ranks", "tally"]
    return [
        RESULTS / "tables" / f"{name}.{kind}"
        for name in names
        for kind in ("html", "tex")
    ]


def report_inputs(wildcards):
    return [
        *figure_files(),
        *table_files(),
        *outlier_files(),
        *ablation_files(),
        RESULTS / "provenance.html",
        RESULTS / "summary.txt",
    ]


def outlier_studies():
    return list(config.get("outliers", {}))


def outlier_files():
    figures = [
        FIGURES / f"fx_{study}.{kind}"
        for study in outlier_studies()
        for kind in ("pgf", "pdf", "png")
    ]
    return [
        *(RESULTS / f"outliers_{study}.csv" for study in outlier_studies()),
        *figures,
    ]


def outlier_settings(study, without):
    """Parameters of an outlier study."""
    own = config.get("outliers", {}).get(study, {})
    shared = {"seed": config["protocol"]["seed"], "forest": config["forest"]}
    return {key: own[key] for key in own if key not in without} | shared


def outlier_names():
    """Dataset -> its name in the figures of the outlier studies."""
    return {name: CATALOGUE[name].label for name in outlier_datasets()}


def wine_pair(wildcards):
    pair = config["outliers"]["wine"]["datasets"][wildcards.reading]
    return [RESULTS / "data" / f"{dataset}.npz" for dataset in pair]


def image_dataset(wildcards):
    return RESULTS / "data" / f"{config['outliers']['images']['dataset']}.npz"


def foreign_files(wildcards):
    return [
        RESULTS / "outliers" / "images" / f"{dataset}.npz"
        for dataset in foreign_datasets()
    ]


def foreign_kinds():
    return config.get("outliers", {}).get("images", {}).get("foreign", [])


def signal_files(wildcards):
    """The signals of an outlier study; of wine, one file for each reading of its classes."""
    if wildcards.study != "wine":
        return [RESULTS / "outliers" / f"{wildcards.study}.parquet"]
    readings = config["outliers"]["wine"]["datasets"]
    return [RESULTS / "outliers" / f"wine_{reading}.parquet" for reading in readings]


def first_signals(wildcards):
    return signal_files(wildcards)[0]


def config_arguments():
    """The configuration of this run as arguments for a call of Snakemake inside of a job."""
    added = workflow.config_settings.config
    files = ["--configfile", *(shown(path) for path in workflow.configfiles)]
    values = [f"{key}={value}" for key, value in added.items()]
    return [*files, "--config", *values] if values else files


def ablation_files():
    names = ["ablation.csv", "tables/ablation.html", "tables/ablation.tex"]
    return [RESULTS / name for name in names if "ablation" in config]


def variants():
    return config.get("ablation", {}).get("variants", {})


def variant_labels():
    """Variant -> label, in their order."""
    return {name: variant["label"] for name, variant in variants().items()}


def variant_methods():
    """Dataset -> the methods that have a variant on it."""
    return comparisons(config["ablation"]) if "ablation" in config else {}


def variant_datasets():
    """Dataset -> label, for the datasets of the ablation in their order."""
    return {name: CATALOGUE[name].label for name in variant_methods()}


def variant_repetitions():
    """The first repetitions of the study."""
    return list(range(1, config.get("ablation", {}).get("repetitions", 0) + 1))


def variant_protocol(wildcards):
    """The study's protocol, at some of its rates."""
    rates = tuple(sorted(config["ablation"]["rates"]))
    return {**fold_settings(wildcards), "rates": rates}


def variant_forest(wildcards):
    return {**config["forest"], **variants()[wildcards.variant].get("forest", {})}


def variant_models(wildcards):
    return models_of(variants()[wildcards.variant], METHODS)


def variant_code(wildcards):
    modules = [METHODS[name].module for name in variant_models(wildcards)]
    return code_digest("joints.study.ablation.scoring", *modules)


def variant_scores(wildcards):
    return [
        RESULTS / "ablation" / dataset / f"{name}.csv"
        for name, variant in variants().items()
        for dataset in datasets_of(variant, config["ablation"])
    ]


def published_scores(wildcards):
    """The study's own scores of every method that has a variant."""
    wanted = set(variant_repetitions())
    return [
        path
        for dataset, methods in variant_methods().items()
        for path in score_files(
            dataset, "scores", dict.fromkeys(METHODS[name].model for name in methods)
        )
        if wanted & set(members(path.stem))
    ]
