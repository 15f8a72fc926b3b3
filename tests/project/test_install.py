"""What `pip install joints` gives: the library, without the libraries that only the study needs."""

import ast
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import joints

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
NEEDED = {"joblib", "joints", "llvmlite", "numba", "numpy", "scipy", "sklearn"}  # and Python's own modules
LIBRARY = ("numerics", "forest", "circuit", "impute")

BLOCK = """
import sys
import numpy as np

class Absent:
    names = {"pandas", "polars", "matplotlib", "snakemake", "openml", "pyarrow", "yaml", "jsonschema", "missingpy"}
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in self.names:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Absent())
"""


def run(code):
    result = subprocess.run([sys.executable, "-c", BLOCK + code], capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    return result.stdout


def test_the_library_imports_what_it_needs_and_nothing_else():
    modules = [path for part in LIBRARY for path in (ROOT / "src/joints" / part).rglob("*.py")]
    for path in [*modules, *(ROOT / "src/joints").glob("*.py")]:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module] if isinstance(node, ast.ImportFrom) else []
            others = {name.split(".")[0] for name in names} - NEEDED - sys.stdlib_module_names
            assert others == set(), f"{path.relative_to(ROOT)} imports {others}"


def test_the_dependencies_are_the_needed_ones():
    names = {re.match(r"[\w-]+", line)[0] for line in PROJECT["project"]["dependencies"]}
    assert names == {"numba", "numpy", "scikit-learn", "scipy"}  # these bring joblib and llvmlite


def test_the_example_of_the_readme_runs_with_the_library_alone():
    (example,) = re.findall(r"^```python\n(.*?)^```", (ROOT / "README.md").read_text(), re.MULTILINE | re.DOTALL)[:1]
    run(example)


def test_words_categories_and_holes_without_pandas():
    out = run(
        """
from joints import ForestClassifier, GenerativeForestClassifier
from joints.impute import KNNImputer, MissForestImputer
table = [["red", 1.0], ["blue", None], [None, 2.0], ["red", 0.5], ["blue", 3.0], ["blue", 2.5]] * 5
y = ["a", "b", "b", "a", "b", "b"] * 5
for model in (ForestClassifier(3, random_state=0), GenerativeForestClassifier(3, random_state=0)):
    model.set_params(categorical_features=[0]).fit(table, y)
    print(model.predict([["red", None], [None, 3.0]]).tolist())
for imputer in (KNNImputer(3), MissForestImputer(3, random_state=0)):
    imputer.set_params(categorical_features=[0]).fit(table)
    print(imputer.transform([["red", None], [None, 3.0]])[1, 0])
dates = np.array(["2020-01-01", "2021-01-01", "NaT"], dtype="datetime64[ns]")[[0, 1, 2] * 10][:, None]
model = ForestClassifier(3, random_state=0, categorical_features=[0]).fit(dates, [0, 1, 0] * 10)
print(model.predict(np.array([["2021-01-01"]], dtype="datetime64[D]")))
"""
    )
    assert out.splitlines() == ["['a', 'b']", "['a', 'b']", "blue", "blue", "[1]"]


def test_there_is_one_version():
    assert PROJECT["project"]["dynamic"] == ["version"] and "version" not in PROJECT["project"]
    assert PROJECT["tool"]["setuptools"]["dynamic"]["version"] == {"attr": "joints.__version__"}
    assert re.search(rf"^## {re.escape(joints.__version__)}\b", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
