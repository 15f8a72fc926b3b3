"""After `python -m joints.prepare` nothing is left to compile."""

import os
import subprocess
import sys

import pytest

from joints.prepare import steps

PROGRAM = """
import numpy as np
from numba.core import event

class Compilations(event.Listener):
    names = []
    def on_start(self, event):
        function = event.data["dispatcher"].py_func
        if function.__module__.startswith("joints"):
            self.names.append(function.__qualname__)
    def on_end(self, event):
        pass

event.register("numba:compile", Compilations())
from sklearn.datasets import load_iris, load_wine
from joints import Evidence, ForestClassifier, GenerativeForestClassifier, LearnSPNClassifier
from joints.impute import KNNImputer, MeanImputer, MissForestImputer

for X, y in (load_iris(return_X_y=True), load_wine(return_X_y=True)):
    holes = np.where(np.random.default_rng(0).random(X.shape) < 0.3, np.nan, X)
    forest = ForestClassifier(2, random_state=0, n_jobs=2).fit(X, y)
    forest.predict_proba(holes)
    forest.predict_proba(holes, missing="surrogate")
    for leaves in ("factorised", "lspn"):
        model = GenerativeForestClassifier.from_forest(forest, leaves=leaves, truncate=True)
        model.predict_proba(holes)
        model.log_joint(X)
        model.sample(5)
        model.predict(holes, target=0)
        model.score_samples(Evidence(holes, between={0: (holes[:, 0] - 1, np.inf)}))
    LearnSPNClassifier().fit(holes, y).predict(holes)
    for imputer in (MeanImputer(), KNNImputer(), MissForestImputer(2)):
        imputer.fit(X).transform(holes)
print(Compilations.names)
"""


@pytest.mark.xdist_group("prepare")
def test_nothing_is_left_to_compile():
    subprocess.run([sys.executable, "-m", "joints.prepare"], check=True, capture_output=True, env=os.environ)
    done = subprocess.run([sys.executable, "-c", PROGRAM], check=True, capture_output=True, text=True, env=os.environ)
    assert done.stdout == "[]\n"


def test_it_says_how_far_it_is():
    done = subprocess.run([sys.executable, "-m", "joints.prepare"], check=True, capture_output=True, text=True)
    lines = done.stderr.splitlines()
    assert len(lines) == len(steps()) + 2
    assert lines[0].startswith(f"Compiling numerical code, 0 of {len(steps())} done")
    assert {line.partition(" done: ")[2].strip() for line in lines[1:-1]} == set(steps())
    assert lines[-1].startswith("Numerical code is ready (")
