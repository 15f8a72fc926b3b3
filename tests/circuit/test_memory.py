"""Kernels that do not count references (`counted=False`) leave no memory behind."""

import gc

import numpy as np
import pytest
from mixed import hide, mixed_table, published_from
from numba.core.runtime import _nrt_python, rtsys

from joints import ForestClassifier, LearnSPNClassifier


def in_use():
    """Pieces of memory that compiled code has allocated and not given back."""
    gc.collect()
    stats = rtsys.get_allocation_stats()
    return stats.alloc - stats.free


@pytest.fixture(scope="module")
def actions():
    _nrt_python.memsys_enable_stats()
    rng = np.random.default_rng(0)
    X, y, n_categories = mixed_table(rng, n=200)
    declared = {"categorical_features": {j: int(k) for j, k in enumerate(n_categories) if k}, "random_state": 0}
    forest = ForestClassifier(5, **declared).fit(X, y)
    gef, lspn = (published_from(forest, leaves=kind) for kind in ("factorised", "lspn"))
    circuit, rows = LearnSPNClassifier(**declared).fit(X, y), hide(rng, X, 0.4)
    return {
        "grow": lambda: ForestClassifier(5, **declared).fit(X, y),
        "friedman": lambda: forest.predict_proba(rows),
        "surrogates": lambda: ForestClassifier(3, **declared).fit(X, y).predict_proba(rows, missing="surrogate"),
        "leaves": lambda: published_from(forest),
        "GeF": lambda: gef.predict_proba(rows),
        "LearnSPN leaves": lambda: published_from(forest, leaves="lspn"),
        "GeF(LSPN)": lambda: lspn.predict_proba(rows),
        "LearnSPN": lambda: LearnSPNClassifier(**declared).fit(X, y),
        "its answers": lambda: circuit.predict_proba(rows),
        "samples": lambda: lspn.sample(5, given=rows[:3], random_state=0),
    }


NAMES = ["grow", "friedman", "surrogates", "leaves", "GeF", "LearnSPN leaves", "GeF(LSPN)", "LearnSPN", "its answers"]


@pytest.mark.parametrize("name", [*NAMES, "samples"])
def test_nothing_is_left_behind(actions, name):
    action = actions[name]
    action()  # what is kept for good, such as compiled code, is there afterwards
    before = in_use()
    for _ in range(3):
        action()
    assert in_use() == before
