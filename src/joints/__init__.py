"""Joints in Random Forests: decision trees and random forests read as probabilistic circuits.

Estimators are imported when they are first asked for, so that the workflow's small scripts start quickly.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from joints.circuit.generative import GenerativeForestClassifier
    from joints.circuit.learnspn_classifier import LearnSPNClassifier
    from joints.forest.classifier import ForestClassifier

__version__ = "0.1.0"
__all__ = ["ForestClassifier", "GenerativeForestClassifier", "LearnSPNClassifier"]

_HOME = {
    "ForestClassifier": "joints.forest.classifier",
    "GenerativeForestClassifier": "joints.circuit.generative",
    "LearnSPNClassifier": "joints.circuit.learnspn_classifier",
}


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(import_module(_HOME[name]), name)
    raise AttributeError(f"module 'joints' has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*globals(), *__all__]
