"""Joints in Random Forests: decision trees and random forests read as probabilistic circuits.

Estimators are imported on first use, so that the workflow's small scripts start quickly.
"""

from typing import TYPE_CHECKING

from joints.lazy import names_of

if TYPE_CHECKING:
    from joints.circuit.evidence import Evidence
    from joints.circuit.generative import GenerativeForestClassifier
    from joints.circuit.generative_regressor import GenerativeForestRegressor
    from joints.circuit.learnspn_classifier import LearnSPNClassifier
    from joints.forest.classifier import ForestClassifier

__version__ = "0.1.0"
__all__ = [
    "Evidence",
    "ForestClassifier",
    "GenerativeForestClassifier",
    "GenerativeForestRegressor",
    "LearnSPNClassifier",
]

_HOME = {
    "Evidence": "joints.circuit.evidence",
    "ForestClassifier": "joints.forest.classifier",
    "GenerativeForestClassifier": "joints.circuit.generative",
    "GenerativeForestRegressor": "joints.circuit.generative_regressor",
    "LearnSPNClassifier": "joints.circuit.learnspn_classifier",
}

__getattr__ = names_of(__name__, _HOME)


def __dir__() -> list[str]:
    return [*globals(), *__all__]
