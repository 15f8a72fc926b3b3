"""The plan of a run: everything that follows from a configuration and its catalogues.

This module alone derives which datasets and methods a run has, which models answer for them, into which pieces the work
is divided, where results are written, and what each rule of the workflow depends on; the workflow, documents and tests
ask it.  Costs are measured or guessed (see `joints.study.costs`): they affect which scores share a job, its threads and
its memory, never results or their names.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from joints.data.catalogue import DatasetEntry, check_datasets, read_datasets
from joints.errors import JointsError
from joints.runtime.config import read_run, read_yaml, suggestion, validate
from joints.study.ablation.variants import check_ablation, datasets_of, methods_by_dataset, models_of
from joints.study.costs import Costs
from joints.study.entries import (
    MechanismEntry,
    MethodEntry,
    MetricEntry,
    View,
    check_methods,
    check_named,
    read_entries,
)
from joints.study.layout import FIGURE_KINDS, Layout, fill, members, overlap
from joints.study.protocol import Protocol
from joints.study.submissions import SHORT, Batches

SCHEMAS = Path("workflow/schemas")
REPETITIONS_PER_PIECE = 5  # fixed: a piece is a file, and going from 5 repetitions to 10 keeps the existing ones
OWN_JOB = 60  # a model whose piece takes longer than this, in CPU seconds, has a job of its own; the others share one
LONG_JOB = 3600  # a job that takes longer than this gets two threads, which do not always keep two cores busy
SECTIONS = [
    "Results",
    "Agreement with the paper",
    "Statistics",
    "Datasets",
    "Outliers",
    "Ablation",
    "Theory",
    "Provenance",
]
NAMES = "[a-z][a-z0-9_]*"


class ScoreJob(NamedTuple):
    """Some models that one job scores on one dataset, each on a piece of its repetitions."""

    name: str
    dataset: str
    mechanism: str
    pieces: dict[str, str]  # by model
    seconds: float

    @property
    def repetitions(self) -> dict[str, list[int]]:
        """By model."""
        return {model: members(piece) for model, piece in self.pieces.items()}

    @property
    def threads(self) -> int:
        return 2 if self.seconds > LONG_JOB else 1


@dataclass(frozen=True)
class Plan:
    """A run.

    Attributes
    ----------
    config : mapping
        The configuration, complete and validated.
    datasets, methods, mechanisms, metrics : mapping
        The catalogues, by key; `config` says which entries the run has.
    measured : mapping
        The catalogue of costs: dataset -> work -> CPU seconds.
    left_out : sequence of str
        What the configuration names and this machine cannot run, one sentence each.
    """

    config: Mapping[str, Any]
    datasets: Mapping[str, DatasetEntry]
    methods: Mapping[str, MethodEntry]
    mechanisms: Mapping[str, MechanismEntry]
    metrics: Mapping[str, MetricEntry]
    measured: Mapping[str, Mapping[str, float]]
    left_out: Sequence[str] = ()

    @classmethod
    def read(
        cls, files: Sequence[str | Path], added: Mapping[str, Any] | None = None, schemas: str | Path = SCHEMAS
    ) -> Plan:
        """The plan of the configuration in some files; raises a JointsError for the first mistake in it."""
        schemas = Path(schemas)
        config = read_run(files, read_yaml(schemas / "config.schema.yaml"), added)
        catalogues = config["catalogues"]
        content = {}
        for kind, path in catalogues.items():
            content[kind] = read_yaml(path)
            validate(content[kind], read_yaml(schemas / f"{kind}.schema.yaml"), path)
        plan = cls(
            config,
            read_datasets(content["datasets"], catalogues["datasets"]),
            read_entries(MethodEntry, content["methods"]),
            with_training(read_entries(MechanismEntry, content["mechanisms"])),
            read_entries(MetricEntry, content["metrics"]),
            content.get("costs", {}),
        )
        plan.check(str(files[-1]))
        return plan

    def here(self) -> Plan:
        """The plan without the methods that require something which this machine lacks."""
        lacking = {name: self.methods[self.methods[name].model].absent for name in self.config["methods"]}
        absent = {name: words for name, words in lacking.items() if words}
        if not absent:
            return self
        sentences = [f"{self.methods[name].label} is not run: there is no {_listed(w)}." for name, w in absent.items()]
        if self.reference in absent:
            raise JointsError(f"'reference' is {self.reference!r}, but {sentences[list(absent).index(self.reference)]}")
        kept = [name for name in self.config["methods"] if name not in absent]
        return replace(self, config={**self.config, "methods": kept}, left_out=[*self.left_out, *sentences])

    def check(self, config_file: str) -> None:
        """Raise a JointsError unless everything that the configuration names exists and makes sense."""
        config, catalogues = self.config, self.config["catalogues"]
        check_methods(self.methods, catalogues["methods"])
        allowed = config["fetch"]["sources"]
        check_datasets(config["datasets"], allowed, self.datasets, config_file, catalogues["datasets"])
        check_datasets(self.outlier_datasets, allowed, self.datasets, config_file, catalogues["datasets"], "outliers")
        # a foreign dataset whose sources the run does not allow is left out, like one that cannot be fetched
        anywhere = [kind for entry in self.datasets.values() for kind in entry.kinds()]
        check_datasets(self.foreign_datasets, anywhere, self.datasets, config_file, catalogues["datasets"], "outliers")
        for names, found, key, source in (
            (config["methods"], self.methods, "methods", "methods"),
            (config["metrics"], self.metrics, "metrics", "metrics"),
            (self.mechanism_names, self.mechanisms, "protocol.mechanisms", "mechanisms"),
        ):
            check_named(names, found, key, config_file, catalogues[source])
        self._check_protocol(config_file)
        if "ablation" in config:
            check_ablation(config, self.methods, config_file)

    def _check_protocol(self, config_file: str) -> None:
        config, protocol = self.config, self.config["protocol"]
        rates, exceptions = protocol["rates"], protocol.get("exceptions", {})
        if list(rates) != sorted(set(rates)):
            raise JointsError(f"{config_file}: 'protocol.rates' must be ascending, each rate once")
        if config["table_rate"] not in rates:
            raise JointsError(
                f"{config_file}: 'table_rate' is {config['table_rate']}, which is not among 'protocol.rates'"
            )
        if config["reference"] not in config["methods"]:
            raise JointsError(
                f"{config_file}: 'reference' is {config['reference']!r}, which is not among the run's 'methods'"
            )
        for name in config.get("rivals", []):
            if name not in config["methods"] or name == config["reference"]:
                raise JointsError(
                    f"{config_file}: 'rivals' has {name!r}, which is not another method of the run than the 'reference'"
                )
        for name in exceptions:
            if name not in config["datasets"]:
                raise JointsError(
                    f"{config_file}: 'protocol.exceptions' has {name!r}, which is not among the run's datasets"
                    f"{suggestion(name, config['datasets'])}"
                )
        fewer = {"protocol.fewer": protocol.get("fewer", {})}
        fewer |= {f"protocol.exceptions.{name}.fewer": entry.get("fewer", {}) for name, entry in exceptions.items()}
        for key, named in fewer.items():
            for method in named:
                if method not in self.models:
                    raise JointsError(
                        f"{config_file}: {key!r} has {method!r}, which is not a method of the run "
                        f"with a model of its own{suggestion(method, self.models)}"
                    )

    # ------------------------------------------------------------------------------------------- names and orders

    @property
    def run(self) -> str:
        return self.config["run"]

    @cached_property
    def files(self) -> Layout:
        return Layout.of(self.run)

    @property
    def names(self) -> list[str]:
        """The datasets of the run."""
        return self.config["datasets"]

    @property
    def reference(self) -> str:
        """The method that the others are compared with."""
        return self.config["reference"]

    @cached_property
    def used(self) -> dict[str, MethodEntry]:
        """The methods of the run: the paper's in the paper's order, then the user's in the configuration's order."""
        entries = [self.methods[name].described for name in self.config["methods"]]
        ordered = sorted(entries, key=lambda entry: (not entry.shown, entry.paper.get("place", len(self.methods))))
        return {entry.name: entry for entry in ordered}

    @cached_property
    def shown(self) -> list[MethodEntry]:
        """The methods of tables, figures and ranks."""
        return [entry for entry in self.used.values() if entry.shown]

    @property
    def labels(self) -> dict[str, str]:
        """Method -> label, for all methods of the run."""
        return {name: entry.label for name, entry in self.used.items()}

    @property
    def rivals(self) -> list[str]:
        """The methods that gains are measured over: the reference, further ones that the configuration names, and those
        that the run has only for comparison.
        """
        return [
            self.reference,
            *self.config.get("rivals", []),
            *(name for name, entry in self.used.items() if not entry.shown),
        ]

    @cached_property
    def paper_columns(self) -> list[MethodEntry]:
        """The methods with columns in the files that the paper's LaTeX reads, in its order; then the user's own."""
        own = [entry for entry in self.shown if not entry.paper]
        return [*(entry.described for entry in self.methods.values() if entry.paper), *own]

    @property
    def table1_methods(self) -> list[MethodEntry]:
        return [entry for entry in self.shown if entry.in_table1]

    @property
    def models(self) -> list[str]:
        """The models that the run's methods need, in the order of the methods."""
        return list(dict.fromkeys(self.methods[name].model for name in self.config["methods"]))

    @cached_property
    def groups(self) -> list[str]:
        """The mechanisms of the run, joined by + where one fitted model answers for several."""
        protocol = self.config["protocol"]
        groups = [name if isinstance(name, str) else "+".join(name) for name in protocol["mechanisms"]]
        return [*groups, *(f"{name}_training" for name in protocol.get("training", []))]

    @property
    def mechanism_names(self) -> list[str]:
        """The mechanisms of the run, one after the other."""
        return [name for group in self.groups for name in group.split("+")]

    @property
    def all_metrics(self) -> list[MetricEntry]:
        return list(self.metrics.values())

    @cached_property
    def views(self) -> list[View]:
        """The views of the run: one per mechanism and metric.  The first has plain file names."""
        pairs = [(m, s) for m in self.mechanism_names for s in self.config["metrics"]]
        return [View(self.mechanisms[m], self.metrics[s], f"{m}/{s}/" if i else "") for i, (m, s) in enumerate(pairs)]

    def view(self, folder: str) -> View:
        """The view with this prefix of its file names."""
        return next(view for view in self.views if view.folder == folder)

    @cached_property
    def paper_view(self) -> View:
        """The view of the paper's own numbers."""
        mechanism = next(entry for entry in self.mechanisms.values() if entry.paper)
        metric = next(entry for entry in self.metrics.values() if entry.paper)
        return View(mechanism, metric, "")

    @property
    def gain_figure(self) -> str:
        """The name of Figure 2, such as againstKNN."""
        return f"against{re.sub(r'[^A-Za-z0-9]', '', self.methods[self.reference].label)}"

    def label(self, dataset: str) -> str:
        """The name of a dataset wherever readers see it, such as credit-g for german."""
        return self.datasets[dataset].label

    @property
    def dataset_labels(self) -> dict[str, str]:
        """Dataset -> label, for everything that the run reads: its datasets, their parts, and the outlier studies'."""
        names = [*self.names, *self.outlier_datasets]
        return {name: self.label(name) for name in dict.fromkeys([*names, *self._parts(names)])}

    @property
    def wildcards(self) -> dict[str, str]:
        """Patterns of the workflow's wildcards."""
        folders = "|".join(re.escape(view.folder) for view in self.views if view.folder)
        return {
            **dict.fromkeys(("dataset", "model", "reading", "variant"), NAMES),
            "mechanism": f"{NAMES}([+]{NAMES})*",
            "repetitions": "[0-9]+-[0-9]+",
            "study": "wine|images",
            "view": f"({folders})?" if folders else "()",
        }

    # -------------------------------------------------------------------------------------------------- the data

    def parts(self, dataset: str) -> list[str]:
        """The datasets to fetch for a dataset: itself, or its parts."""
        return list(self.datasets[dataset].parts) or [dataset]

    def _parts(self, datasets: Sequence[str]) -> list[str]:
        return list(dict.fromkeys(part for name in datasets for part in self.parts(name)))

    def raw_tables(self, dataset: str) -> list[Path]:
        return [fill(self.files.raw, dataset=part) for part in self.parts(dataset)]

    @property
    def all_raw_tables(self) -> list[Path]:
        """The raw tables of the run's datasets and of the outlier studies."""
        return [fill(self.files.raw, dataset=part) for part in self._parts([*self.names, *self.outlier_datasets])]

    @property
    def records(self) -> list[Path]:
        """The records of the run's datasets."""
        return [fill(self.files.record, dataset=part) for part in self._parts(self.names)]

    @property
    def all_records(self) -> list[Path]:
        """The records of everything that the run reads, including the outlier studies."""
        return [fill(self.files.record, dataset=part) for part in self._parts([*self.names, *self.outlier_datasets])]

    @property
    def encoded(self) -> list[Path]:
        return [fill(self.files.dataset, dataset=name) for name in self.names]

    def own_files(self, dataset: str) -> list[str]:
        """The user's own files among the sources of a dataset: an edit to one invalidates the dataset."""
        paths = [source["csv"]["path"] for source in self.datasets[dataset].sources if "csv" in source]
        return [path for path in paths if Path(path).is_file()]

    def sources(self, dataset: str) -> list[dict[str, Any]]:
        """The sources of a dataset that the run allows."""
        allowed = set(self.config["fetch"]["sources"])
        return [dict(source) for source in self.datasets[dataset].sources if set(source) <= allowed]

    def columns(self, dataset: str) -> list[str]:
        return self.datasets[dataset].named_columns()

    def encoding(self, dataset: str) -> DatasetEntry:
        """What the catalogue says about a dataset, apart from where it comes from."""
        return self.datasets[dataset]._replace(sources=())

    @property
    def encodings(self) -> list[DatasetEntry]:
        return [self.encoding(name) for name in self.names]

    # -------------------------------------------------------------------------------------------- the experiment

    def protocol(self, dataset: str, model: str | None = None) -> Protocol:
        return Protocol.read(self.config["protocol"], dataset, model)

    def fold_settings(self, dataset: str) -> Protocol:
        """What the forests of a repetition depend on: neither the rates nor the number of repetitions."""
        return self.protocol(dataset)._replace(rates=(), repetitions=1)

    def score_settings(self, dataset: str) -> Protocol:
        """What the scores of a repetition depend on."""
        return self.protocol(dataset)._replace(repetitions=1)

    def score_protocols(self, *datasets: str) -> dict[str, Protocol]:
        """What the files of scores of some datasets hold, apart from their repetitions."""
        return {name: self.score_settings(name) for name in datasets}

    def pieces(self, dataset: str, model: str | None = None) -> list[str]:
        """The repetitions of a dataset, or of a model on it, in pieces of five, each as ``first-last``."""
        last = self.protocol(dataset, model).repetitions
        starts = range(1, last + 1, REPETITIONS_PER_PIECE)
        return [f"{start}-{min(start + REPETITIONS_PER_PIECE - 1, last)}" for start in starts]

    def forests(self, dataset: str, repetitions: str) -> list[Path]:
        """The folders of forests that some repetitions need."""
        return [
            fill(self.files.forests, dataset=dataset, repetitions=piece)
            for piece in self.pieces(dataset)
            if overlap(piece, repetitions)
        ]

    def _of_models(self, pattern: Path, dataset: str, models: Sequence[str], mechanisms: Sequence[str]) -> list[Path]:
        return [
            fill(pattern, dataset=dataset, model=model, mechanism=mechanism, repetitions=piece)
            for model in models
            for mechanism in mechanisms
            for piece in self.pieces(dataset, model)
        ]

    def scores(self, dataset: str) -> list[Path]:
        return self._of_models(self.files.scores, dataset, self.models, self.groups)

    @property
    def all_scores(self) -> list[Path]:
        return [path for dataset in self.names for path in self.scores(dataset)]

    @property
    def all_seconds(self) -> list[Path]:
        return [
            path
            for dataset in self.names
            for path in self._of_models(self.files.seconds, dataset, self.models, self.groups)
        ]

    def model(self, name: str) -> MethodEntry:
        """What the scores of a model depend on: neither labels and costs, nor which methods use its answers."""
        return MethodEntry(name, "", self.methods[name].cls, self.methods[name].parameters)

    def mechanism(self, name: str) -> MechanismEntry:
        """What the scores depend on in a mechanism, likewise."""
        return self.mechanisms[name]._replace(label="", paper=False)

    def mechanism_group(self, names: str) -> list[MechanismEntry]:
        """The mechanisms of a group, likewise."""
        return [self.mechanism(name) for name in names.split("+")]

    def own_forest(self, mechanisms: str) -> Mapping[str, Any]:
        """Parameters of the forests that a group of mechanisms has for itself, where training values are missing."""
        return self.config["forest"] if self.mechanisms[mechanisms.partition("+")[0]].training else {}

    @property
    def metric_functions(self) -> dict[str, str]:
        return {name: entry.function for name, entry in self.metrics.items()}

    def modules(self, models: Sequence[str], mechanisms: Sequence[str]) -> list[str]:
        """The modules that the catalogues name for some models and mechanisms; scripts import them by name."""
        named = [
            *(self.methods[name].cls for name in models),
            *(self.mechanisms[name].cls for name in mechanisms),
            *self.metric_functions.values(),
        ]
        return sorted({full_name.rpartition(".")[0] for full_name in named})

    @cached_property
    def score_jobs(self) -> list[ScoreJob]:
        """Which models are scored together: those that take long alone, the others of the same repetitions in one job.

        A job that starts for a new method does not compute the others again (see `joints.runtime.resume`).
        """
        jobs = []
        for dataset in self.names:
            for mechanism in self.groups:
                shared: dict[str, dict[str, str]] = {}  # by their first repetition
                for model in self.models:
                    for piece in self.pieces(dataset, model):
                        name = f"score_{dataset}_{mechanism.replace('+', '_')}_{members(piece)[0]}"
                        if self.costs.scores(dataset, model, piece, mechanism) > OWN_JOB:
                            name += f"_{model}"
                        shared.setdefault(name, {})[model] = piece
                for name, pieces in shared.items():
                    seconds = sum(self.costs.scores(dataset, *piece, mechanism) for piece in pieces.items())
                    jobs.append(ScoreJob(name, dataset, mechanism, pieces, seconds))
        return jobs

    def files_of(self, pattern: Path, job: ScoreJob) -> list[Path]:
        """The files of a job, one per model."""
        return [
            fill(pattern, dataset=job.dataset, model=model, mechanism=job.mechanism, repetitions=piece)
            for model, piece in job.pieces.items()
        ]

    def forests_of(self, job: ScoreJob) -> list[Path]:
        """The folders of forests that a job needs; none where it grows its own."""
        pieces = () if self.own_forest(job.mechanism) else job.pieces.values()
        return list(dict.fromkeys(path for piece in pieces for path in self.forests(job.dataset, piece)))

    # ------------------------------------------------------------------------------------------------------ costs

    @cached_property
    def costs(self) -> Costs:
        """What the jobs of the run cost."""
        return Costs(self)

    @cached_property
    def batches(self) -> Batches:
        """Which jobs travel together to a cluster."""
        return Batches(self)

    def memory(self, dataset: str) -> int:
        """Megabytes: the program itself, the table, and a forest with the densities of its leaves."""
        return int(1000 + 500 * self.size(dataset))

    def minutes(self, seconds: float) -> int:
        """The time to ask a cluster for: three times what is expected, on whatever processor, and a while to start.

        Short jobs travel together, and their times add up.
        """
        return int((3 if seconds <= SHORT else 15) + 3 * seconds / 60)

    def forest_minutes(self, dataset: str, repetitions: str) -> int:
        return self.minutes(self.costs.forests(dataset, repetitions))

    def wine_minutes(self, reading: str) -> int:
        return self.minutes(self.costs.job("score_wine", {"reading": reading}))

    @property
    def image_minutes(self) -> int:
        return self.minutes(self.costs.job("score_images", {})) if "images" in self.studies else 0

    @property
    def theory_minutes(self) -> int:
        return self.minutes(self.costs.job("simulate_theory", {}))

    def size(self, dataset: str) -> float:
        """The cells of a dataset according to the catalogue, in units of 100,000."""
        numbers = self.datasets[dataset].numbers
        features = numbers.get("categorical", 0) + numbers.get("continuous", 0)
        return numbers.get("n", 5000) * (features or 20) / 100_000

    # -------------------------------------------------------------------------------------------- the outlier studies

    @property
    def studies(self) -> list[str]:
        """The outlier studies of the run."""
        return list(self.config.get("outliers", {}))

    @property
    def outlier_datasets(self) -> list[str]:
        """The datasets that the outlier studies learn from."""
        studies = self.config.get("outliers", {})
        pairs = studies.get("wine", {}).get("datasets", {})
        images = [studies["images"]["dataset"]] if "images" in studies else []
        return list(dict.fromkeys([*(name for pair in pairs.values() for name in pair), *images]))

    @property
    def outlier_labels(self) -> dict[str, str]:
        """Dataset -> its name in the figures of the outlier studies."""
        return {name: self.label(name) for name in self.outlier_datasets}

    @property
    def foreign_kinds(self) -> list[dict[str, Any]]:
        """The foreign images of the image study."""
        return self.config.get("outliers", {}).get("images", {}).get("foreign", [])

    @property
    def foreign_datasets(self) -> list[str]:
        """The datasets of images that the outlier studies evaluate but do not learn from."""
        return list(dict.fromkeys(kind["dataset"] for kind in self.foreign_kinds if "dataset" in kind))

    @property
    def foreign_files(self) -> list[Path]:
        return [fill(self.files.foreign, dataset=name) for name in self.foreign_datasets]

    def outlier_settings(self, study: str, without: Sequence[str]) -> dict[str, Any]:
        """Parameters of an outlier study."""
        own = self.config.get("outliers", {}).get(study, {})
        shared = {"seed": self.config["protocol"]["seed"], "forest": self.config["forest"]}
        return {key: own[key] for key in own if key not in without} | shared

    def wine_pair(self, reading: str) -> list[Path]:
        pair = self.config["outliers"]["wine"]["datasets"][reading]
        return [fill(self.files.dataset, dataset=name) for name in pair]

    def image_dataset(self) -> Path:
        return fill(self.files.dataset, dataset=self.config["outliers"]["images"]["dataset"])

    def signals(self, study: str) -> list[Path]:
        """The files of signals of an outlier study; for wine, one per reading of its classes."""
        if study != "wine":
            return [self.files.image_signals]
        readings = self.config["outliers"]["wine"]["datasets"]
        return [fill(self.files.wine_signals, reading=reading) for reading in readings]

    def drawn_signals(self, study: str) -> Path:
        return self.signals(study)[0]

    @property
    def outlier_tables(self) -> list[Path]:
        return [fill(self.files.outliers, study=study) for study in self.studies]

    @property
    def outlier_files(self) -> list[Path]:
        return [*self.outlier_tables, *self._figures("", [f"fx_{study}" for study in self.studies])]

    # --------------------------------------------------------------------------------------------------- the ablation

    @property
    def ablation(self) -> Mapping[str, Any]:
        return self.config.get("ablation", {"datasets": [], "repetitions": 0, "rates": [], "variants": {}})

    @property
    def variants(self) -> Mapping[str, Any]:
        return self.ablation["variants"]

    @property
    def variant_labels(self) -> dict[str, str]:
        return {name: variant["label"] for name, variant in self.variants.items()}

    @property
    def variant_repetitions(self) -> list[int]:
        """The first repetitions of the study."""
        return list(range(1, self.ablation["repetitions"] + 1))

    def variant_protocol(self, dataset: str) -> Protocol:
        """The study's protocol, at some of its rates."""
        return self.fold_settings(dataset)._replace(rates=tuple(sorted(self.ablation["rates"])))

    @property
    def variants_by_dataset(self) -> dict[str, list[str]]:
        """The variants that are scored on each dataset of the ablation, in one job."""
        found: dict[str, list[str]] = {}
        for name, variant in self.variants.items():
            for dataset in datasets_of(variant, self.ablation):
                found.setdefault(dataset, []).append(name)
        return found

    @property
    def variant_protocols(self) -> dict[str, Protocol]:
        return {name: self.variant_protocol(name) for name in self.variant_datasets}

    def variant_forest(self, variant: str) -> dict[str, Any]:
        return {**self.config["forest"], **self.variants[variant].get("forest", {})}

    def variant_models(self, variant: str) -> dict[str, MethodEntry]:
        return models_of(self.variants[variant], self.methods)

    @property
    def variant_mechanism(self) -> str:
        """The mechanism of the ablation: the run's first."""
        return self.mechanism_names[0]

    def variant_modules(self, variant: str) -> list[str]:
        return self.modules(list(self.variant_models(variant)), [self.variant_mechanism])

    @property
    def variant_scores(self) -> list[Path]:
        return [
            fill(self.files.variant, dataset=dataset, variant=name)
            for name, variant in self.variants.items()
            for dataset in datasets_of(variant, self.ablation)
        ]

    @property
    def compared_scores(self) -> list[Path]:
        """The study's own scores of every method that has a variant."""
        last = self.ablation["repetitions"]
        return [
            path
            for dataset, names in methods_by_dataset(self.ablation).items()
            for path in self._of_models(
                self.files.scores,
                dataset,
                list(dict.fromkeys(self.methods[name].model for name in names)),
                [self.groups[0]],
            )
            if overlap(path.stem, f"1-{last}")
        ]

    @property
    def compared_methods(self) -> dict[str, MethodEntry]:
        """The methods that have a variant."""
        names = dict.fromkeys(name for variant in self.variants.values() for name in variant["methods"])
        return {name: self.methods[name].described for name in names}

    @property
    def variant_datasets(self) -> dict[str, str]:
        """Dataset -> label, for the datasets of the ablation in their order."""
        return {name: self.label(name) for name in methods_by_dataset(self.ablation)}

    @property
    def ablation_files(self) -> list[Path]:
        names = ["ablation.csv", "tables/ablation.html", "tables/ablation.tex"]
        return [self.files.results / name for name in names if self.variants]

    # ---------------------------------------------------------------------------------------------------- the theory

    @property
    def theory(self) -> dict[str, Any]:
        """Sizes of the simulations; empty if the run has none."""
        settings = self.config.get("theory", {})
        return {**settings, "seed": self.config["protocol"]["seed"]} if settings else {}

    @property
    def theory_files(self) -> list[Path]:
        return [self.files.results / "theory.csv", *self._figures("", ["theory"])] if self.theory else []

    # ----------------------------------------------------------------------------------------------------- artefacts

    def _figures(self, view: str, names: Sequence[str]) -> list[Path]:
        return [fill(self.files.figure, view=view, name=name, kind=kind) for name in names for kind in FIGURE_KINDS]

    def _tables(self, view: str, names: Sequence[str]) -> list[Path]:
        return [
            fill(pattern, view=view, name=name) for name in names for pattern in (self.files.page, self.files.latex)
        ]

    @property
    def figure_files(self) -> list[Path]:
        of_views = [
            path for view in self.views for path in self._figures(view.folder, [*self.names, self.gain_figure, "ranks"])
        ]
        return [*of_views, *self._figures("", ["agreement"])]

    @property
    def table_files(self) -> list[Path]:
        of_views = [
            path for view in self.views for path in self._tables(view.folder, [*self.names, "table1", "ranks", "tally"])
        ]
        return [*of_views, *self._tables("", ["agreement"])]

    @property
    def modern_tables(self) -> dict[str, Path]:
        """The tables of the modern study, by name."""
        names = ("pairs", "gains_over_best", "costs", "reliability")
        return {name: self.files.results / f"{name}.csv" for name in names}

    @property
    def modern_figures(self) -> list[Path]:
        return self._figures("", ["best_gains", "costs", "reliability", "heat_map"])

    @property
    def modern_files(self) -> list[Path]:
        """What the modern study makes from its scores; it has no report, and no figures of single datasets."""
        views = [view.folder for view in self.views]
        tables = [path for view in views for path in self._tables(view, ["table1", "ranks", "tally"])]
        ranks = [path for view in views for path in self._figures(view, ["ranks"])]
        single = [self.files.results / "scores.parquet", self.files.results / "means.csv", self.files.provenance]
        return [*self.modern_tables.values(), *self.modern_figures, *tables, *ranks, *single]

    @property
    def model_classes(self) -> dict[str, str]:
        """Model -> its class, which says whether it uses the shared forest."""
        return {name: self.methods[name].cls for name in self.models}

    @property
    def all_confidences(self) -> list[Path]:
        return [
            path
            for dataset in self.names
            for path in self._of_models(self.files.confidence, dataset, self.models, self.groups)
        ]

    @property
    def all_forest_seconds(self) -> list[Path]:
        return [
            fill(self.files.forest_seconds, dataset=dataset, repetitions=piece)
            for dataset in self.names
            for piece in self.pieces(dataset)
        ]

    @property
    def used_mechanisms(self) -> dict[str, MechanismEntry]:
        """The mechanisms of the run, without how they are made."""
        return {name: self.mechanisms[name]._replace(cls="", parameters={}) for name in self.mechanism_names}

    @property
    def data_files(self) -> list[Path]:
        """The tables of the views as CSV files, which the paper's LaTeX reads."""
        return [
            path
            for view in self.views
            for path in (
                fill(self.files.table1, view=view.folder),
                *(fill(self.files.ci, view=view.folder, dataset=name) for name in self.names),
            )
        ]

    @property
    def artefacts(self) -> list[Path]:
        """All tables and figures that the run makes from its scores."""
        means = [fill(self.files.means, dataset=name) for name in self.names]
        return [*means, *self.data_files, *self.report_inputs, *self._outlier_pages, self.files.report, self.files.pdf]

    @property
    def outlier_figures(self) -> list[Path]:
        """The pictures of the outlier studies, in the order of `studies`."""
        return [fill(self.files.figure, view="", name=f"fx_{study}", kind="png") for study in self.studies]

    @property
    def linked_files(self) -> list[tuple[str, str]]:
        """What the page of the run links to: address relative to it, and description."""
        names = {
            "report.html": "Snakemake's report: every table and figure, and the workflow",
            "provenance.html": "data, versions and times",
            "summary.txt": "the summary for the terminal",
            "tables/table1.html": "Table 1; as LaTeX in tables/table1.tex",
            "means.csv": "means and intervals of all methods, metrics and rates",
            "gains.csv": "average gains over the reference",
            "agreement.csv": "every cell of the paper's Table 1 beside ours",
            "ranks.csv": "average ranks with critical differences",
            "comparisons.csv": "each method against the reference on each dataset",
            **{
                path.name: f"the outlier study: {study}"
                for study, path in zip(self.studies, self.outlier_tables, strict=True)
            },
            **{path.name: "the ablation" for path in self.ablation_files[:1]},
            f"../../figures/{self.run}/{self.gain_figure}.pdf": "Figure 2: gains",
            f"../../figures/{self.run}/ranks.pdf": "critical-difference diagrams",
        }
        return list(names.items())

    @property
    def _outlier_pages(self) -> list[Path]:
        return [fill(self.files.page, view="", name=f"outliers_{study}") for study in self.studies]

    def section(self, title: str) -> str:
        """A section of the report with its number among those that the run has."""
        has = {"Outliers": bool(self.studies), "Ablation": bool(self.variants), "Theory": bool(self.theory)}
        found = [name for name in SECTIONS if has.get(name, True)]
        return f"{found.index(title) + 1} {title}" if title in found else title

    @property
    def report_inputs(self) -> list[Path]:
        return [
            *self.figure_files,
            *self.table_files,
            *self.outlier_files,
            *self.ablation_files,
            *self.theory_files,
            self.files.provenance,
            self.files.summary,
            self.files.home,
        ]


def with_training(mechanisms: Mapping[str, MechanismEntry]) -> dict[str, MechanismEntry]:
    """A catalogue of mechanisms with each of them for training rows as well."""
    return {**mechanisms, **{entry.in_training.name: entry.in_training for entry in mechanisms.values()}}


def _listed(words: Sequence[str]) -> str:
    return " and no ".join(words)
