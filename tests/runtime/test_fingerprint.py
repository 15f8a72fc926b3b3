"""Fingerprints follow the meaning of code and its imports."""

import pytest

from joints.runtime import fingerprint


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A package of the same name, in which files can be changed."""
    monkeypatch.setattr(fingerprint, "SOURCE", tmp_path)
    files = {
        "__init__.py": "from joints.forest import grow\n",
        "errors.py": "class E(Exception):\n    pass\n",
        "data/__init__.py": "from joints.data.dataset import Dataset\n",
        "data/dataset.py": '"""Doc."""\nfrom joints.errors import E\nclass Dataset:\n    """Doc."""\n',
        "data/encode.py": "import numpy\nfrom . import table\nfrom .dataset import Dataset\n",
        "data/table.py": "def f():\n    from joints import lazy\n    return lazy\n",
        "lazy.py": "X = 1\n",
        "study/evaluate.py": "from joints.data import Dataset\n",
        "forest/__init__.py": "",
        "forest/grow.py": "X = 1\n",
    }
    for name, text in files.items():
        path = tmp_path / "joints" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def digest(*modules):
        fingerprint._tree.cache_clear()
        fingerprint._meaning.cache_clear()
        return fingerprint.code_digest(*modules)

    return tmp_path / "joints", digest


def test_imports_of_every_form_are_followed(package):
    closure = fingerprint.import_closure("joints.data.encode")
    assert closure == {f"joints.{n}" for n in ("data.encode", "data.table", "data.dataset", "errors", "lazy")}


def test_a_package_counts_where_names_come_from_it(package):
    assert "joints.data" in fingerprint.import_closure("joints.study.evaluate")
    assert "joints.forest.grow" not in fingerprint.import_closure("joints.study.evaluate")


@pytest.mark.parametrize(
    ("name", "text", "same"),
    [
        ("errors.py", "class E(ValueError):\n    pass\n", False),
        ("lazy.py", "X = 2\n", False),
        ("lazy.py", "# why\nX  =  1\n", True),
        ("data/dataset.py", '"""Other."""\nfrom joints.errors import E\nclass Dataset:\n    """Else."""\n', True),
        ("forest/grow.py", "X = 2\n", True),
        ("__init__.py", "from joints.forest import grow as g\n", True),
    ],
)
def test_what_changes_a_fingerprint(package, name, text, same):
    folder, digest = package
    before = digest("joints.data.encode")
    (folder / name).write_text(text)
    assert (digest("joints.data.encode") == before) is same


def test_a_module_that_is_not_there(package):
    with pytest.raises(ModuleNotFoundError, match=r"joints\.gone"):
        fingerprint.code_digest("joints.gone")


def test_what_a_script_imports_and_what_a_catalogue_names(package, tmp_path):
    _, digest = package
    script = tmp_path / "script.py"
    script.write_text("import pandas\nfrom joints.data.dataset import Dataset\nfrom joints.runtime import log\n")

    def of_script(*modules):
        digest()
        return fingerprint.script_digest(script, *modules)

    before, with_more = of_script(), of_script("joints.forest.grow")
    assert before != with_more
    (tmp_path / "joints" / "forest" / "grow.py").write_text("X = 2\n")
    assert of_script() == before and of_script("joints.forest.grow") != with_more
    (tmp_path / "joints" / "data" / "dataset.py").write_text("class Dataset:\n    x = 1\n")
    assert of_script() != before


def test_the_machinery_of_jobs_does_not_count(package):
    folder, digest = package
    (folder / "runtime").mkdir()
    (folder / "runtime" / "log.py").write_text("X = 1\n")
    (folder / "data" / "table.py").write_text("from joints.runtime import log\n")
    before = digest("joints.data.table")
    (folder / "runtime" / "log.py").write_text("X = 2\n")
    assert digest("joints.data.table") == before


def test_files_beside_a_module_that_it_names(package):
    folder, digest = package
    (folder / "forest" / "grow.py").write_text('STYLE = "paper.mplstyle"\n')
    (folder / "forest" / "paper.mplstyle").write_text("lines.linewidth: 1\n")
    before = digest("joints.forest.grow")
    (folder / "forest" / "paper.mplstyle").write_text("lines.linewidth: 2\n")
    assert digest("joints.forest.grow") != before


def test_a_users_own_module(package, tmp_path, monkeypatch):
    _, digest = package
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text("import helper\nfrom joints.errors import E\n")
    (tmp_path / "helper.py").write_text("X = 1\n")
    assert fingerprint.import_closure("mine") == {"mine", "helper", "joints.errors"}
    before = digest("mine")
    (tmp_path / "helper.py").write_text("X = 2\n")
    assert digest("mine") != before
