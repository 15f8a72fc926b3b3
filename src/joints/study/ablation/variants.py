"""The variants of a configuration: what each of them changes, and which models it scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from joints.errors import JointsError
from joints.runtime.config import suggestion
from joints.study.entries import MethodEntry
from joints.study.protocol import Protocol


def check_ablation(config: Mapping[str, Any], methods: Mapping[str, MethodEntry], config_file: str) -> None:
    """Raise a JointsError unless the study itself has everything that the variants are compared with."""
    ablation, protocol = config["ablation"], config["protocol"]
    _among(ablation["datasets"], config["datasets"], f"{config_file}: 'ablation.datasets'", "datasets")
    _among(ablation["rates"], protocol["rates"], f"{config_file}: 'ablation.rates'", "protocol.rates")
    for name, variant in ablation["variants"].items():
        where = f"{config_file}: 'ablation.variants.{name}"
        _among(variant["methods"], config["methods"], f"{where}.methods'", "methods")
        _among(variant.get("datasets", []), config["datasets"], f"{where}.datasets'", "datasets")
    for dataset, used in methods_by_dataset(ablation).items():
        for name in used:
            most = Protocol.read(protocol, dataset, methods[name].model).repetitions
            if ablation["repetitions"] > most:
                raise JointsError(
                    f"{config_file}: 'ablation.repetitions' is {ablation['repetitions']}, "
                    f"but the study has only {most} for dataset {dataset!r} and method {name!r}"
                )


def datasets_of(variant: Mapping[str, Any], ablation: Mapping[str, Any]) -> list[str]:
    """The datasets of a variant: its own, or those of the ablation."""
    return variant.get("datasets", ablation["datasets"])


def methods_by_dataset(ablation: Mapping[str, Any]) -> dict[str, list[str]]:
    """The datasets of an ablation, with the methods that have a variant on each.

    >>> variants = {"a": {"methods": ["knn"]}, "b": {"methods": ["gef", "knn"], "datasets": ["wine"]}}
    >>> methods_by_dataset({"datasets": ["bank"], "variants": variants})
    {'bank': ['knn'], 'wine': ['gef', 'knn']}
    """
    found: dict[str, list[str]] = {}
    for variant in ablation["variants"].values():
        for dataset in datasets_of(variant, ablation):
            methods = found.setdefault(dataset, [])
            methods += [name for name in variant["methods"] if name not in methods]
    return found


def models_of(variant: Mapping[str, Any], methods: Mapping[str, MethodEntry]) -> dict[str, MethodEntry]:
    """The models that a variant fits, with its parameters in place of the catalogue's.

    >>> knn = MethodEntry("knn", "KNN", "joints.study.methods.knn.KNNImputation", {"n_neighbors": 7, "metric": "x"})
    >>> models_of({"methods": ["knn"], "parameters": {"metric": "huang"}}, {"knn": knn})["knn"].parameters
    {'n_neighbors': 7, 'metric': 'huang'}
    """
    names = dict.fromkeys(methods[name].model for name in variant["methods"])
    return {
        name: MethodEntry(
            name,
            "",  # scores do not depend on the label
            methods[name].cls,
            {**methods[name].parameters, **variant.get("parameters", {})},
        )
        for name in names
    }


def _among(names: Sequence[Any], known: Sequence[Any], where: str, key: str) -> None:
    for name in names:
        if name not in known:
            raise JointsError(
                f"{where} has {name!r}, which is not among the run's {key!r}{suggestion(str(name), map(str, known))}"
            )
